/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's socket: who may connect, and what comes in. */
#ifndef SOFTHCA_SERVER_H
#define SOFTHCA_SERVER_H

#include <softhca/machine/hca.h>

struct server {
	struct hca_machine *machine;
	struct watch watch;
	int sock;
	unsigned int guests; /* connections that have not said yet what they are */
};

/* Listens on @path. 0 or -errno. */
int server_open(struct server *server, struct hca_machine *machine, const char *path);
void server_close(struct server *server);

/* Ends the contexts, and the files of the connection manager, that died during this turn. */
void server_reap(struct server *server);

#endif
