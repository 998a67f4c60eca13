/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The registration table: which opened devices ("members") are registered with which receive-QP numbers of one domain,
 * seen by every process of the user, exact across crashes (contract 5.4 to 5.7).
 *
 * One file per user, device and domain inode; a domain of fd -1 is one opened device's alone, and needs none. Each member
 * has a row that it alone writes, without a lock, so a process that is killed or stopped at any instruction holds nobody
 * up; and a byte of the file that its process has locked, which is how others know that it is alive: the kernel releases
 * it. All calls may be made from several threads. They return 0 or -errno, except where said; out-parameters are untouched on failure.
 * Nothing prints.
 *
 * Order the callers keep, so that the table never says more than the kernel:
 *   open the kernel's domain, then the table;           leave and close the table, then close the kernel's domain
 *   (whoever is in the table pins the inode, so an inode number is not reused under a table that has users);
 *   open or create the QP, then register or add it;     unregister, then destroy the QP's handle.
 *
 * After fork the child owns none of this: calls with the parent's objects return -ECHILD and change nothing shared,
 * regtab_leave() and regtab_close() do nothing. The child may open the same table anew and then is a stranger like any
 * other process. The parent's registrations end with the parent even while the child lives.
 *
 * -ESTALE from any call: the others took this member for dead, because the program closed the table's file descriptor.
 * Leave it, and open and join anew.
 */
#ifndef COMPAT_REGTAB_REGTAB_H
#define COMPAT_REGTAB_REGTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGTAB_MEMBERS_MAX	1024	/* opened devices on one table */
#define REGTAB_LABEL_SIZE	32

/** struct regtab_key - what makes two domains the same one. Unused bytes must be 0. */
struct regtab_key {
	char device[64];	/* kernel name of the device, "mlx4_0" */
	uint64_t guid;		/* of the node, in network byte order, as the device reports it */
	uint64_t instance;	/* what else tells two devices of one name apart (an emulator's run); else 0 */
	uint64_t st_dev;	/* the domain's inode */
	uint64_t st_ino;
};

/** struct regtab_error - why a table was refused, for people: names the file and the next step. */
struct regtab_error {
	char text[512];
};

/** enum regtab_carrier - what keeps a QP alive while anyone is registered. */
enum regtab_carrier {
	REGTAB_BY_KERNEL,	/* every registrant holds a handle from ibv_open_qp */
	REGTAB_BY_OWNER,	/* only the creator has a handle, and keeps it until nobody is registered */
};

struct regtab;
struct regtab_member;

/** regtab_dir_check - 0 for a directory for tables, in which nobody else can replace them; or -errno, with *reason: a phrase. */
int regtab_dir_check(const char *dir, const char **reason);

/**
 * regtab_open - open the table of a key, create it where there is none, replace one that only dead processes used.
 * @dir: an existing directory on a local file system with O_TMPFILE (/dev/shm).
 * @why: may be NULL. Filled on failure only.
 *
 * Two opens of one key in one process give the same object, counted.
 * -ENOENT, -EACCES, -ENOTDIR: the directory; -EPERM: it, or the file there, is not one we may trust (owner, type, links,
 * mode, content); -EPROTO: in use by processes with another version of this library, or on another machine; -ENOSPC,
 * -EFBIG, -ENOMEM; -EAGAIN: another process is stopped in the middle of opening or closing it (waited for 4 s);
 * -EOPNOTSUPP, -ENOLCK: the file system cannot do it.
 */
int regtab_open(const struct regtab_key *key, const char *dir, struct regtab **tab, struct regtab_error *why);

/** regtab_close - after its members have left. The last to close removes the file if no other process has it open. */
void regtab_close(struct regtab *tab);

/** regtab_removed - whether somebody removed the file: who opens the table now gets another one. */
bool regtab_removed(struct regtab *tab);

/**
 * regtab_join - become a member: one opened device.
 * @label: shown to people (device context); cut at REGTAB_LABEL_SIZE - 1. May be NULL.
 * -ENOMEM: REGTAB_MEMBERS_MAX live members, or the table is full; -ENOSPC, -EFBIG: the file system is, or ulimit -f low.
 */
int regtab_join(struct regtab *tab, const char *label, struct regtab_member **member);

/** regtab_leave - end all registrations of the member, and the QPs that it kept (REGTAB_BY_OWNER), and the member. */
void regtab_leave(struct regtab_member *member);

/**
 * regtab_add - enter a QP that the member has just created; the member is registered with it (contract 5.4).
 * The kernel gives no number out twice: registrations with an earlier QP of this number are void, and end here.
 * -EINVAL: not a QP number (24 bits, not 0); -ENOMEM, -ENOSPC, -EFBIG as regtab_join().
 */
int regtab_add(struct regtab_member *member, uint32_t qp_num, enum regtab_carrier carrier);

/** regtab_enter - register with a QP of which the member has a handle, whether others have entered it or not. As above. */
int regtab_enter(struct regtab_member *member, uint32_t qp_num);

/**
 * regtab_register - with a QP that is in the table; idempotent per member.
 * -EINVAL: no such QP; -EOWNERDEAD: its owner died and took it along (report it like -EINVAL, warn).
 */
int regtab_register(struct regtab_member *member, uint32_t qp_num);

/**
 * regtab_unregister - one cancels any number of registrations (contract 5.6).
 * @last: may be NULL. Set to whether nobody is registered any more, dead processes not counted: an owner shall destroy
 * the QP, which is out of the table then; any other member shall tell the owner (regtab_owner()), who finds it with
 * regtab_unused(). Of several who unregister at once, at least one is told. Where others seem to remain, asking costs
 * a system call, unless one of them was found alive within the last 20 microseconds.
 * -EINVAL: not registered, or no such QP.
 */
int regtab_unregister(struct regtab_member *member, uint32_t qp_num, bool *last);

/** regtab_is_registered - whether this member is registered with the QP. */
bool regtab_is_registered(struct regtab_member *member, uint32_t qp_num);

/** regtab_owner - *owner: number of the live member that keeps the QP. -EINVAL: nobody does but the kernel; -EOWNERDEAD. */
int regtab_owner(struct regtab_member *member, uint32_t qp_num, unsigned *owner);

/**
 * regtab_unused - for an owner: take a QP out of the table that it keeps and no live process is registered with.
 * Returns its number, at least from, for the owner to destroy it; 0: there is none.
 */
uint32_t regtab_unused(struct regtab_member *member, uint32_t from);

/** regtab_member_check - -ECHILD: of a parent process; -ESTALE: others took it for dead, its locks were lost. */
int regtab_member_check(const struct regtab_member *member);

/** regtab_path - of the table's file. regtab_member_number - as others know the member. */
const char *regtab_path(const struct regtab_member *member);
unsigned regtab_member_number(const struct regtab_member *member);

enum regtab_verdict {
	REGTAB_REMOVED,		/* or would be */
	REGTAB_KEPT,		/* in use */
	REGTAB_LEFT_ALONE,	/* refused, see reason */
};

/**
 * regtab_gc - remove the tables of this user in dir that no process has open; they are provably dead. (People see what
 * there is with tools/tables/view.h.)
 * Returns the number removed (with dry_run: that would be), or -errno for the directory. visit may be NULL.
 */
int regtab_gc(const char *dir, bool dry_run,
	      void (*visit)(void *context, const char *path, enum regtab_verdict verdict, const char *reason),
	      void *context);

#endif
