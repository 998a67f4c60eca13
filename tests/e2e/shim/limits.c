/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Programs below a resource limit that keeps the library from writing its registration table. The
 * verbs succeed, since the kernel keeps the registrations. The library warns, and names the error.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "../row.h"

static rlim_t address_space_in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	must(file && fscanf(file, "%ld", &pages) == 1);
	fclose(file);
	return (rlim_t)(pages * sysconf(_SC_PAGESIZE));
}

static rlim_t limit_of(__rlimit_resource_t resource)
{
	int next = dup(0);	/* the descriptor that the next open() would get */

	must(next >= 0 && !close(next));
	if (resource == RLIMIT_AS)	/* too little for the table's 4 MiB, enough for the rest */
		return address_space_in_use() + (1 << 20);
	return resource == RLIMIT_NOFILE ? (rlim_t)next : 0;
}

/* Stderr, which ends in a pipe. */
static const char *text_of(int pipe_end)
{
	static char text[4096];

	must(read(pipe_end, text, sizeof(text) - 1) > 0);
	return text;
}

static void use_receive_qp(struct ibv_context *context, int fd)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(context, fd, O_CREAT);
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_XRC, .xrc_domain = domain };
	uint32_t qp_num;

	must(domain);
	must_eq(ibv_create_xrc_rcv_qp(&attr, &qp_num), 0);
	sleep(1);	/* the library looks at its table once a second */
	must_eq(ibv_reg_xrc_rcv_qp(domain, qp_num), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(domain, qp_num), 0);
	must_eq(ibv_close_xrc_domain(domain), 0);
}

static void warns(__rlimit_resource_t resource, int err)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	char path[] = "/tmp/limits.XXXXXX";
	int pipe_ends[2], fd = mkstemp(path);
	struct rlimit before, limit;

	must(context && fd >= 0 && !unlink(path));
	must(!pipe(pipe_ends) && dup2(pipe_ends[1], STDERR_FILENO) == STDERR_FILENO);
	must(!getrlimit(resource, &before));
	limit = before;
	limit.rlim_cur = limit_of(resource);
	must(!setrlimit(resource, &limit));
	use_receive_qp(context, fd);
	must(!setrlimit(resource, &before));
	must(strstr(text_of(pipe_ends[0]), strerror(err)));
}

ROW("without a free descriptor (ulimit -n) the library warns of EMFILE, and the verbs succeed")
{
	warns(RLIMIT_NOFILE, EMFILE);
}

ROW("without room for a file (ulimit -f) the library warns of EFBIG, and the verbs succeed")
{
	warns(RLIMIT_FSIZE, EFBIG);
}

ROW("without address space (ulimit -v) the library warns of ENOMEM, and the verbs succeed")
{
	warns(RLIMIT_AS, ENOMEM);
}
