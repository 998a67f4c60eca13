/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The registration table: which opened devices ("members") are registered with which receive-QP numbers of one domain,
 * seen by every process of the user, exact across crashes (contract 5.4 to 5.7).
 *
 * One file per user, device and domain inode, or private memory for a domain of fd -1. Every operation on a QP is
 * lock-free in the shared memory, so a process that is killed or stopped at any instruction holds nobody up; who is
 * alive is told by a record lock that the kernel releases. All calls may be made from several threads.
 * All functions return 0 or -errno, except where said; out-parameters are untouched on failure. Nothing prints.
 *
 * Order the callers keep, so that the table never says more than the kernel:
 *   open the kernel's domain, then the table;           leave and close the table, then close the kernel's domain
 *   (whoever is in the table pins the inode, so an inode number is not reused under a table that has users);
 *   open or create the QP, then register or add it;     unregister, then destroy the QP's handle.
 *
 * After fork the child owns none of this: calls with the parent's objects return -ECHILD and change nothing shared,
 * regtab_leave() and regtab_close() do nothing. The child may open the same table anew and then is a stranger like any
 * other process. The parent's registrations end with the parent even while the child lives.
 */
#ifndef COMPAT_REGTAB_REGTAB_H
#define COMPAT_REGTAB_REGTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGTAB_MEMBERS_MAX	1024	/* opened devices on one table */
#define REGTAB_LABEL_SIZE	32
#define REGTAB_MESSAGE_MAX	512	/* bytes of a request or an answer */

/** struct regtab_key - what makes two domains the same one. Unused bytes must be 0. */
struct regtab_key {
	char device[64];	/* kernel name of the device, "mlx4_0" */
	uint64_t guid;		/* of the node, as the device reports it */
	uint64_t instance;	/* what else tells two devices of one name apart (an emulator's run); else 0 */
	uint64_t st_dev;	/* the domain's inode; both 0 for a private domain */
	uint64_t st_ino;
};

/** struct regtab_error - why a table was refused, for people: names the file and the next step. */
struct regtab_error {
	char text[512];
};

/** enum regtab_carrier - what keeps a QP alive while anyone is registered. */
enum regtab_carrier {
	REGTAB_BY_KERNEL,	/* every registrant holds a handle from ibv_open_qp */
	REGTAB_BY_OWNER,	/* only the creator has a handle; it must serve (regtab_serve()) */
};

struct regtab;
struct regtab_member;

/**
 * regtab_open - open the table of a key, create it where there is none, replace one that only dead processes used.
 * @dir: an existing directory on a local file system with O_TMPFILE (/dev/shm); NULL: private memory, always a new one.
 * @why: may be NULL. Filled on failure only.
 *
 * Two opens of one key in one process give the same object, counted.
 * -ENOENT, -EACCES, -ENOTDIR: the directory; -EPERM: the file there is not one we may trust (owner, type, links, mode,
 * content); -EPROTO: in use by processes with another version of this library, or on another machine; -ENOSPC, -ENOMEM;
 * -EAGAIN: another process is stopped in the middle of opening or closing it (waited for 2 s); -EOPNOTSUPP, -ENOLCK: the
 * file system cannot do it.
 */
int regtab_open(const struct regtab_key *key, const char *dir, struct regtab **tab, struct regtab_error *why);

/** regtab_close - drop the reference. Members keep their table open: the last to go removes the file if nobody is left. */
void regtab_close(struct regtab *tab);

/**
 * regtab_join - become a member: one opened device. Reaps some dead members on the way.
 * @label: shown to people (device context); cut at REGTAB_LABEL_SIZE - 1. May be NULL.
 * -ENOMEM: REGTAB_MEMBERS_MAX live members; -ENOSPC: the file system is full.
 */
int regtab_join(struct regtab *tab, const char *label, struct regtab_member **member);

/** regtab_leave - end all registrations of the member, and the QPs that it carried (REGTAB_BY_OWNER), and the member. */
void regtab_leave(struct regtab_member *member);

/**
 * regtab_add - enter a QP that the member has just created; the member is registered with it (contract 5.4).
 * The kernel gives no number out twice: an entry that is still there under this number is a left-over and is replaced.
 * -EINVAL: not a QP number (24 bits, not 0); -ENOMEM: the table is full; -ENOSPC: the file system is;
 * -ESTALE: see regtab_register().
 */
int regtab_add(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier carrier);

/**
 * regtab_enter - register with a QP that the kernel keeps and the member has a handle of, whether it is in the table
 * already or not: several may do so at once, and end up in one entry. Errors as regtab_add().
 */
int regtab_enter(struct regtab_member *member, uint32_t qp_num);

/**
 * regtab_register - idempotent per member.
 * -EINVAL: no such QP in this table; -EOWNERDEAD: its owner died and took the QP along (report it like -EINVAL, warn);
 * -ESTALE: the others took this member for dead, because something closed the table's file descriptor or released its
 * locks in this process: leave.
 */
int regtab_register(struct regtab_member *member, uint32_t qp_num);

/**
 * regtab_unregister - one cancels any number of registrations (contract 5.6).
 * @last: may be NULL. Set to whether this was the last registration anywhere, dead processes not counted; the entry is
 * gone then. True at most once per QP; to nobody when the entry was ended in the same moment by one who cleaned up after
 * a crash (an owner is told by retired() then). Where others seem to remain, asking costs a system call, unless one of
 * them was found alive within the last 20 microseconds. For a QP by owner: the owner itself, told "last", destroys the
 * QP; when it is not the last, the service's retired() comes later. Last by another member: the owner gets retired().
 * -EINVAL: not registered, or no such QP.
 */
int regtab_unregister(struct regtab_member *member, uint32_t qp_num, bool *last);

/** regtab_is_registered - whether this member is registered with the QP. */
bool regtab_is_registered(struct regtab_member *member, uint32_t qp_num);

/** regtab_knows - 0: the QP is in the table, *carrier and *mine (may be NULL) set. -EINVAL, -EOWNERDEAD as register. */
int regtab_knows(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier *carrier, bool *mine);

/** regtab_count - live registrations of the QP; reaps dead ones. -EINVAL: no such QP. */
int regtab_count(struct regtab *tab, uint32_t qp_num);

/** regtab_member_count - registrations of the member. Walks the table. */
int regtab_member_count(struct regtab_member *member);

/** regtab_reap - find and remove all dead members. Returns how many were. One system call per foreign member. */
int regtab_reap(struct regtab *tab);

/**
 * regtab_ask - have the owner of a QP (REGTAB_BY_OWNER) do something with it.
 * @answer_len: in: size of answer; out: bytes used. Sizes up to REGTAB_MESSAGE_MAX.
 * Returns what the owner's service returned (0 or -errno), or: -EINVAL no such QP, or nobody carries it but the kernel;
 * -EOWNERDEAD the owner died, or the QP went; -ETIMEDOUT the owner did not answer in time (stopped, or not serving; if it
 * had begun, it will finish unheard); -EMSGSIZE.
 */
int regtab_ask(struct regtab_member *member, uint32_t qp_num, const void *request, size_t request_len, void *answer,
	       size_t *answer_len, unsigned timeout_ms);

/** struct regtab_service - what an owner does for others. Called from regtab_serve() in its caller's thread. */
struct regtab_service {
	/* Returns 0 or -errno for the asker. *answer_len: in: REGTAB_MESSAGE_MAX, out: bytes used. */
	int (*answer)(void *context, uint32_t qp_num, const void *request, size_t request_len, void *answer,
		      size_t *answer_len);
	/* The last registration is gone and so is the entry: destroy the QP. Exactly once per QP. */
	void (*retired)(void *context, uint32_t qp_num);
};

/**
 * regtab_serve - wait for requests to the owner and for QPs that nobody is registered with any more; handle them.
 * Run it in a loop, with a timeout of about a second, in one thread per member that has added QPs REGTAB_BY_OWNER: what
 * a killed process left is noticed when the timeout expires. Returns the number of things done, 0 at the timeout or
 * after regtab_wake(). -EINVAL: the member never added a QP REGTAB_BY_OWNER. Must have returned before regtab_leave().
 */
int regtab_serve(struct regtab_member *member, const struct regtab_service *service, void *context,
		 unsigned timeout_ms);

/**
 * regtab_await_end - after being told "last" for a QP that another member carries: wait until that has destroyed it, so
 * that no message is taken any more once unregistering has returned, as it was with the old kernel.
 * 0: ended, or its owner did; -ETIMEDOUT: the owner is stopped or busy, and will do it later.
 */
int regtab_await_end(struct regtab_member *member, uint32_t qp_num, unsigned timeout_ms);

/** regtab_wake - make a running or the next regtab_serve() of this member return. */
void regtab_wake(struct regtab_member *member);

/* ---- For people: xrc-compat ps and gc ---- */

enum regtab_condition {
	REGTAB_IN_USE,		/* some process has it open */
	REGTAB_DEAD,		/* no process has: regtab_gc() removes it */
	REGTAB_REFUSED,		/* not ours, not readable, or damaged: see reason */
};

enum regtab_qp_state {
	REGTAB_QP_KERNEL,	/* kept by the kernel */
	REGTAB_QP_OWNER,	/* kept by its owner */
	REGTAB_QP_RETIRED,	/* nobody is registered; the owner is about to destroy it */
	REGTAB_QP_LOST,		/* went with its owner; registrations remain */
};

struct regtab_view_member {
	unsigned index;		/* in the table */
	uint32_t pid;		/* in its own pid namespace */
	uint64_t start_time;	/* of the process, clock ticks after boot (/proc/PID/stat, field 22) */
	uint64_t pid_namespace;	/* inode of /proc/PID/ns/pid, 0 unknown */
	uint64_t since;		/* of joining, seconds of CLOCK_REALTIME */
	char command[17];
	char label[REGTAB_LABEL_SIZE + 1];
	bool live;		/* holds its lock */
	bool foreign;		/* its pid means nothing in the caller's pid namespace */
};

struct regtab_view_qp {
	uint32_t qp_num;
	enum regtab_qp_state state;
	int creator;		/* index in regtab_view.members, -1 when gone */
	unsigned registrants;	/* members registered, live or stale */
	size_t slot;		/* for regtab_view_registered() */
};

/** struct regtab_view - a snapshot of one file of a directory. Members and QPs only when not refused. */
struct regtab_view {
	const char *path;
	enum regtab_condition condition;
	struct regtab_error reason;
	struct regtab_key key;
	uint32_t uid;		/* of the file */
	uint64_t created;	/* seconds of CLOCK_REALTIME */
	uint64_t bytes;		/* of memory used */
	struct regtab_view_member *members;
	unsigned member_count;
	struct regtab_view_qp *qps;
	unsigned qp_count;
	void *snapshot;		/* private to regtab_view_registered() */
};

/**
 * regtab_list - call back with a snapshot of every table in dir, sorted by file name. Changes and locks nothing.
 * The view is valid during the call. A return value other than 0 ends the walk and is returned.
 */
int regtab_list(const char *dir, int (*visit)(void *context, const struct regtab_view *view), void *context);

/** regtab_view_registered - whether members[member] is registered with qps[qp]. */
bool regtab_view_registered(const struct regtab_view *view, unsigned qp, unsigned member);

enum regtab_verdict {
	REGTAB_REMOVED,		/* or would be */
	REGTAB_KEPT,		/* in use */
	REGTAB_LEFT_ALONE,	/* refused, see reason */
};

/**
 * regtab_gc - remove the tables of this user in dir that no process has open; they are provably dead.
 * Returns the number removed (with dry_run: that would be), or -errno for the directory. visit may be NULL.
 */
int regtab_gc(const char *dir, bool dry_run,
	      void (*visit)(void *context, const char *path, enum regtab_verdict verdict, const char *reason),
	      void *context);

#endif
