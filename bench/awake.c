/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Keeps the processors from sleeping until its parent ends, for softhca_speed.py and
 * machines_speed.py. Prints how it does that.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include "measure.h"

/* Root's way: an idle processor polls for work, so waking it takes no interrupt. */
static int forbid_sleep(void)
{
	const int latency = 0;
	int fd = open("/dev/cpu_dma_latency", O_WRONLY);

	return fd >= 0 && write(fd, &latency, sizeof(latency)) == sizeof(latency);
}

/* The lowest priority is the lowest of its session only, where the kernel groups sessions. */
static void lower_session(void)
{
	int fd;

	setsid();
	fd = open("/proc/self/autogroup", O_WRONLY);
	need(fd < 0 || write(fd, "19", 2) == 2, "autogroup");
}

/* Any user's way. */
static void spin_on(int processor)
{
	const struct sched_param none = { 0 };
	cpu_set_t set;
	pid_t child = fork();

	need(child >= 0, "fork");
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET((size_t)processor, &set);
	need(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
	need(!sched_setscheduler(0, SCHED_IDLE, &none), "SCHED_IDLE");
	for (;;)
		continue;
}

int main(void)
{
	cpu_set_t set;
	const char *how = "which poll for work while they idle";

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!forbid_sleep()) {
		how = "on each of which a program of the lowest priority runs";
		lower_session();
		need(!sched_getaffinity(0, sizeof(set), &set), "sched_getaffinity");
		for (int i = 0; i < CPU_SETSIZE; i++) {
			if (CPU_ISSET((size_t)i, &set))
				spin_on(i);
		}
	}
	printf("%s\n", how);
	fflush(stdout);
	pause();
	return EXIT_SUCCESS;
}
