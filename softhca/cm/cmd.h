/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands of the connection manager's write() interface. */
#ifndef SOFTHCA_CM_CMD_H
#define SOFTHCA_CM_CMD_H

#include "cm.h"

#include <stddef.h>

/* One command that has passed the checks of its header. */
struct cm_cmd {
	struct cm_file *file;
	struct cm_id *id; /* that the request names, of the file; NULL where it names none */
	/*
	 * request; as long as the structure of the command, with zeroes for what the client left
	 * out
	 */
	const void *in;
	size_t out_size; /* room for the response */
	int fd;		 /* descriptor that the client attached, or -1; stays the caller's */
};

/*
 * Executes the @size bytes of one write(). 0 or -errno as the kernel's write() has it; -EAGAIN
 * means that there is no event yet.
 */
int cm_execute(struct cm_file *file, const void *bytes, size_t size, int fd);

/* cmd_id.c */
int cm_cmd_create_id(struct cm_cmd *cmd);
int cm_cmd_destroy_id(struct cm_cmd *cmd);
int cm_cmd_get_event(struct cm_cmd *cmd);
int cm_cmd_set_option(struct cm_cmd *cmd);
int cm_cmd_migrate_id(struct cm_cmd *cmd);

/* cmd_mcast.c */
int cm_cmd_join_ip_mcast(struct cm_cmd *cmd);
int cm_cmd_join_mcast(struct cm_cmd *cmd);
int cm_cmd_leave_mcast(struct cm_cmd *cmd);

/* cmd_addr.c */
int cm_cmd_bind_ip(struct cm_cmd *cmd);
int cm_cmd_bind(struct cm_cmd *cmd);
int cm_cmd_resolve_ip(struct cm_cmd *cmd);
int cm_cmd_resolve_addr(struct cm_cmd *cmd);
int cm_cmd_resolve_route(struct cm_cmd *cmd);
int cm_cmd_query_route(struct cm_cmd *cmd);
int cm_cmd_query(struct cm_cmd *cmd);

/* cmd_conn.c */
int cm_cmd_listen(struct cm_cmd *cmd);
int cm_cmd_connect(struct cm_cmd *cmd);
int cm_cmd_accept(struct cm_cmd *cmd);
int cm_cmd_reject(struct cm_cmd *cmd);
int cm_cmd_disconnect(struct cm_cmd *cmd);
int cm_cmd_notify(struct cm_cmd *cmd);
int cm_cmd_init_qp_attr(struct cm_cmd *cmd);

#endif
