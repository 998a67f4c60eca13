/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The beginning of the benchmarks' old programs, which all use the first device. */
#ifndef BENCH_OLD_PROGRAM_H
#define BENCH_OLD_PROGRAM_H

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Ends the program if the condition does not hold. */
static inline void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	exit(2);
}

static inline struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;

	need(context != NULL, "no device");
	return context;
}

static inline struct ibv_xrc_domain *open_domain(struct ibv_context *context, int fd)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(context, fd, O_CREAT);

	need(domain != NULL, "no XRC domain");
	return domain;
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
