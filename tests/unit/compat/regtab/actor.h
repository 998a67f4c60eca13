/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Actors: real processes that do one thing to a table at a time, as told through a pipe, and can be killed or stopped.
 */
#ifndef TESTS_REGTAB_ACTOR_H
#define TESTS_REGTAB_ACTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <compat/regtab/regtab.h>

#include "inside.h"

enum act {
	ACT_OPEN,		/* open the table and join it */
	ACT_JOIN,		/* join once more; the newest member acts from then on */
	ACT_ADD,
	ACT_ADD_OWNED,
	ACT_REGISTER,
	ACT_UNREGISTER,		/* result: 1 last, 0 not, -errno */
	ACT_UNREGISTER_BLIND,	/* without asking whether it was the last */
	ACT_IS_REGISTERED,
	ACT_COUNT,
	ACT_MEMBER_COUNT,
	ACT_REAP,
	ACT_KNOWS,		/* result: carrier */
	ACT_ASK,		/* asks the owner to add arg and 1; result: the sum, or -errno */
	ACT_SERVE,		/* start a serving thread; it notes retired QPs */
	ACT_ASKED,		/* number of questions that the serving thread has begun to answer */
	ACT_RELEASE,		/* let the serving thread give the answer that it holds back */
	ACT_RETIRED,		/* number of QPs retired to the serving thread; arg: one of them */
	ACT_LEAVE,
	ACT_CLOSE,
	ACT_FORK,		/* fork a child that sleeps for a minute; result: its pid */
	ACT_CLONE,		/* the same by a bare clone system call, which runs no fork handlers */
	ACT_CLOSE_FILES,	/* close all descriptors above the pipes, as daemons do */
};

struct actor {
	pid_t pid;
	int request;
	int reply;
};

/** actor_dir - a fresh directory in /dev/shm, removed at exit. */
const char *actor_dir(void);

/** actor_key - the key of a table; n tells domains apart. */
struct regtab_key actor_key(unsigned n);

/** actor_start - a process that has opened actor_key(n) in dir and joined. Fails the test if it cannot. */
struct actor actor_start(const char *dir, unsigned n);

/** actor_start_program - the same, by another program that calls actor_perform(); NULL: a child of this one. */
struct actor actor_start_program(const char *program, const char *dir, unsigned n);

/** actor_perform - be an actor, told what to do through standard input. Does not return. */
void actor_perform(const char *dir, unsigned n) __attribute__((noreturn));

/** actor_do - have it done, within 30 s. */
int actor_do(struct actor *actor, enum act act, uint32_t arg);

/** actor_post - have it done without waiting; actor_reply() waits. -ETIME: no reply within ms. */
void actor_post(struct actor *actor, enum act act, uint32_t arg);
int actor_reply(struct actor *actor, int ms);

/** actor_stop - SIGSTOP, and wait until it has stopped. */
void actor_stop(struct actor *actor);
void actor_continue(struct actor *actor);

/** actor_kill - SIGKILL and wait. actor_end - let it leave and exit. */
void actor_kill(struct actor *actor);
void actor_end(struct actor *actor);

/** actor_forks_wipe - whether MADV_WIPEONFORK works. A user-space emulator of another processor accepts and ignores it. */
bool actor_forks_wipe(void);

/** actor_files - number of table files in dir. */
unsigned actor_files(const char *dir);

#endif
