/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Unreliable ids: one asks for the number of a queue pair, the other one tells it; there is no
 * connection.
 */
#ifndef SOFTHCA_CM_SIDR_H
#define SOFTHCA_CM_SIDR_H

#include "cm.h"

/*
 * Of ids that have been given no other one: every one, and those that talk to IP hosts, as the
 * group of all these has it.
 */
#define CM_UDP_QKEY   0x01234567u
#define CM_IPOIB_QKEY 0x0b1bu

/* As their namesakes of reliable ids. */
int cm_sidr_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_sidr_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_sidr_reject(struct cm_id *id, const void *data, uint8_t length);

/* The Q_Key that an id has, or gets now. */
uint32_t cm_sidr_qkey(struct cm_id *id);

#endif
