/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What an opened context is, for the files that serve system calls on it. */
#ifndef SOFTHCA_CLIENT_DEV_H
#define SOFTHCA_CLIENT_DEV_H

#include "client.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

struct dev {
	pid_t pid; /* that opened it; LOST in a forked child, and when the number was reused */
	struct stat file; /* that stands for it; the program may use the number for another one */
	int sock;
	bool cm;
	bool mmap_commands;
	/* memfd of the doorbell page; of the connection manager readable while events wait */
	int uar;
	unsigned int index;
	/* a file that all contexts of the device share, for flock(); -1 = not needed yet */
	atomic_int lock;
	unsigned int references;
	struct cqs cqs;
	pthread_mutex_t command; /* one command at a time per context */
	atomic_bool closing; /* written under it: no command follows */
};

#define LOST ((pid_t)-1)

#endif
