/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What an opened context is, for the files that serve system calls on it. */
#ifndef SOFTHCA_CLIENT_DEV_H
#define SOFTHCA_CLIENT_DEV_H

#include "client.h"

#include <pthread.h>
#include <stdatomic.h>

struct ibv_cq;
struct ibv_wc;
struct polled_cq;

struct dev {
	pid_t pid; /* that opened it; INHERITED in a forked child */
	int sock;
	bool cm;
	bool mmap_commands;
	int uar; /* memfd of the doorbell page; of the connection manager what is readable while events wait */
	unsigned int index;
	atomic_int lock; /* a file that all contexts of the device share, for flock(); -1 = not needed yet */
	unsigned int references;
	pthread_mutex_t command; /* one command at a time per context */
	atomic_bool closing; /* written under it: no command follows */
	/* Of polling.c: */
	atomic_bool ended; /* the daemon has */
	atomic_ullong looked; /* for that, in milliseconds */
	_Atomic(struct polled_cq *) cqs;
	int (*poll_cq)(struct ibv_cq *cq, int count, struct ibv_wc *wc); /* the provider's */
};

#define INHERITED ((pid_t)-1)

/* The context behind @fd without a reference: for callers that know that it is open. */
struct dev *dev_at(int fd);

/* Whether the daemon has closed the connection. It then says once on the standard error output that the daemon has ended. */
bool dev_ended(struct dev *dev);

/* ---- polling for completions (polling.c), under the lock of commands ---- */

/* Before a command. */
void polling_hook(struct dev *dev);
/* After a command that was executed. */
void polling_note(struct dev *dev, const void *command, size_t length);
void polling_free(struct dev *dev);

#endif
