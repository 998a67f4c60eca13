/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The functions of each file of the preload that other files call. */
#ifndef SOFTHCA_CLIENT_H
#define SOFTHCA_CLIENT_H

#include "real.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Copies own memory that may not be mapped. Uses gettid(), because after pthread_exit() in main()
 * the process id has no memory.
 */
static inline bool peek(void *to, const void *from, size_t length)
{
	struct iovec here = { to, length };
	struct iovec there = { (void *)from, length };

	return process_vm_readv(gettid(), &here, 1, &there, 1, 0) == (ssize_t)length;
}

/* Prints "softhca: MESSAGE" on stderr, but each message only once. */
#define TELL_ONCE(...) \
	do { \
		static atomic_bool told; \
\
		if (!atomic_exchange(&told, true)) \
			fprintf(stderr, "softhca: " __VA_ARGS__); \
	} while (0)

/* ---- own descriptors (fd.c) ---- */

/* The same file under a number that programs do not use; @fd if there is none. */
int fd_move_high(int fd);
/* Which file @fd is. */
struct file_id {
	uint32_t major, minor;
	uint64_t inode; /* 0 = none */
};
struct file_id fd_file(int fd);
/* False if @fd is another file by now: closefrom(), close_range() and dup2() are not interposed. */
bool fd_is_still(int fd, struct file_id file);

/* ---- where the emulated machine is (place.c) ---- */

/* The daemon's directory, or NULL if there is none or it may not be trusted. */
const char *place_dir(void);

/* Says once on stderr why place_dir() is NULL. For programs that look for adapters. */
void place_explain(void);

/* @path as it is in the emulated machine: @buffer when it is redirected, else @path itself. */
const char *place_redirect(const char *path, char *buffer, size_t size);

/* The same for calls that look at @path but do not open it: /dev/null stands for a device. */
const char *place_to_look(const char *path, char *buffer, size_t size);

/* N of /dev/infiniband/uverbsN, or -1. */
int place_uverbs(const char *path);

/* True for /dev/infiniband/rdma_cm. */
bool place_is_cm(const char *path);

/* A file of device @index that all programs share, opened for reading; -1 with errno. */
int place_open_device(unsigned int index);

/* True for the directory in which libibverbs looks for devices. */
bool place_is_device_list(const char *path);

/* ---- the program's environment (environment.c) ---- */

/* Have libmlx5 map its rings from the device, or not. */
void environment_map_rings(bool map);

/* ---- devices in the order of their numbers (order.c) ---- */

/* @dir is the directory of devices, just opened. */
void order_opened(DIR *dir);
/* Its next entry, or NULL at the end. *ours = false for a directory that order_opened() had not. */
struct dirent *order_next(DIR *dir, bool *ours);
struct dirent64 *order_next64(DIR *dir, bool *ours);
void order_closed(DIR *dir);

/* ---- opened device contexts (dev.c, dev_calls.c) ---- */

struct dev;

/* Opens uverbs@index. File descriptor, or -errno. */
int dev_open(unsigned int index, int flags);

/* Opens the connection manager's device likewise. */
int dev_open_cm(int flags);

/* Whether @fd stands for one of these devices. */
bool dev_is(int fd);

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

/* ---- memory that is not of the heap (room.c) ---- */

/* Gives the table room for one entry more, with which it has @size bytes. False: there is none. */
bool room_for(void **table, size_t *room, size_t size);
void room_free(void *table, size_t room);

/* ---- objects of a context by their handles (handles.c) ---- */

struct handle {
	uint32_t number;
	void *object; /* the program's struct ibv_cq or ibv_qp, not checked yet */
	struct ibv_context *context; /* of a CQ that has been checked, or NULL */
	pid_t maker; /* the thread that has created it and given no command since; else 0 */
};

struct handles {
	struct handle *entry;
	size_t count, room; /* room: in bytes */
};

/* The contents of a command that creates a CQ, QP or SRQ. */
struct creation {
	uint32_t destroy;  /* the command that destroys the object */
	uint64_t response; /* the address of the object's number */
	uint64_t object;   /* the address of the program's structure */
	uint64_t record;   /* the address of the doorbell record; 0 = none */
};

/* False for any other command. */
bool handles_creation(const uint64_t *command, size_t length, struct creation *creation);
/* Whether the command is @destroy, and of which object. */
bool handles_destruction(const uint64_t *command, size_t length, uint32_t destroy,
			 uint32_t *number);

/*
 * Adds or removes the object of a command that the daemon has executed, if @destroy is the command
 * that destroys such objects. A new object for which there is no memory is not added.
 */
void handles_note(struct handles *handles, uint32_t destroy, const uint64_t *command,
		  size_t length);
/* The object, or NULL. */
void *handles_find(const struct handles *handles, uint32_t number);
void handles_free(struct handles *handles);

/* The context of @object, if it has @fd open; or NULL. */
struct ibv_context *handles_context(const void *object, int fd);

/* ---- the completion queues of a context (cqs.c) ---- */

/* After the daemon has executed @command. */
void cqs_note(struct dev *dev, const uint64_t *command, size_t length);

/* ---- the doorbell records of a context's objects (records.c) ---- */

struct record {
	uint64_t page;
	uint32_t destroy, handle; /* the command that destroys the object, and its number */
	bool shared, new;	  /* new: the daemon has not executed the command yet */
};

struct records {
	struct record *entry;
	size_t count, room; /* room: in bytes */
};

/* libmlx5 has taken this from the heap, in this thread. */
void records_taken(const void *memory);
/* Before the daemon executes @command of libmlx5: shares the page of a new object's record. */
void records_before(struct records *records, const uint64_t *command, size_t length);
/* After the daemon has executed it, with the result. */
void records_after(struct records *records, const uint64_t *command, size_t length, int err);
/* Moves all pages out of the arena. */
void records_free(struct records *records);

/* ---- waking the daemon for doorbells (wake.c) ---- */

/* Before the first context is opened. */
void wake_find_verbs(void);
/* Takes over @fd, the daemon's page for this; -1 = none. */
void wake_map(int fd);
/* Replaces the functions of a context that ring. */
void wake_replace(struct ibv_context *context);
/* After the daemon has executed @command. */
void wake_note(struct dev *dev, const uint64_t *command, size_t length);

/* ---- memory that client and daemon share for rings and doorbell records (arena.c) ---- */

struct arena_info {
	int fd; /* -1 = none */
	uint64_t pages;
};

/* This process' arena, made at the first call. */
struct arena_info arena_info(void);
/* Whether arena_alloc() shares memory from now on. What it has shared stays. */
void arena_enable(bool enabled);
/* As mmap(2): memory for a ring or for records, shared with the daemon if it can be. */
void *arena_alloc(size_t length);
/* The program is about to unmap this. */
void arena_unmapped(void *address, size_t length);
/*
 * Moves the page at this address, which the program goes on using, into the arena. False: the page
 * stays as it is.
 */
bool arena_move_in(uint64_t page);
/* The reverse, for a page that holds nothing any more. */
void arena_move_out(uint64_t page);
/*
 * Called in a forked child: the pages that were moved in are the child's own. The child's first use
 * of the arena makes a new one.
 */
void arena_forked(void);

/* ---- programs whose mmap() is not our hook (bypass.c) ---- */

/* True once the program's mmap() bypasses our hook. From then on the arena gets no more rings. */
bool bypass_detect(void);

/* True for the call of mmap() by which bypass_detect() finds that out. */
bool bypass_is_probe(const void *address, size_t length, int fd);

/* ---- the program's host (host.c) ---- */

/* The adapter that SOFTHCA_HOST names, or SOFTHCA_EVERY_HOST. 0, or -EINVAL after a message. */
int host_index(uint32_t *host);

/* Whether the program's host has this entry of the directory of devices. */
bool host_has(const char *entry);

/*
 * SOFTHCA_HOST=ADAPTER by the rank in an MPI job, if SOFTHCA_HOSTS is set and SOFTHCA_HOST is not;
 * or NULL.
 */
char *host_by_rank(void);

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
