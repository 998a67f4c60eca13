/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive QPs, for programs that are one-way: who uses this refers to their functions. Whatever should work and does not ends the row. */
#ifndef TESTS_E2E_TWOWAY_RECEIVER_H
#define TESTS_E2E_TWOWAY_RECEIVER_H

#include "end.h"

/** shared_file - descriptor of an inode of its own, so that a domain by it is a shared one. */
int shared_file(void);

/** receive_qp - a new one: its number. */
uint32_t receive_qp(struct ibv_xrc_domain *domain);

/** connect_to_itself - the end's QP, and this receive QP of its domain: what it sends comes to its own SRQ. */
void connect_to_itself(struct end *end, uint32_t qp_num);

#endif
