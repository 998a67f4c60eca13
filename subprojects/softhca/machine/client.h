/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program that has opened a device, or the connection manager. */
#ifndef SOFTHCA_MACHINE_CLIENT_H
#define SOFTHCA_MACHINE_CLIENT_H

#include <base/list.h>
#include <base/loop.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* An open() of a program. A member of the context, or of the file of rdma_cm. */
struct client {
	struct list link;      /* machine->clients */
	struct watch commands; /* sock */
	struct watch process;  /* pidfd */
	int sock;
	pid_t pid;
	int pidfd;
	bool cm;   /* of the connection manager, not of uverbs */
	bool dead; /* to be reaped at the end of this turn */
};

/*
 * The process @pid on @sock, which becomes the client's; the client joins @clients. 0; -EACCES when
 * the daemon may not read its memory, which has SOFTHCA_MAGIC at @probe; -EOVERFLOW when its
 * addresses are too long for the daemon; -errno.
 */
int client_open(struct client *client, struct list *clients, int sock, pid_t pid,
		uint64_t probe);
void client_close(struct client *client);

/* Its memory. 0 or -EFAULT. */
int client_read(const struct client *client, void *to, uint64_t from, size_t length);
int client_write(const struct client *client, uint64_t to, const void *from, size_t length);

/* ---- the memory of another process (process.c) ---- */

/* process_vm_readv(2) and process_vm_writev(2). ESRCH: the process has ended, or is about to. */
ssize_t process_read(pid_t pid, const struct iovec *here, const struct iovec *there, size_t count);
ssize_t process_write(pid_t pid, const struct iovec *here, const struct iovec *there, size_t count);

/* A thread of the process that has its memory: @pid itself if it does. 0 = none, as for ESRCH. */
pid_t process_thread(pid_t pid);

/* Whether this thread has the memory of its process. */
bool process_has_memory(pid_t thread);

#endif
