/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Whom a message can reach. */
#ifndef SOFTHCA_REACH_H
#define SOFTHCA_REACH_H

#include <softhca/machine/hca.h>

/* The QP's state lets messages in. */
bool reach_receives(const struct hca_qp *qp);

/*
 * The QP @qpn behind port @lid, if it is there, up and of the type that @qp talks to; NULL = no
 * answer ever comes.
 */
struct hca_qp *reach(const struct hca_qp *qp, uint16_t lid, uint32_t qpn);

#endif
