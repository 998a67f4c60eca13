/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids: their numbers, their connections, the groups that they have joined, and commands. */
#ifndef SOFTHCA_CM_ID_H
#define SOFTHCA_CM_ID_H

#include "event.h"

/* ---- ids (id.c) ---- */

/* librdmacm keeps its own table of the numbers of ids and joins, of this size. */
#define CM_NUMBERS (1u << 16)

/* An id of the file. NULL with *err: no memory, or no number is left. */
struct cm_id *cm_id_new(struct cm_file *file, uint16_t ps, uint8_t qp_type, int *err);

/* -ENOENT: no id has this number. -EINVAL: another file has it. */
int cm_id_find(const struct cm_file *file, uint32_t number, struct cm_id **id);

/* Id and peer know nothing of each other any more. */
void cm_id_part(struct cm_id *id);

/* Whether its connection was requested, and does not stand yet. */
static inline bool cm_id_may_be_rejected(const struct cm_id *id)
{
	return id->ib_state >= CM_REQ_SENT && id->ib_state <= CM_REP_RCVD;
}

/* A count of retries as messages have it, in three bits. */
static inline uint8_t cm_id_retries(uint8_t count)
{
	return count < 7 ? count : 7;
}

/* Whether what @id sends now arrives on this machine: the ports on both sides are up. */
bool cm_id_is_wired(const struct cm_id *id);

/* The peer on this machine that hears what @id sends now, or NULL. */
struct cm_id *cm_id_hearer(const struct cm_id *id);

/* Calls @expired with id->timer if nothing happens to the id in this time. */
void cm_wait(struct cm_id *id, unsigned int milliseconds, void (*expired)(struct timer *timer));

/* ---- services: bound and listening ids (service.c) ---- */

/*
 * A connection request for the listener at the destination, with its child, an id of @qp_type: to
 * be filled in and raised. NULL: it is refused; *heard = whether there is a listener.
 */
struct cm_event *cm_id_request(struct cm_id *id, uint8_t qp_type, bool *heard);

/* ---- connections (conn.c) ---- */

/* Ends the connection of an id that is destroyed, and tells its peer. */
void cm_abandon(struct cm_id *id);

/* ---- unreliable ids: one asks for the number of a QP, the other one tells it (sidr.c) ---- */

/* These do for unreliable ids what their namesakes in conn.c do for the others. */
int cm_sidr_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_sidr_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param);
int cm_sidr_reject(struct cm_id *id, const void *data, uint8_t length);

/* The Q_Key that an id has, or gets now. */
uint32_t cm_sidr_qkey(struct cm_id *id);

/* ---- what an id hears of its peer, whose fields are those of @from (conn.c, sidr.c) ---- */

void cm_hear_req(struct cm_id *from, const struct rdma_ucm_conn_param *param);
void cm_hear_rep(struct cm_id *id, const struct cm_id *from,
		 const struct rdma_ucm_conn_param *param);
void cm_hear_rtu(struct cm_id *id);
void cm_hear_rej(struct cm_id *id, uint8_t reason, const void *data, size_t length);
void cm_hear_dreq(struct cm_id *id);
void cm_hear_drep(struct cm_id *id);
void cm_sidr_hear_req(struct cm_id *from, const struct rdma_ucm_conn_param *param);
void cm_sidr_hear_rep(struct cm_id *id, uint8_t status, const struct cm_id *from, const void *data,
		      size_t length);

/* ---- multicast groups, as the subnet manager has them (mcast.c) ---- */

/* 0 or -ENOMEM. */
int cm_groups_init(struct hca_cm *cm);

/* Leaves all groups of an id that is destroyed. */
void cm_leave_all(struct cm_id *id);

/* ---- commands of the write() interface (their table is cmd.c) ---- */

/* A command that has passed the checks of its header. */
struct cm_cmd {
	struct cm_file *file;
	struct cm_id *id; /* of the request, and of this file; NULL where it names none */
	/* request, with zeroes for what the client left out */
	const void *in;
	size_t out_size; /* room for the response */
	int fd; /* descriptor that the client attached, or -1; stays the caller's */
};

/* Each is in the file of what it is about. */
typedef int cm_command(struct cm_cmd *cmd);
cm_command cm_cmd_create_id, cm_cmd_destroy_id, cm_cmd_set_option, cm_cmd_migrate_id;
cm_command cm_cmd_bind_ip, cm_cmd_bind, cm_cmd_listen;
cm_command cm_cmd_resolve_ip, cm_cmd_resolve_addr, cm_cmd_resolve_route;
cm_command cm_cmd_query_route, cm_cmd_query, cm_cmd_init_qp_attr;
cm_command cm_cmd_connect, cm_cmd_accept, cm_cmd_reject, cm_cmd_disconnect, cm_cmd_notify;
cm_command cm_cmd_join_ip_mcast, cm_cmd_join_mcast, cm_cmd_leave_mcast;
cm_command cm_cmd_get_event;

#endif
