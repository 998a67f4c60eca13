/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The place of this process in an MPI job, by the variables that launchers set. */
#ifndef XRC_COMPAT_TOOLS_JOB_H
#define XRC_COMPAT_TOOLS_JOB_H

#include <stdint.h>

/**
 * job_rank - the rank, -1 where no launcher has set one; *ranks: how many there are, -1 unknown.
 */
int32_t job_rank(int32_t *ranks);

#endif
