/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands that no library would write: too short, unknown, with wild pointers, or with ids that do
 * not exist.
 */
#define GROUP "commands"

#include "layouts.h"

#include <harness/row.h>

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NO_SUCH_ID  0x0badf00d
#define WILD	    0xdead0000dead0000ull
#define ROOM	    512 /* for a response */

static uint64_t response[128];
static const struct sockaddr_in any_address = { .sin_family = AF_INET };
static const struct sockaddr_in loopback = { .sin_family = AF_INET,
					    .sin_addr = { 0x0100007f } };
static const struct sockaddr_in group = { .sin_family = AF_INET, .sin_addr = { 0x010101ef } };

static int open_file(void)
{
	int fd = open("/dev/infiniband/rdma_cm", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	must(fd >= 0);
	return fd;
}

/* write() of a header that says @in and @out, and @length bytes of @body. Returns 0 or errno. */
static int send_raw(int fd, uint32_t cmd, const void *body, size_t length, size_t in, size_t out)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		uint8_t body[1024];
	} message = { { cmd, (uint16_t)in, (uint16_t)out }, { 0 } };
	ssize_t done;

	memcpy(message.body, body, length);
	done = write(fd, &message, sizeof(message.hdr) + length);
	if (done < 0)
		return errno;
	return (size_t)done == sizeof(message.hdr) + length ? 0 : EIO;
}

/* Sends the whole of @body, with room for a response. */
#define SEND(fd, command, body) \
	send_raw(fd, RDMA_USER_CM_CMD_##command, &(body), sizeof(body), sizeof(body), ROOM)

static uint32_t create(int fd, uint16_t ps, uint8_t qp_type)
{
	struct rdma_ucm_create_id in = {
		.uid = 1, .response = (uint64_t)(uintptr_t)response, .ps = ps, .qp_type = qp_type
	};

	must_eq(SEND(fd, CREATE_ID, in), 0);
	return (uint32_t)response[0];
}

static uint32_t create_id(int fd)
{
	return create(fd, RDMA_PS_TCP, 0);
}

static uint32_t bind_id(int fd, uint32_t id)
{
	struct rdma_ucm_bind_ip in = { .id = id };

	memcpy(&in.addr, &loopback, sizeof(loopback));
	must_eq(SEND(fd, BIND_IP, in), 0);
	return id;
}

/* The id has a device, so each command gets as far as its response. */
static uint32_t create_bound_id(int fd)
{
	return bind_id(fd, create_id(fd));
}

static uint32_t create_join(int fd)
{
	struct rdma_ucm_join_ip_mcast in = { .response = (uint64_t)(uintptr_t)response };

	in.id = bind_id(fd, create(fd, RDMA_PS_UDP, IBV_QPT_UD));
	memcpy(&in.addr, &group, sizeof(group));
	must_eq(SEND(fd, JOIN_IP_MCAST, in), 0);
	return (uint32_t)response[0];
}

/* What the command takes for an id. */
static uint32_t create_for(int fd, uint32_t cmd)
{
	return cmd == RDMA_USER_CM_CMD_LEAVE_MCAST ? create_join(fd) : create_bound_id(fd);
}

/* ---- each command by its layout ---- */

/* Fills in the fields that each command checks before it looks at the response. */
static void fill(uint32_t cmd, uint8_t *body, uint32_t id)
{
	const struct layout *layout = &layouts[cmd];
	uint16_t address = layout->address[layout->address[1] != 0];
	uint64_t at = (uint64_t)(uintptr_t)response;

	memset(body, 0, layout->size);
	if (cmd == RDMA_USER_CM_CMD_CREATE_ID)
		((struct rdma_ucm_create_id *)(void *)body)->ps = RDMA_PS_TCP;
	else if (cmd == RDMA_USER_CM_CMD_BIND)
		((struct rdma_ucm_bind *)(void *)body)->addr_size = sizeof(any_address);
	else if (cmd == RDMA_USER_CM_CMD_RESOLVE_ADDR)
		((struct rdma_ucm_resolve_addr *)(void *)body)->dst_size = sizeof(any_address);
	if (layout->valid)
		body[layout->valid - 1] = 1;
	if (address)
		memcpy(body + address - 1, &any_address, sizeof(any_address));
	if (layout->id)
		memcpy(body + layout->id - 1, &id, sizeof(id));
	if (layout->response)
		memcpy(body + layout->response - 1, &at, sizeof(at));
}

/* Sends the first @length bytes of @body, or more. */
static void check(const char *what, int fd, uint32_t cmd, const uint8_t *body, size_t length,
		  int wanted)
{
	int got = send_raw(fd, cmd, body, length, length, ROOM);

	if (got != wanted)
		row_fail(__FILE__, __LINE__, "%s, %s: %s", layouts[cmd].name, what, strerror(got));
}

static void check_room(int fd, uint32_t cmd, const struct layout *layout)
{
	uint64_t wild = WILD;
	uint8_t body[1024];

	fill(cmd, body, create_for(fd, cmd));
	must_eq(send_raw(fd, cmd, body, layout->size, layout->size, layout->out - 1u), ENOSPC);
	/* Without an event or a datagram id these do not look at the response. */
	if (cmd == RDMA_USER_CM_CMD_GET_EVENT || cmd == RDMA_USER_CM_CMD_JOIN_IP_MCAST ||
	    cmd == RDMA_USER_CM_CMD_JOIN_MCAST)
		return;
	memcpy(body + layout->response - 1, &wild, sizeof(wild));
	check("wild response", fd, cmd, body, layout->size, EFAULT);
}

static void check_layout(int fd, uint32_t cmd, int other)
{
	const struct layout *layout = &layouts[cmd];
	size_t size = layout->size;
	uint8_t body[1024];

	fill(cmd, body, NO_SUCH_ID);
	check("too short", fd, cmd, body, size - layout->late - 1, EINVAL);
	must_eq(send_raw(fd, cmd, body, size, size + 1, ROOM), EINVAL);
	if (layout->id) {
		check("unknown id", fd, cmd, body, size, ENOENT);
		check("unknown id in a longer command", fd, cmd, body, size + 100, ENOENT);
		fill(cmd, body, create_for(other, cmd));
		check("id of another file", fd, cmd, body, size, EINVAL);
	}
	if (layout->out)
		check_room(fd, cmd, layout);
}

ROW("each command checks its length, its id and its response")
{
	int ours = open_file(), other = open_file();

	/* Two commands check other things first. */
	for (uint32_t cmd = 0; cmd < COMMANDS; cmd++) {
		if (cmd != RDMA_USER_CM_CMD_GET_OPTION && cmd != RDMA_USER_CM_CMD_MIGRATE_ID)
			check_layout(ours, cmd, other);
	}
}

/* ---- single commands ---- */

ROW("unknown commands and writes of wrong lengths are refused")
{
	static const uint8_t zeroes[8192];
	const void *volatile wild = (const void *)16;
	int ours = open_file();

	must_eq(send_raw(ours, RDMA_USER_CM_CMD_GET_OPTION, zeroes, 8, 8, 0), ENOSYS);
	must_eq(send_raw(ours, 23, zeroes, 8, 8, 0), EINVAL);
	must_eq(send_raw(ours, UINT32_MAX, zeroes, 8, 8, 0), EINVAL);
	must_eq(write(ours, zeroes, 0) < 0 ? errno : 0, EINVAL);
	must_eq(write(ours, zeroes, 7) < 0 ? errno : 0, EINVAL);
	must_eq(write(ours, zeroes, sizeof(zeroes)) < 0 ? errno : 0, EINVAL);
	must_eq(write(ours, wild, 32) < 0 ? errno : 0, EFAULT);
}

ROW("an event that could not be written is kept")
{
	int ours = open_file();
	struct rdma_ucm_resolve_ip resolve_ip = { .id = create_id(ours) };
	struct rdma_ucm_get_event get = { WILD };

	must_eq(SEND(ours, GET_EVENT, get), EAGAIN);
	memcpy(&resolve_ip.dst_addr, &loopback, sizeof(loopback));
	must_eq(SEND(ours, RESOLVE_IP, resolve_ip), 0);
	must_eq(SEND(ours, GET_EVENT, get), EFAULT);
	get.response = (uint64_t)(uintptr_t)response;
	must_eq(SEND(ours, GET_EVENT, get), 0);
}

ROW("an option at a wild address or of 2 GB is refused")
{
	int ours = open_file();
	struct rdma_ucm_set_option option = { .optval = WILD, .id = create_id(ours), .optlen = 1 };
	struct rdma_ucm_set_option path = { .optval = WILD,
					    .id = option.id,
					    .level = RDMA_OPTION_IB,
					    .optname = RDMA_OPTION_IB_PATH,
					    .optlen = sizeof(struct ib_path_rec_data) };

	must_eq(SEND(ours, SET_OPTION, option), EFAULT);
	must_eq(SEND(ours, SET_OPTION, path), EFAULT);
	path.optlen = 0x7fffffff;
	must_eq(SEND(ours, SET_OPTION, path), EINVAL);
}

static int migrate(uint32_t id, int from, int to)
{
	struct rdma_ucm_migrate_id in = { (uint64_t)(uintptr_t)response, id, (uint32_t)from };

	return SEND(to, MIGRATE_ID, in);
}

ROW("an id moves only from its own file to another one")
{
	int ours = open_file(), other = open_file();
	uint32_t id = create_id(other);

	must_eq(migrate(id, -1, ours), ENOENT);
	must_eq(migrate(id, 999, ours), ENOENT);
	must_eq(migrate(id, 0, ours), EINVAL);
	must_eq(migrate(NO_SUCH_ID, other, ours), ENOENT);
	must_eq(migrate(id, ours, ours), EINVAL);
	must_eq(migrate(id, other, ours), 0);
	must_eq(migrate(id, other, ours), EINVAL);
}

ROW("invalid fields are refused")
{
	int ours = open_file();
	struct rdma_ucm_bind bind = { .id = create_id(ours), .addr_size = sizeof(any_address) };
	struct rdma_ucm_query query = { (uint64_t)(uintptr_t)response, bind.id, 3 };
	struct rdma_ucm_reject reject = { .id = create_bound_id(ours), .reason = 1 };
	struct rdma_ucm_init_qp_attr attr = { (uint64_t)(uintptr_t)response, reject.id, 7 };
	struct rdma_ucm_connect connect = { .id = reject.id };

	must_eq(SEND(ours, BIND, bind), EINVAL);
	memcpy(&bind.addr, &any_address, sizeof(any_address));
	bind.addr_size++;
	must_eq(SEND(ours, BIND, bind), EINVAL);
	must_eq(SEND(ours, QUERY, query), ENOSYS);
	must_eq(SEND(ours, REJECT, reject), EINVAL);
	must_eq(SEND(ours, INIT_QP_ATTR, attr), EINVAL);
	attr.id = bind.id;
	attr.qp_state = 1;
	must_eq(SEND(ours, INIT_QP_ATTR, attr), EINVAL);
	must_eq(SEND(ours, CONNECT, connect), EINVAL);
}

ROW("an id without a route has no path")
{
	int ours = open_file();
	struct rdma_ucm_query_route_resp answer = { .num_paths = 9 };
	struct rdma_ucm_query route = { (uint64_t)(uintptr_t)&answer, create_bound_id(ours), 0 };

	must_eq(SEND(ours, QUERY_ROUTE, route), 0);
	must_eq(answer.num_paths, 0);
}

ROW("the file is a character device by its path and by its descriptor")
{
	struct stat by_path, by_fd, by_empty_path;
	struct statx extended;
	int fd = open_file();

	must(!stat("/dev/infiniband/rdma_cm", &by_path));
	must(!fstat(fd, &by_fd));
	must(!fstatat(fd, "", &by_empty_path, AT_EMPTY_PATH));
	must(!statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &extended));
	must(S_ISCHR(by_path.st_mode));
	must(S_ISCHR(by_fd.st_mode));
	must(S_ISCHR(by_empty_path.st_mode));
	must(S_ISCHR(extended.stx_mode));
	must(by_empty_path.st_rdev == by_fd.st_rdev);
	must(makedev(extended.stx_rdev_major, extended.stx_rdev_minor) == by_fd.st_rdev);
}
