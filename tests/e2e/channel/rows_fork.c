/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A channel in a program that forks: its descriptor is inherited, its CQs are the parent's. */

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_srq *srq;

static void set_up(int owner)
{
	IS(ibv_fork_init(), 0);
	rig_open(owner);
	channel = rig_channel();
	cq = rig_cq(channel, &cq);
	srq = rig_srq(cq);
}

static void take_down(void)
{
	IS(ibv_destroy_srq(srq), 0);
	IS(ibv_destroy_cq(cq), 0);
	IS(ibv_destroy_comp_channel(channel), 0);
}

static void wait_for(pid_t child)
{
	int status;

	IS(waitpid(child, &status, 0), child);
	IS(status, 0);
}

static void message(void)
{
	rig_arm(cq, 0);
	rig_send(srq, 0);
	rig_event(channel, cq);
	ibv_ack_cq_events(cq, 1);
	rig_arrived(cq);
}

/* As system() and popen() do it. */
static void child_that_goes(int owner)
{
	set_up(owner);
	message();
	IS(system("true"), 0);
	message();
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		wait_for(child);
		message();
	}
	take_down();
}

/* An event that comes while a child has the descriptor too. */
static void child_that_stays(int owner)
{
	int ends[2];
	pid_t child;
	char word;

	set_up(owner);
	IS(pipe(ends), 0);
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
	take_down();
}

/* A watcher process: it sees that there is something, the parent reads it. */
static void child_that_watches(int owner)
{
	pid_t child;

	set_up(owner);
	HOLDS(!rig_readable(channel, 0));
	child = fork();
	if (!child)
		_exit(rig_readable(channel, PATIENCE_MS) ? 0 : 1);
	rig_arm(cq, 0);
	rig_send(srq, 0);
	wait_for(child);
	rig_event(channel, cq);
	ibv_ack_cq_events(cq, 1);
	take_down();
}

/* The descriptor is one: what the child reads the parent does not get, but must acknowledge, for its own CQ counts. */
static void child_that_reads(int owner)
{
	pid_t child;

	set_up(owner);
	rig_arm(cq, 0);
	rig_send(srq, 0);
	child = fork();
	if (!child) {
		rig_event(channel, cq);
		_exit(0);
	}
	wait_for(child);
	rig_no_event(channel);
	ibv_ack_cq_events(cq, 1);
	take_down();
}

static void opened_in_the_child(int owner)
{
	pid_t child;

	set_up(owner);
	child = fork();
	if (!child) {
		rig_open(owner);
		channel = rig_channel();
		cq = rig_cq(channel, &cq);
		srq = rig_srq(cq);
		message();
		take_down();
		_exit(0);
	}
	wait_for(child);
	message();
	take_down();
}

static const struct row rows[] = {
	{ "events go on after children that ended", child_that_goes },
	{ "events go on beside a child that stays", child_that_stays },
	{ "a child may wait for the descriptor", child_that_watches },
	{ "a child may read the event, the parent acknowledges", child_that_reads },
	{ "a child has channels of its own", opened_in_the_child },
};

GROUP(fork);
