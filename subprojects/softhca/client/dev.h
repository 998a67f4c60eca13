/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An opened context, for the files that open, serve and close it. */
#ifndef SOFTHCA_CLIENT_DEV_H
#define SOFTHCA_CLIENT_DEV_H

#include "client.h"

#include <own/own.h>
#include <rings/rings.h>

#include <pthread.h>
#include <stdatomic.h>

#define LOST ((pid_t)-1)

struct dev {
	pid_t pid; /* the opener; LOST in a forked child, and when the number was reused */
	struct file_id file; /* behind fd and uar; tells whether a number was reused */
	int sock;
	struct file_id sock_file; /* behind sock */
	bool cm;	    /* the connection manager, not uverbs */
	/* mlx5: bits 8 and up of the page number of an mmap() offset are a command */
	bool mmap_commands;
	/* memfd of the doorbell page; of the connection manager a socket, readable for events */
	int uar;
	unsigned int index;
	int shared; /* a file that all contexts of the device share, for flock() */
	struct file_id shared_file; /* behind shared; none before it is needed */
	unsigned int references;
	int fd; /* the program's */
	struct handles cqs, qps;
	bool replaced; /* the functions of the program's context */
	struct records records;
	pthread_mutex_t command_lock; /* one command at a time per context */
	atomic_bool closing; /* written under command_lock: no command follows */
};

/* The connection to the daemon; -1: the program has closed it, as closefrom() does. */
int dev_socket(const struct dev *dev);

/* Connects a new context to the daemon: its sock, uar and mmap_commands. 0 or -errno. */
int daemon_open(struct dev *dev);

#endif
