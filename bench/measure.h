/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the benchmarks in C have in common. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Ends the program if the condition does not hold. */
static inline void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(2);
}

static inline double nanoseconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A file without a name. */
static inline int domain_file(void)
{
	char path[] = "/tmp/xrc-compat-bench-XXXXXX";
	int fd = mkstemp(path);

	need(fd >= 0 && !unlink(path), "a file for the domain");
	return fd;
}

#endif
