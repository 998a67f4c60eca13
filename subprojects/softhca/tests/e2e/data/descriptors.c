/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The descriptors of an opened device: what a program without free ones gets, what a cancelled
 * thread leaves, and commands that are written as libibverbs of today does not write them.
 */
#include <e2e/rig.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <sys/resource.h>
#include <unistd.h>

static bool open_and_close(struct ibv_device *device)
{
	struct ibv_context *ctx = ibv_open_device(device);
	struct ibv_comp_channel *channel = ctx ? ibv_create_comp_channel(ctx) : NULL;

	return (!channel || !ibv_destroy_comp_channel(channel)) && (!ctx || !ibv_close_device(ctx));
}

/* With any number of free descriptors a program gets its own, and the others stay open. */
ROW("descriptors run out")
{
	struct ibv_device *device = rig_host(0)->ctx->device;
	int next = dup(STDIN_FILENO);
	struct rlimit usual, few;

	must(next > 0 && !close(next) && !getrlimit(RLIMIT_NOFILE, &usual));
	few = usual;
	for (few.rlim_cur = (rlim_t)next; few.rlim_cur < (rlim_t)next + 8; few.rlim_cur++) {
		must(!setrlimit(RLIMIT_NOFILE, &few));
		must(open_and_close(device));
		must(!setrlimit(RLIMIT_NOFILE, &usual));
		must_eq(dup(STDIN_FILENO), next);
		must(!close(next));
	}
}

static void *open_for_ever(void *cancel)
{
	for (;;) {
		int fd = open("/dev/infiniband/uverbs0", O_RDWR);

		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
		must(!close(fd));
		pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, cancel);
	}
	return NULL;
}

static int descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

ROW("a cancelled open leaves no descriptor")
{
	int before, cancel;
	pthread_t thread;

	rig_host(0);
	before = descriptors();
	for (int i = 0; i < 20; i++) {
		must_eq(pthread_create(&thread, NULL, open_for_ever, &cancel), 0);
		usleep(1000);
		must_eq(pthread_cancel(thread), 0);
		must_eq(pthread_join(thread, NULL), 0);
	}
	must_eq(descriptors(), before);
}

static void *close_cancelled(void *fd)
{
	must_eq(pthread_cancel(pthread_self()), 0);
	must(!close(*(int *)fd));
	return NULL;
}

ROW("a cancelled close leaves no descriptor")
{
	int before, fd;
	pthread_t thread;

	rig_host(0);
	before = descriptors();
	fd = open("/dev/infiniband/uverbs0", O_RDWR);
	must_eq(pthread_create(&thread, NULL, close_cancelled, &fd), 0);
	must_eq(pthread_join(thread, NULL), 0);
	must_eq(descriptors(), before);
}

/* ---- writes that libibverbs of today does not make ---- */

struct destroy_cq {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_destroy_cq body;
};

static int write_destruction(int fd, const struct ibv_cq *cq, size_t size)
{
	struct ib_uverbs_destroy_cq_resp resp;
	const struct destroy_cq cmd = {
		.hdr = { IB_USER_VERBS_CMD_DESTROY_CQ, (uint16_t)(size / 4), sizeof(resp) / 4 },
		.body = { .response = (uint64_t)(uintptr_t)&resp, .cq_handle = cq->handle },
	};
	const ssize_t done = write(fd, &cmd, size);

	must(done < 0 || (size_t)done == size);
	return done < 0 ? errno : 0;
}

ROW("a CQ is destroyed by the short command of rdma-core 18")
{
	struct ibv_context *ctx = rig_host(0)->ctx;
	struct ibv_cq *cq = MADE(ibv_create_cq(ctx, 1, NULL, NULL, 0));

	must_eq(write_destruction(ctx->cmd_fd, cq, 20), EINVAL);
	must_eq(write_destruction(ctx->cmd_fd, cq, 16), 0);
	must_eq(write_destruction(ctx->cmd_fd, cq, 16), ENOENT);
}

ROW("a write to a duplicate of the device is not lost unseen")
{
	struct ibv_context *ctx = rig_host(0)->ctx;
	struct ibv_cq *cq = MADE(ibv_create_cq(ctx, 1, NULL, NULL, 0));

	must_eq(write_destruction(dup(ctx->cmd_fd), cq, sizeof(struct destroy_cq)), EPERM);
	must_eq(ibv_destroy_cq(cq), 0);
}
