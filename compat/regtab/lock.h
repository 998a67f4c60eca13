/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Who is alive: record locks (fcntl F_SETLK) far behind the end of the table's file, released by the kernel.
 *
 * Process locks, not open-file-description locks: those are inherited by fork, so a sleeping child would keep its dead
 * parent's registrations alive, and no handler in the child cures that for every kind of clone. A process lock belongs to
 * the process alone and goes with it, whoever else has the file open, in whatever pid namespace. Its price is known: it
 * also goes when *any* descriptor of the file is closed in the process. So a process opens a table once (tab.c), and
 * checks in regtab_add() that it still holds its locks.
 *
 * Byte "presence": read lock by every process that has the table open; who gets the write lock knows that nobody has.
 * Byte of a member number: write lock by the living member; read lock by those who reap a dead one, so that one reaper
 * that is stopped does not stop the others, and a joiner (write lock) waits for none.
 */
#ifndef COMPAT_REGTAB_LOCK_H
#define COMPAT_REGTAB_LOCK_H

#define LOCK_PRESENCE		0x40000000
#define LOCK_MEMBER(index)	(LOCK_PRESENCE + 1 + (int)(index))

/** regtab_lock - take or change a lock of one byte, never waiting. type: F_RDLCK, F_WRLCK, F_UNLCK. -EAGAIN: held. */
int regtab_lock(int fd, int type, int byte);

/** regtab_lock_holder - F_WRLCK or F_RDLCK as another process holds the byte, F_UNLCK, or -errno. One system call. */
int regtab_lock_holder(int fd, int byte);

#endif
