/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work requests on their way: executing and retrying them. */
#ifndef SOFTHCA_SEND_H
#define SOFTHCA_SEND_H

#include <softhca/machine/hca.h>

/*
 * Executes what is in the list of work, a bounded number of requests each. False when the list is
 * empty after that.
 */
bool send_run(struct hca_machine *machine);

#endif
