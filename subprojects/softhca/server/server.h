/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon. */
#ifndef SOFTHCA_SERVER_H
#define SOFTHCA_SERVER_H

#include <dir.h>
#include <machine/hca.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- the process, from its start to its end (spawn.c) ---- */

struct daemon_plan {
	struct settings settings;
	const char *directory; /* exists, belongs to us, and is locked */
	int lock;	       /* the lock's descriptor */
	uint64_t end; /* of the wait for the other machines, in the time of hca_now() */
	bool net;	       /* the caller's network namespace gets the ports' addresses */
	/* ends when this process, later runs and all contexts are gone; 0 = when asked to */
	pid_t until;
};

/*
 * Starts the daemon, out of the caller's session and without being its child, and returns when it
 * serves. 0, or -errno with a sentence in @why. It removes the directory when it ends.
 */
int daemon_spawn(const struct daemon_plan *plan, char *why, size_t size);

/*
 * Leaves the caller's session. Closes all descriptors but these two; the standard ones lead to
 * /dev/null. New files are for this user alone. 0 or -errno.
 */
int daemon_detach(int one, int other);

/* "@what: the error" into @why. Returns @err. (fail.c) */
int server_fail(char *why, size_t size, const char *what, int err);

/* ---- what the process does (daemon.c) ---- */

/* Opens all that the daemon offers, and waits for the other machines. 0 or -errno; @why. */
int daemon_prepare(const struct daemon_plan *plan, char *why, size_t size);

/* Serves until the end that the plan names. 0 or -errno. */
int daemon_serve(void);

/* Frees the ports, and then the directory: a new start then finds the ports free. */
void daemon_leave(const char *directory);

/* ---- its directory: made, locked, taken over from a dead one, removed (home.c) ---- */

/* A directory for one run, and its lock. -errno with a sentence in @why. Sweeps old ones. */
int home_create(char path[DIR_MAX + 1], int *lock, char *why, size_t size);

/*
 * The directory for a daemon that stays, made if need be. -EBUSY: a living daemon has it; -EEXIST:
 * it has files of the user under the names of a daemon's.
 */
int home_claim(const char *path, int *lock, char *why, size_t size);

/* Comes before all that a daemon makes in its directory: marks the lock as a daemon's. */
int home_mark(int lock);

/* No living daemon has the directory. */
bool home_is_free(const char *path);

/* Whether the daemon at the other end is stopped (SIGSTOP). True also if that is not known. */
bool home_daemon_is_stopped(int sock);

/* Removes what a daemon makes in its directory, and that, unless other things are in it. */
void home_remove(const char *path);

/* ---- the machines on one wire (machines.c) ---- */

/* The list and the key that the settings name, if they do. 0 or -errno; @why. */
int machines_read(const struct settings *settings, char *why, size_t size);

/* How many there are, and in *own which of them this is. */
int machines_count(int *own);

/* Begins to meet the others. 0 or -errno; @why. */
int machines_open(struct hca_machine *machine, char *why, size_t size);

/* Sends what programs have caused by ending, for a tenth of a second at most. */
void machines_send_last_words(void);

/* ---- the runs for which it is there (runs.c) ---- */

/* Adds a run. Its process @pid is `softhca run`, and later its program. 0 or -errno. */
int runs_add(pid_t pid);

/* Whether all are over. */
bool runs_are_over(void);

/* ---- its socket: who may connect, and what comes in (server.c) ---- */

/* Listens on @path. 0 or -errno. */
int server_open(struct hca_machine *machine, const char *path);
void server_close(void);

/* Ends the contexts, and the files of the connection manager, that died during this turn. */
void server_reap(void);

/* Whether no program is connected. */
bool server_idle(void);

/* ---- the device tree in which libibverbs finds the devices (sysfs.c) ---- */

/* Writes the tree below @root, an absolute path, now and when a port changes. 0 or -errno. */
int sysfs_create(struct hca_machine *machine, const char *root);

/* Makes the files that stand for the devices in /dev/infiniband. 0 or -errno. (nodes.c) */
int nodes_create(const struct hca_machine *machine, const char *root);

/* ---- what `run --net` adds (net.c) ---- */

/* Gives RoCE ports interfaces in this namespace, if the kernel can, and all ports addresses. */
int net_create(struct hca_machine *machine);

#endif
