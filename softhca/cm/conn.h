/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Connections between ids: what ib_cm does with messages on the wire, done directly. */
#ifndef SOFTHCA_CM_CONN_H
#define SOFTHCA_CM_CONN_H

#include "cm.h"

/* The usual reason of a reject: the program says so. */
#define CM_REJ_CONSUMER 28

/*
 * All of them: -EINVAL when the id is in no state for that, or says more than the message has room
 * for.
 */
int cm_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_reject(struct cm_id *id, uint8_t reason, const void *data, uint8_t length);
int cm_disconnect(struct cm_id *id);

/* The active side has seen the answer and its queue pair is up: the connection stands. */
int cm_establish(struct cm_id *id);

/* The passive side has received the first message before it was told so. */
int cm_notify(struct cm_id *id, uint32_t event);

/* The id goes: whoever it is connected with is told. */
void cm_abandon(struct cm_id *id);

#endif
