// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Lists RDMA devices through libibverbs, which is loaded in a child only. */
#include "devices.h"

#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUT_SECONDS 15

/* The functions of libibverbs that are used here; looked up, so that the tool starts where there is none. */
struct verbs {
	struct ibv_device **(*get_device_list)(int *);
	const char *(*get_device_name)(struct ibv_device *);
	struct ibv_context *(*open_device)(struct ibv_device *);
	int (*query_device)(struct ibv_context *, struct ibv_device_attr *);
	int (*close_device)(struct ibv_context *);
};

static bool load(const char *library, struct verbs *verbs)
{
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle)
		return false;
	verbs->get_device_list = (struct ibv_device **(*)(int *))dlsym(handle, "ibv_get_device_list");
	verbs->get_device_name = (const char *(*)(struct ibv_device *))dlsym(handle, "ibv_get_device_name");
	verbs->open_device = (struct ibv_context *(*)(struct ibv_device *))dlsym(handle, "ibv_open_device");
	verbs->query_device = (int (*)(struct ibv_context *, struct ibv_device_attr *))dlsym(handle, "ibv_query_device");
	verbs->close_device = (int (*)(struct ibv_context *))dlsym(handle, "ibv_close_device");
	return verbs->get_device_list && verbs->get_device_name && verbs->open_device && verbs->query_device &&
	       verbs->close_device;
}

/* "mlx4" out of ".../libmlx4-rdmav34.so": the library that the data path functions of @context are in. */
static void driver_name(const struct ibv_context *context, char *name, size_t size)
{
	const char *file;
	Dl_info info;

	name[0] = '\0';
	if (!dladdr((const void *)context->ops.poll_cq, &info) || !info.dli_fname)
		return;
	file = strrchr(info.dli_fname, '/');
	file = file ? file + 1 : info.dli_fname;
	if (!strncmp(file, "lib", 3))
		file += 3;
	snprintf(name, size, "%.*s", (int)strcspn(file, "-."), file);
}

/* Asked for nothing, a driver that has the operation says EINVAL; the stand-in for a missing one says EOPNOTSUPP. */
static bool has_open_qp(struct ibv_context *context)
{
	struct ibv_qp_open_attr attr = { 0 };

	errno = 0;
	return !ibv_open_qp(context, &attr) && errno != EOPNOTSUPP && errno != ENOSYS;
}

static void describe(const struct verbs *verbs, struct ibv_device *ibv_device, struct device *device)
{
	struct ibv_context *context;
	struct ibv_device_attr attr = { 0 };

	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", verbs->get_device_name(ibv_device));
	errno = 0;
	context = verbs->open_device(ibv_device);
	if (!context) {
		device->error = errno ? errno : EIO;
		return;
	}
	device->opened = true;
	driver_name(context, device->driver, sizeof(device->driver));
	if (!verbs->query_device(context, &attr)) {
		snprintf(device->firmware, sizeof(device->firmware), "%.63s", attr.fw_ver);
		device->xrc = (attr.device_cap_flags & IBV_DEVICE_XRC) != 0;
		device->open_qp = device->xrc && has_open_qp(context);
	}
	verbs->close_device(context);
}

/* The child: writes one struct for each device, and says with its status whether that was all. */
static int child(const char *library, int out)
{
	struct ibv_device **list;
	struct verbs verbs;
	int count = 0;

	/* A driver that crashes here is reported; its core in the user's directory would help nobody. */
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
	if (!load(library, &verbs))
		return ENOENT;
	list = verbs.get_device_list(&count);
	for (int i = 0; list && i < count && i < DEVICES_MAX; i++) {
		struct device device;

		describe(&verbs, list[i], &device);
		if (write(out, &device, sizeof(device)) != sizeof(device))
			return EIO;
	}
	return 0;
}

static long milliseconds_until(const struct timespec *end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
}

/* 0 at the end of the stream. A struct is smaller than PIPE_BUF, so it arrives whole. */
static int receive(int in, struct device_list *list)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += TIMEOUT_SECONDS;
	for (;;) {
		struct pollfd pollfd = { .fd = in, .events = POLLIN };
		long left = milliseconds_until(&end);
		struct device device;
		ssize_t size;

		if (left <= 0 || poll(&pollfd, 1, (int)left) == 0)
			return -ETIMEDOUT;
		size = read(in, &device, sizeof(device));
		if (size == 0)
			return 0;
		if (size == sizeof(device) && list->count < DEVICES_MAX)
			list->device[list->count++] = device;
		else if (size >= 0 || errno != EINTR)
			return -EIO;
	}
}

int devices_read(const char *library, struct device_list *list)
{
	int status = 0;
	int result;
	int fd[2];
	pid_t pid;

	list->count = 0;
	fflush(NULL); /* or the child would print what is still buffered once more */
	if (pipe(fd))
		return -errno;
	pid = fork();
	if (pid < 0) {
		result = -errno;
		close(fd[0]);
		close(fd[1]);
		return result;
	}
	if (!pid) {
		close(fd[0]);
		_exit(child(library, fd[1]));
	}
	close(fd[1]);
	result = receive(fd[0], list);
	close(fd[0]);
	if (result)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!result && (!WIFEXITED(status) || WEXITSTATUS(status)))
		result = WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
	return result;
}

bool device_usable(const struct device *device)
{
	return device->opened && device->xrc;
}
