/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Programs below a resource limit that keeps the library from writing its registration table. The
 * verbs succeed, since the kernel keeps the registrations. The library warns, and names the error.
 */

#define GROUP "limits"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "row.h"

static rlim_t limit_of(__rlimit_resource_t resource)
{
	int next = dup(0);	/* the descriptor of the domain's file, until the domain is open */

	must(next >= 0 && !close(next));
	return resource == RLIMIT_NOFILE ? (rlim_t)next + 1 : 0;
}

static void warns(__rlimit_resource_t resource, int err)
{
	struct actor *a = actor_open(0);
	struct rlimit before, limit;
	char text[4096] = "";
	int pipe_ends[2];
	uint32_t qpn;

	must(!pipe(pipe_ends) && dup2(pipe_ends[1], STDERR_FILENO) == STDERR_FILENO);
	must(!getrlimit(resource, &before));
	limit = before;
	limit.rlim_cur = limit_of(resource);
	must(!setrlimit(resource, &limit));
	expect_ok(open_domain(a, D, FILE_A, O_CREAT));
	qpn = new_rcv_qp(a);
	expect_ok(reg(a, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
	must(!setrlimit(resource, &before));
	must(read(pipe_ends[0], text, sizeof(text) - 1) > 0);
	must(strstr(text, strerror(err)));
}

ROW_CALL("5.6", "without a free descriptor (ulimit -n) the library warns of EMFILE",
	 warns(RLIMIT_NOFILE, EMFILE))
ROW_CALL("5.6", "without room for a file (ulimit -f) the library warns of EFBIG",
	 warns(RLIMIT_FSIZE, EFBIG))
