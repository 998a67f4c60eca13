/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Receive QPs. A program that is linked with this calls their functions, so its XRC QPs are one-way
 * ones. A failure ends the row.
 */
#ifndef TESTS_E2E_XRC_QPS_RECEIVER_H
#define TESTS_E2E_XRC_QPS_RECEIVER_H

/* Each row gets a side, self, with a receive QP in RESET. After the row both are closed. */
#define ROW_BEFORE open_receiver
#define ROW_AFTER close_receiver

#include "../side.h"
#include <harness/row.h>

extern struct side self;
extern int domain_fd;		/* of the file that names its domain */
extern uint32_t rcv_qp_num;

void open_receiver(void);
void close_receiver(void);

/* Creates a receive QP. Returns its number. */
uint32_t receive_qp(struct ibv_xrc_domain *domain);

/* Unregisters from a receive QP. */
void end_receive_qp(struct ibv_xrc_domain *domain, uint32_t qp_num);

/* Returns what ibv_query_xrc_rcv_qp returned. */
int query_receive_qp(struct ibv_xrc_domain *domain, uint32_t qp_num);

/* Brings it to INIT and to RTR, connected to its peer. */
void bring_receive_qp(const struct side *side, uint32_t qp_num);

/* Connects its QP with this receive QP of its own domain, so that it can reach its own SRQ. */
void connect_to_itself(struct side *side, uint32_t qp_num);

/*
 * The side, connected to itself, sends a message. Its bytes arrive, and both completions have the
 * numbers that the program knows.
 */
void receive_through(struct side *side, uint32_t qp_num);

/* Creates a QP of self, connects it to itself, and sends a message. */
void send_through_new_qp(uint32_t qp_num);

#endif
