/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The result of a run, for people. */
#ifndef CLUSTER_TABLE_H
#define CLUSTER_TABLE_H

#include <sys/types.h>

#include "cluster.h"

struct member {
	pid_t pid;		/* 0: not there (any more) */
	pid_t shown_pid;
	int socket;
	struct address address;
	struct counts counts;
};

/**
 * table_complete - whether every message that was sent arrived as it was, and the last one failed
 * as it should.
 */
bool table_complete(const struct member *receivers, unsigned int number,
		    const struct member *sender, enum ibv_wc_status last_word);

void table_print(const struct member *receivers, unsigned int number, const struct member *sender,
		 enum ibv_wc_status last_word);

#endif
