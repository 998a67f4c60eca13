/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The functions of the files behind the hooks: opened contexts, and what the daemon answers. */
#ifndef SOFTHCA_CLIENT_H
#define SOFTHCA_CLIENT_H

#include <proto.h>

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct ibv_context;

/* ---- files of /dev/infiniband (node.c) ---- */

/*
 * Which device a file is, by the number of its socket in the daemon's directory: N of uverbsN,
 * NODE_CM, or -1.
 */
#define NODE_CM SOFTHCA_MAX_DEVICES
int node_find(dev_t device, ino64_t inode);
int node_at(int directory, const char *path);

/* The path of the file, in @path; or a character device's, if the daemon's directory has gone. */
const char *node_path(int node, char path[PATH_MAX]);

/* The device's number in Linux. */
dev_t node_number(int node);

/* A descriptor, or -1 with errno. */
int node_open(int node, int flags);

/* ---- opened device contexts (dev.c, dev_calls.c) ---- */

struct dev;

/* Opens uverbs@index. File descriptor, or -errno. */
int dev_open(unsigned int index, int flags);

/* Opens the connection manager's device likewise. */
int dev_open_cm(int flags);

/* Which device @fd stands for: a number as of node_find(), or -1. */
int dev_node(int fd);

/* The context behind @fd with a reference, or NULL for every other file. */
struct dev *dev_get(int fd);
void dev_put(struct dev *dev);

/* As write(2), mmap(2), close(2), flock(2) on a uverbs file. */
ssize_t dev_write(struct dev *dev, const void *data, size_t length);
void *dev_mmap(struct dev *dev, size_t length, int prot, int flags, off64_t offset);
int dev_close(struct dev *dev, int fd);
int dev_flock(struct dev *dev, int fd, int operation);

/*
 * Whether the daemon of the context behind @fd has ended, as seen less than a quarter of a second
 * ago.
 */
bool dev_has_ended(int fd);

/* ---- the completion queues of a context (cqs.c) ---- */

/* After the daemon has executed @command. */
void cqs_note(struct dev *dev, const uint64_t *command, size_t length);

/* ---- waking the daemon for doorbells (wake.c) ---- */

/* Before the first context is opened. */
void wake_find_verbs(void);
/* Takes over @fd, the daemon's page for this; -1 = none. */
void wake_map(int fd);
/* Replaces the functions of a context that ring. */
void wake_replace(struct ibv_context *context);
/* After the daemon has executed @command. */
void wake_note(struct dev *dev, const uint64_t *command, size_t length);

/* ---- the socket by which rdma(8) asks the kernel (netlink.c) ---- */

/* A descriptor that stands for one, or -1 with errno. */
int netlink_open(int type);
bool netlink_is(int fd);
void netlink_closed(int fd);
/* As sendto(2), recvmsg(2) and getsockname(2). */
ssize_t netlink_send(int fd, const void *request, size_t length);
ssize_t netlink_receive(int fd, struct msghdr *msg, int flags);
int netlink_name(struct sockaddr *name, socklen_t *size);

/* ---- connections to the daemon (daemon.c) ---- */

/* Connected socket, or -errno. */
int daemon_connect(const char *directory);
/* Says once on stderr that the daemon has ended. */
void daemon_tell_end(void);
/* Receives exactly @length bytes and at most one descriptor (*fd, else -1). 0 or -errno. */
int daemon_receive(int sock, void *data, size_t length, int *fd);

#endif
