/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sets a resource limit and then creates its first receive QP, for which the library must join the
 * table. The call succeeds or returns an errno of the contract. Once the limit is lifted, the call
 * succeeds. Usage: limits NAME FILE.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

/* Exit status: 0 passed, 1 failed, 2 the set-up failed. */
static void must(int fine, const char *what)
{
	if (fine)
		return;
	printf("limits: %s: %s\n", what, strerror(errno));
	exit(2);
}

static rlim_t address_space_in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	must(file && fscanf(file, "%ld", &pages) == 1, "/proc/self/statm");
	fclose(file);
	return (rlim_t)(pages * sysconf(_SC_PAGESIZE));
}

/* The value of RLIMIT_NOFILE at which the next open() fails. */
static rlim_t descriptors_in_use(void)
{
	int next = dup(0);

	must(next >= 0, "dup");
	close(next);
	return (rlim_t)next;
}

static struct {
	const char *name;
	__rlimit_resource_t resource;
	rlim_t above_use;
} limits[] = {
	{ "data", RLIMIT_DATA, 1000 * 1024 },	/* ulimit -d 1000 */
	{ "no-data", RLIMIT_DATA, 0 },
	{ "as", RLIMIT_AS, 0 },			/* ulimit -v */
	{ "some-as", RLIMIT_AS, 256 * 1024 },
	{ "nofile", RLIMIT_NOFILE, 0 },		/* ulimit -n */
	{ "one-file", RLIMIT_NOFILE, 1 },
	{ "two-files", RLIMIT_NOFILE, 2 },
	{ "nproc", RLIMIT_NPROC, 0 },		/* ulimit -u: no further thread */
	{ "fsize", RLIMIT_FSIZE, 0 },		/* ulimit -f */
	{ "stack", RLIMIT_STACK, 16 * 1024 },	/* ulimit -s: the stack of a new thread */
	{ "memlock", RLIMIT_MEMLOCK, 0 },	/* ulimit -l */
};

static rlim_t in_use(__rlimit_resource_t resource)
{
	switch (resource) {
	case RLIMIT_AS:
		return address_space_in_use();
	case RLIMIT_NOFILE:
		return descriptors_in_use();
	default:
		return 0;	/* the others are set to .above_use itself, as ulimit sets them */
	}
}

static void tighten(const char *name, struct rlimit *before, __rlimit_resource_t *resource)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct rlimit limit;

		if (strcmp(limits[i].name, name))
			continue;
		*resource = limits[i].resource;
		must(!getrlimit(*resource, before), "getrlimit");
		limit = *before;
		limit.rlim_cur = in_use(*resource) + limits[i].above_use;
		must(!setrlimit(*resource, &limit), "setrlimit");
		return;
	}
	must(0, "no such limit");
}

static int of_contract(int err)
{
	return !err || err == ENOMEM || err == EINVAL || err == EIO;
}

static int create(struct ibv_xrc_domain *domain, uint32_t *qp_num)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_XRC, .xrc_domain = domain };

	return ibv_create_xrc_rcv_qp(&attr, qp_num);
}

static struct ibv_xrc_domain *open_domain(const char *file)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	int fd = open(file, O_RDWR | O_CREAT, 0600);
	struct ibv_xrc_domain *domain;

	must(context && fd >= 0, "ibv_open_device");
	domain = ibv_open_xrc_domain(context, fd, O_CREAT);
	must(domain != NULL, "ibv_open_xrc_domain");
	return domain;
}

int main(int argc, char **argv)
{
	struct ibv_xrc_domain *domain;
	uint32_t qp_num, later;
	struct rlimit before;
	__rlimit_resource_t resource;
	time_t deadline;
	int err;

	must(argc == 3, "usage: limits NAME FILE");
	alarm(50);
	domain = open_domain(argv[2]);
	tighten(argv[1], &before, &resource);
	err = create(domain, &qp_num);
	must(!setrlimit(resource, &before), "setrlimit back");
	deadline = time(NULL) + 20;
	printf("limits: %s: %s\n", argv[1], err ? strerror(err) : "works");
	if (!of_contract(err) || (!err && ibv_unreg_xrc_rcv_qp(domain, qp_num)))
		return 1;
	while ((err = create(domain, &later)) && time(NULL) < deadline)
		usleep(100000);		/* the library retries a failed join once a second */
	if (!err)
		err = ibv_unreg_xrc_rcv_qp(domain, later);
	if (!err)
		err = ibv_close_xrc_domain(domain);
	printf("limits: without the limit: %s\n", err ? strerror(err) : "works");
	return err != 0;
}
