/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The stand-ins of include/portable.h, compiled under other names. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_netlink.h>

/* The C library's name. If the C library has no such function, this is the stand-in, too. */
static const char *libc_name(int err)
{
	return strerrorname_np(err);
}

#undef XRC_COMPAT_PORTABLE_H
#undef HAVE_CLOSE_RANGE
#undef HAVE_IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION
#undef HAVE_IB_UVERBS_DEVICE_XRC
#undef HAVE_EPOLL_PWAIT2
#undef HAVE_FCNTL64
#undef HAVE_GETTID
#undef HAVE_MEMFD_CREATE
#undef HAVE_RDMA_NLDEV_CMD_RES_SRQ_GET
#undef HAVE_STRERRORNAME_NP
#define portable_close_range other_close_range
#define portable_epoll_pwait2 other_epoll_pwait2
#define portable_gettid other_gettid
#define portable_memfd_create other_memfd_create
#define portable_strerrorname_np other_strerrorname_np
#define HAVE_IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION 1
#define HAVE_IB_UVERBS_DEVICE_XRC 1
#define HAVE_RDMA_NLDEV_CMD_RES_SRQ_GET 1
#include <include/portable.h>

#include "../unit.h"

TEST(strerrorname_np_returns_the_names_of_the_c_library)
{
	for (int err = 0; err < 200; err++) {
		const char *name = libc_name(err), *other = other_strerrorname_np(err);

		if (name)
			assert_string_equal(other ? other : "(none)", name);
		else
			assert_null(other);
	}
	assert_null(other_strerrorname_np(-1));
}

TEST(constants_have_the_values_of_the_kernels_headers)
{
#define ROW(NAME, BIT) assert_int_equal(IB_UVERBS_DEVICE_##NAME, 1 << BIT);
	PORTABLE_DEVICE_BITS(ROW)
#undef ROW
	assert_int_equal(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION, PORTABLE_CQ_TIMESTAMP);
#define ROW(NAME, NUMBER) assert_int_equal(RDMA_NLDEV_##NAME, NUMBER);
	PORTABLE_NETLINK(ROW)
#undef ROW
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

TEST(fcntl_passes_its_arguments_on_and_sets_errno)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
	assert_int_equal(fcntl(fd, F_GETFD), 0);
	close(fd);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
}

TEST(close_range_closes_this_range_only)
{
	for (int fd = 100; fd < 106; fd++)
		assert_int_equal(dup2(0, fd), fd);
	assert_int_equal(other_close_range(101, 103, 0), 0);
	for (int fd = 100; fd < 106; fd++)
		assert_int_equal(is_open(fd), fd < 101 || fd > 103);
	assert_int_equal(other_close_range(104, ~0u, 0), 0);
	assert_true(is_open(100) && !is_open(104) && !is_open(105) && is_open(0));
	close(100);
	assert_int_equal(other_close_range(104, ~0u, 4), -1);
	assert_int_equal(errno, EINVAL);
}

static int64_t microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

TEST(epoll_pwait2_waits_for_at_least_its_timeout)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = 7 }, got;
	const struct timespec timeout = { .tv_nsec = 300000 };
	int poll_fd = epoll_create1(0), fd = eventfd(0, 0);
	int64_t before;

	assert_int_equal(epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event), 0);
	before = microseconds();
	assert_int_equal(other_epoll_pwait2(poll_fd, &got, 1, &timeout, NULL), 0);
	assert_true(microseconds() - before >= 300);
	assert_int_equal(eventfd_write(fd, 1), 0);
	assert_int_equal(other_epoll_pwait2(poll_fd, &got, 1, NULL, NULL), 1);
	assert_int_equal(got.data.u32, 7);
	close(fd);
	close(poll_fd);
}

UNIT_MAIN(NULL, NULL)
