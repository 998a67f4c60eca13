/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A channel in a program that forks: a child inherits its descriptor, but not its CQs. */

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static struct one one;

static void set_up(void)
{
	must_eq(ibv_fork_init(), 0);
	rig_open();
	rig_one(&one);
}

static void wait_for(pid_t child)
{
	int status;

	must_eq(waitpid(child, &status, 0), child);
	must_eq(status, 0);
}

static void message(void)
{
	rig_arm(one.cq, 0);
	rig_send(one.srq, 0);
	rig_event(one.channel, one.cq);
	ibv_ack_cq_events(one.cq, 1);
	rig_arrived(one.cq);
}

/* As system() and popen() do it. */
static void child_that_goes(void)
{
	set_up();
	message();
	must_eq(system("true"), 0);
	message();
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		wait_for(child);
		message();
	}
	rig_end_one(&one);
}

static void child_that_stays(void)
{
	int ends[2];
	pid_t child;
	char word;

	set_up();
	must_eq(pipe(ends), 0);
	child = fork();
	if (!child) {
		close(ends[1]);
		_exit(read(ends[0], &word, 1) ? 1 : 0);
	}
	message();
	message();
	close(ends[1]);
	wait_for(child);
	message();
	rig_end_one(&one);
}

/* The child waits until the descriptor is readable; the parent reads the event. */
static void child_that_watches(void)
{
	pid_t child;

	set_up();
	must(!rig_readable(one.channel, 0));
	child = fork();
	if (!child)
		_exit(rig_readable(one.channel, PATIENCE_MS) ? 0 : 1);
	rig_arm(one.cq, 0);
	rig_send(one.srq, 0);
	wait_for(child);
	rig_event(one.channel, one.cq);
	ibv_ack_cq_events(one.cq, 1);
	rig_end_one(&one);
}

/*
 * An event that the child has read does not reach the parent. The parent must acknowledge it, since
 * it is its CQ that counts.
 */
static void child_that_reads(void)
{
	pid_t child;

	set_up();
	rig_arm(one.cq, 0);
	rig_send(one.srq, 0);
	child = fork();
	if (!child) {
		rig_event(one.channel, one.cq);
		_exit(0);
	}
	wait_for(child);
	rig_no_event(one.channel);
	ibv_ack_cq_events(one.cq, 1);
	rig_end_one(&one);
}

static void opened_in_the_child(void)
{
	pid_t child;

	set_up();
	child = fork();
	if (!child) {
		rig_open();
		rig_one(&one);
		message();
		rig_end_one(&one);
		_exit(0);
	}
	wait_for(child);
	message();
	rig_end_one(&one);
}

/* ---- a signal whose handler forks, while a verb is under way ---- */

static volatile sig_atomic_t striking; /* whenever the verb asks the kernel */
static int struck;

/* The program's own, so that also libibverbs and its drivers come by. */
__attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t size)
{
	static ssize_t (*next)(int fd, const void *data, size_t size);

	if (!next)
		next = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
	if (striking) {
		striking = 0;
		raise(SIGUSR1);
		striking = 1;
	}
	return next(fd, data, size);
}

/* As handlers do that have a debugger print where the program is. */
static void fork_in_handler(int number)
{
	pid_t child = fork();

	(void)number;
	if (!child)
		_exit(0);
	wait_for(child);
	struck++;
}

static void child_of_a_handler(void)
{
	signal(SIGUSR1, fork_in_handler);
	striking = 1;
	set_up();
	message();
	rig_end_one(&one);
	striking = 0;
	must(struck > 20);
}

static const struct row fork_rows[] = {
	{ "events go on after children that ended", child_that_goes },
	{ "events go on beside a child that stays", child_that_stays },
	{ "a child may wait for the descriptor", child_that_watches },
	{ "a child may read the event, the parent acknowledges", child_that_reads },
	{ "a child has channels of its own", opened_in_the_child },
	{ "a handler may fork in the middle of any verb", child_of_a_handler },
};

GROUP(fork);
