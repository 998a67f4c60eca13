/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An opened context, for the files that open, serve and close it. */
#ifndef SOFTHCA_CLIENT_DEV_H
#define SOFTHCA_CLIENT_DEV_H

#include "client.h"

#include <own/own.h>
#include <rings/handles.h>
#include <rings/records.h>

#include <pthread.h>
#include <stdatomic.h>

#define LOST ((pid_t)-1)

struct dev {
	/* Set before the context is in the table of dev.c, and only read since then. */
	bool cm;	    /* the connection manager, not uverbs */
	unsigned int index; /* of the device; of the connection manager the host's */
	int fd;		    /* the program's */
	int sock;
	struct file_id sock_file; /* behind sock */
	/* What fd is a duplicate of: a uverbs file's doorbell page, or a socket for the events. */
	int original;
	struct file_id file; /* behind fd and original; tells whether a number was reused */
	/* mlx5: bits 8 and up of the page number of an mmap() offset are a command */
	bool mmap_commands;

	/* The opener; LOST in a forked child, and after a reuse of fd. Only dev.c writes it. */
	_Atomic pid_t pid;

	/* Under the lock of that table. Only dev.c writes them. */
	unsigned int references;
	int shared; /* a file that all contexts of the device share, for flock() */
	struct file_id shared_file; /* behind shared; none before it is needed */

	/* Under command_lock: one command at a time per context. */
	pthread_mutex_t command_lock;
	atomic_bool closing;	/* dev.c has begun to close the file; no command follows */
	struct handles cqs;	/* cqs.c */
	bool replaced;		/* cqs.c: the functions of the program's context */
	struct handles qps;	/* wake.c */
	struct records records; /* dev_calls.c */
};

/* The connection to the daemon; -1: the program has closed it, as closefrom() does. */
int dev_socket(const struct dev *dev);

/* Connects a new context to the daemon: sets sock, original and mmap_commands. 0 or -errno. */
int daemon_open(struct dev *dev);

#endif
