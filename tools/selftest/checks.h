/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the self-test checks, in the order in which it can be done. */
#ifndef SELFTEST_CHECKS_H
#define SELFTEST_CHECKS_H

#include "actor.h"

#include <stddef.h>

enum who {
	CREATOR,	/* creates the receive QP and leaves first */
	SURVIVOR,	/* registers, and is the last */
	VICTIM,		/* registers, and is killed */
	SENDER,		/* may be on another host */
	VISITOR,	/* looks what is left at the end */
	TWO_WAY,
	TWO_WAY_PEER,	/* may be on another host */
	ACTORS
};

struct job {
	struct actor actors[ACTORS];
	const char *device;
	const char *remote_host, *remote_port;	/* NULL: all on this host */
	char domain_path[PATH_SIZE];
	char found_device[DEVICE_SIZE];
	struct address address[ACTORS];
	uint32_t srq_num[ACTORS];
	uint32_t rcv_qp_num;
	uint32_t seed;
	/* that could be tested: none at all, or not the one that was named */
	bool no_device;
	bool no_data_path;			/* a message has never ended: no more are sent */
	/* this check could be done only as far as it needs no messages */
	bool without_data;
	/* of the kernel: why this check cannot hold here; NULL: it holds */
	const char *limit;
	/* of the first thing that went wrong in this check */
	char detail[512];
};

struct check {
	const char *section;	/* of the contract */
	const char *what;
	bool (*run)(struct job *job);
	bool essential;		/* nothing that follows can be tried without it */
};

extern const struct check checks[];
extern const size_t check_count;

#endif
