/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Regions that the kernel refuses to register or to change, one row each. */
#include "refusals.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int region(struct objects *g, void *at, size_t length, unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr(g->host->pd, at, length, access);

	return mr ? errno_of_result(ibv_dereg_mr(mr)) : errno;
}

static int on_demand(struct objects *g)
{
	int err = region(g, g->host->buffer, 4096, IBV_ACCESS_ON_DEMAND);

	/* Linux 7.2 says EOPNOTSUPP, those before EINVAL. */
	return err == EOPNOTSUPP ? EINVAL : err;
}

/* Two pages, of which the one at @offset is not mapped. */
static uint8_t *gap(size_t offset)
{
	uint8_t *at = rig_map(8192);

	munmap(at + offset, 4096);
	return at;
}

static uint8_t *read_only(void)
{
	uint8_t *at = rig_map(4096);

	must(!mprotect(at, 4096, PROT_READ));
	return at;
}

/* ibv_rereg_mr leaves the errno of the command behind. */
static int region_again(struct objects *g, int flags, void *at, size_t length, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(g->host->pd, g->host->buffer, 4096, IBV_ACCESS_LOCAL_WRITE);
	int err;

	must(mr);
	err = ibv_rereg_mr(mr, flags, NULL, at, length, access) ? errno : 0;
	must_eq(ibv_dereg_mr(mr), 0);
	return err;
}

/* Changes a region whose memory has got this @protection since. PROT_NONE: it is unmapped. */
static int changed_later(struct objects *g, int protection, unsigned int first, int flags,
			 int access)
{
	uint8_t *at = rig_map(4096);
	struct ibv_mr *mr = MADE(ibv_reg_mr(g->host->pd, at, 4096, first));
	int err;

	must(!(protection ? mprotect(at, 4096, protection) : munmap(at, 4096)));
	err = ibv_rereg_mr(mr, flags, g->host->pd, NULL, 0, access) ? errno : 0;
	must_eq(ibv_dereg_mr(mr), 0);
	return err;
}

CALL("mr: remote write without local write", ALWAYS, EINVAL,
     region(g, g->host->buffer, 4096, IBV_ACCESS_REMOTE_WRITE))
CALL("mr: remote atomic without local write", ALWAYS, EINVAL,
     region(g, g->host->buffer, 4096, IBV_ACCESS_REMOTE_ATOMIC))
CALL("mr: on-demand paging", ALWAYS, EINVAL, on_demand(g))
CALL("mr: not mapped", ALWAYS, EFAULT, region(g, gap(4096), 8192, IBV_ACCESS_LOCAL_WRITE))
CALL("mr: read-only memory", ALWAYS, EFAULT, region(g, read_only(), 4096, IBV_ACCESS_LOCAL_WRITE))
CALL("mr: read-only memory, for reading", ALWAYS, 0,
     region(g, read_only(), 4096, IBV_ACCESS_REMOTE_READ))
CALL("mr: hint of huge pages", ALWAYS, 0,
     region(g, g->host->buffer, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB))
CALL("mr: wraps around", ALWAYS, EINVAL, region(g, (void *)-4096l, 8192, 0))
CALL("mr: no bytes", ALWAYS, EINVAL, region(g, g->host->buffer, 0, 0))
CALL("mr: changed in nothing", ALWAYS, EINVAL, region_again(g, 0, NULL, 0, 0))
CALL("mr: moved", ALWAYS, 0,
     region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, g->host->buffer + 4096, 8192, 0))
CALL("mr: moved to unmapped memory", ALWAYS, EFAULT,
     region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, gap(0), 8192, 0))
CALL("mr: changed to remote write without local write", ALWAYS, EINVAL,
     region_again(g, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, IBV_ACCESS_REMOTE_WRITE))

CALL("mr: unmapped, then given to a domain", NOT_MLX5 | ALWAYS, 0,
     changed_later(g, PROT_NONE, IBV_ACCESS_LOCAL_WRITE, IBV_REREG_MR_CHANGE_PD, 0))
CALL("mr: unmapped, then opened for reading", NOT_MLX5 | ALWAYS, 0,
     changed_later(g, PROT_NONE, IBV_ACCESS_LOCAL_WRITE, IBV_REREG_MR_CHANGE_ACCESS,
		   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ))
CALL("mr: read-only memory made writable", NOT_DRIVEN | ALWAYS, EFAULT,
     changed_later(g, PROT_READ, 0, IBV_REREG_MR_CHANGE_ACCESS, IBV_ACCESS_LOCAL_WRITE))

/* ---- memory that may not be locked ---- */

#define PAGE   4096u
#define LOCKED (36 * PAGE) /* RIG_BUFFER twice, and four pages more */

void limit_locked_memory(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct rlimit limit = { LOCKED, LOCKED };
	struct __user_cap_data_struct data[2];

	must(!setrlimit(RLIMIT_MEMLOCK, &limit) && !syscall(SYS_capget, &header, data));
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	must(!syscall(SYS_capset, &header, data));
}

static int locked(struct objects *g, size_t length)
{
	return region(g, rig_map(LOCKED), length, IBV_ACCESS_LOCAL_WRITE);
}

static int locked_for_two_devices(struct objects *g)
{
	struct host *other = rig_host(1); /* registers RIG_BUFFER */
	int err = locked(g, 5 * PAGE);

	rig_free_host(other);
	return err;
}

static int locked_again(struct objects *g)
{
	struct ibv_mr *mr;

	for (int i = 0; i < 3; i++) {
		mr = ibv_reg_mr(g->host->pd, rig_map(LOCKED), 20 * PAGE, IBV_ACCESS_LOCAL_WRITE);
		if (!mr)
			return errno;
		must_eq(ibv_dereg_mr(mr), 0);
	}
	return 0;
}

static int moved_to(struct objects *g, size_t length)
{
	return region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, rig_map(LOCKED), length, 0);
}

CALL("memlock: off", NO_MEMLOCK, 0, locked(g, LOCKED))
CALL("memlock: as much as is allowed", MEMLOCK, 0, locked(g, 20 * PAGE))
CALL("memlock: one byte more", MEMLOCK, ENOMEM, locked(g, 20 * PAGE + 1))
CALL("memlock: parts of pages count as pages", MEMLOCK, ENOMEM,
     region(g, rig_map(LOCKED) + PAGE - 1, 19 * PAGE + 2, IBV_ACCESS_LOCAL_WRITE))
CALL("memlock: all devices count together", MEMLOCK, ENOMEM, locked_for_two_devices(g))
CALL("memlock: a deregistered region no longer counts", MEMLOCK, 0, locked_again(g))
CALL("memlock: a region that is moved counts once", MEMLOCK, 0, moved_to(g, 20 * PAGE))
CALL("memlock: moved to more", MEMLOCK, ENOMEM, moved_to(g, 20 * PAGE + 1))
