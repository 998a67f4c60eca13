/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The runs for which the daemon is there. It ends when all of them and all contexts are gone. */
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct run {
	struct watch process;
	int pidfd;
};

static unsigned int runs;

static void run_ends(struct watch *watch, uint32_t events)
{
	struct run *run = container_of(watch, struct run, process);

	(void)events;
	loop_forget(run->pidfd);
	close(run->pidfd);
	free(run);
	runs--;
}

int runs_add(pid_t pid)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		return -ENOMEM;
	run->process.ready = run_ends;
	run->pidfd = loop_watch_process(pid, &run->process);
	if (run->pidfd < 0) {
		int err = run->pidfd;

		free(run);
		return err;
	}
	runs++;
	return 0;
}

bool runs_are_over(void)
{
	return !runs;
}
