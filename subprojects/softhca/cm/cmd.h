/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands of the write() interface. */
#ifndef SOFTHCA_CM_CMD_H
#define SOFTHCA_CM_CMD_H

#include "cm.h"

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
