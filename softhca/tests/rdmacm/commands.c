/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands that no library would write: too short, unknown, with wild pointers, or with ids that do
 * not exist.
 */
#include "layouts.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_SUCH_ID  0x0badf00d
#define WILD	    0xdead0000dead0000ull

static int ours, other; /* two files */
static uint64_t response[128];
static int failures, ran;

static void check(const char *what, const char *command, int got, int wanted)
{
	ran++;
	if (got == wanted)
		return;
	printf("FAIL %s, %s: got %s, expected %s\n", command, what,
	       got ? strerrorname_np(got) : "success",
	       wanted ? strerrorname_np(wanted) : "success");
	failures++;
}

/*
 * One write() of @length bytes: a header that says @in and @out, then @body. 0 or errno; a short
 * write is EIO.
 */
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

static int send_command(int fd, uint32_t cmd, const void *body, size_t length, size_t out)
{
	return send_raw(fd, cmd, body, length, length, out);
}

/* Sends the whole of @body to our file, with room for @out bytes of response. */
#define EXPECT(what, command, body, out, wanted) \
	check(what, #command, \
	      send_command(ours, RDMA_USER_CM_CMD_##command, &(body), sizeof(body), out), wanted)

static const struct sockaddr_in any_address = { .sin_family = AF_INET };
static struct sockaddr_in loopback = { .sin_family = AF_INET };

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

static uint32_t create_id(int fd)
{
	struct rdma_ucm_create_id in = { .uid = 1,
					 .response = (uint64_t)(uintptr_t)response,
					 .ps = RDMA_PS_TCP };
	int err = send_command(fd, RDMA_USER_CM_CMD_CREATE_ID, &in, sizeof(in), 4);

	if (err) {
		fprintf(stderr, "commands: CREATE_ID: %s\n", strerror(err));
		exit(EXIT_FAILURE);
	}
	return (uint32_t)response[0];
}

/* An id of our file. It is bound to a device, so each command gets as far as its response. */
static uint32_t bound_id(void)
{
	struct rdma_ucm_bind_ip in = { .id = create_id(ours) };

	memcpy(&in.addr, &loopback, sizeof(loopback));
	EXPECT("loopback address", BIND_IP, in, 0, 0);
	return in.id;
}

/* Sends the first @length bytes of @body, or more, with room for @out bytes of response. */
static void check_layout(const char *what, uint32_t cmd, const uint8_t *body, size_t length,
			 size_t out, int wanted)
{
	check(what, layouts[cmd].name, send_command(ours, cmd, body, length, out), wanted);
}

/* Not for GET_OPTION, LEAVE_MCAST and MIGRATE_ID, which check other things first. */
static void try_layout(uint32_t cmd)
{
	const struct layout *layout = &layouts[cmd];
	uint32_t foreign = create_id(other), id = bound_id();
	uint64_t wild = WILD;
	uint8_t body[1024];

	fill(cmd, body, NO_SUCH_ID);
	check_layout("too short", cmd, body, (size_t)layout->size - layout->late - 1, 512, EINVAL);
	check("length in the header too long", layout->name,
	      send_raw(ours, cmd, body, layout->size, (size_t)layout->size + 1, 512), EINVAL);
	if (layout->id) {
		check_layout("unknown id", cmd, body, layout->size, 512, ENOENT);
		check_layout("unknown id in a longer command", cmd, body,
			     (size_t)layout->size + 100, 512, ENOENT);
		fill(cmd, body, foreign);
		check_layout("id of another file", cmd, body, layout->size, 512, EINVAL);
	}
	if (!layout->out)
		return;
	fill(cmd, body, id);
	check_layout("too little room", cmd, body, layout->size, (size_t)layout->out - 1, ENOSPC);
	/* Without an event or a datagram id these do not look at the response. */
	if (cmd == RDMA_USER_CM_CMD_GET_EVENT || cmd == RDMA_USER_CM_CMD_JOIN_IP_MCAST ||
	    cmd == RDMA_USER_CM_CMD_JOIN_MCAST)
		return;
	memcpy(body + layout->response - 1, &wild, sizeof(wild));
	check_layout("wild response", cmd, body, layout->size, 512, EFAULT);
}

/* ---- checks of single commands ---- */

static void try_numbers(void)
{
	uint8_t body[8] = { 0 };

	EXPECT("a command that the kernel lacks", GET_OPTION, body, 0, ENOSYS);
	check("beyond the last", "23", send_command(ours, 23, body, 8, 0), EINVAL);
	check("beyond the last", "0xffffffff", send_command(ours, UINT32_MAX, body, 8, 0), EINVAL);
}

static void try_writes(void)
{
	static const uint8_t zeroes[8192];
	const void *volatile wild = (const void *)16;

	check("7 bytes", "write", write(ours, zeroes, 7) < 0 ? errno : 0, EINVAL);
	check("longer than any command", "write",
	      write(ours, zeroes, sizeof(zeroes)) < 0 ? errno : 0, EINVAL);
	check("0 bytes", "write", write(ours, zeroes, 0) < 0 ? errno : 0, EINVAL);
	check("wild message", "write", write(ours, wild, 32) < 0 ? errno : 0, EFAULT);
}

static void try_event(void)
{
	struct rdma_ucm_resolve_ip resolve = { .id = create_id(ours) };
	struct rdma_ucm_get_event get = { WILD };

	EXPECT("no event", GET_EVENT, get, 512, EAGAIN);
	memcpy(&resolve.dst_addr, &loopback, sizeof(loopback));
	EXPECT("loopback address", RESOLVE_IP, resolve, 0, 0);
	EXPECT("wild response", GET_EVENT, get, 512, EFAULT);
	get.response = (uint64_t)(uintptr_t)response;
	EXPECT("event kept after EFAULT", GET_EVENT, get, 512, 0);
}

static void try_option(void)
{
	struct rdma_ucm_set_option option = { .optval = WILD, .id = create_id(ours), .optlen = 1 };
	struct rdma_ucm_set_option path = { .optval = WILD,
					    .id = option.id,
					    .level = RDMA_OPTION_IB,
					    .optname = RDMA_OPTION_IB_PATH,
					    .optlen = sizeof(struct ib_path_rec_data) };

	EXPECT("wild value", SET_OPTION, option, 0, EFAULT);
	EXPECT("wild path", SET_OPTION, path, 0, EFAULT);
	path.optlen = 0x7fffffff;
	EXPECT("path of 2 GB", SET_OPTION, path, 0, EINVAL);
}

static int migrate(uint32_t id, int from)
{
	struct rdma_ucm_migrate_id in = { (uint64_t)(uintptr_t)response, id, (uint32_t)from };

	return send_command(ours, RDMA_USER_CM_CMD_MIGRATE_ID, &in, sizeof(in), 4);
}

static void try_migration(void)
{
	uint32_t foreign = create_id(other);

	check("from no file", "MIGRATE_ID", migrate(foreign, -1), ENOENT);
	check("from a closed file", "MIGRATE_ID", migrate(foreign, 999), ENOENT);
	check("from another kind of file", "MIGRATE_ID", migrate(foreign, 0), EINVAL);
	check("of an unknown id", "MIGRATE_ID", migrate(NO_SUCH_ID, other), ENOENT);
	check("to its own file", "MIGRATE_ID", migrate(foreign, ours), EINVAL);
	check("from its own file", "MIGRATE_ID", migrate(foreign, other), 0);
	check("from the file that it has left", "MIGRATE_ID", migrate(foreign, other), EINVAL);
}

/* Invalid fields, and ids that lack a device or a route. */
static void try_fields(void)
{
	struct rdma_ucm_bind bind = { .id = create_id(ours), .addr_size = sizeof(any_address) };
	struct rdma_ucm_query query = { (uint64_t)(uintptr_t)response, bind.id, 3 };
	struct rdma_ucm_reject reject = { .id = bound_id(), .reason = 1 };
	struct rdma_ucm_init_qp_attr attr = { (uint64_t)(uintptr_t)response, reject.id, 7 };
	struct rdma_ucm_connect connect = { .id = reject.id };
	struct rdma_ucm_query route = { (uint64_t)(uintptr_t)response, reject.id, 0 };
	struct rdma_ucm_query_route_resp answer;

	EXPECT("unknown family", BIND, bind, 0, EINVAL);
	memcpy(&bind.addr, &any_address, sizeof(any_address));
	bind.addr_size++;
	EXPECT("wrong size", BIND, bind, 0, EINVAL);
	EXPECT("unknown option", QUERY, query, 512, ENOSYS);
	EXPECT("unknown reason", REJECT, reject, 0, EINVAL);
	EXPECT("unknown state", INIT_QP_ATTR, attr, 512, EINVAL);
	attr.id = bind.id;
	attr.qp_state = 1;
	EXPECT("an id without a device", INIT_QP_ATTR, attr, 512, EINVAL);
	EXPECT("an id without a route", QUERY_ROUTE, route, 512, 0);
	memcpy(&answer, response, sizeof(answer));
	check("paths of an id without a route", "QUERY_ROUTE", (int)answer.num_paths, 0);
	EXPECT("parameters that are not valid", CONNECT, connect, 0, EINVAL);
}

/* The file is a character device by its path and by its descriptor. */
static void try_stat(void)
{
	struct stat by_path, by_fd;

	check("stat", "file", stat("/dev/infiniband/rdma_cm", &by_path) ? errno : 0, 0);
	check("fstat", "file", fstat(ours, &by_fd) ? errno : 0, 0);
	check("a character device", "file",
	      S_ISCHR(by_path.st_mode) && S_ISCHR(by_fd.st_mode) ? 0 : EINVAL, 0);
}

int main(void)
{
	loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ours = open("/dev/infiniband/rdma_cm", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	other = open("/dev/infiniband/rdma_cm", O_RDWR | O_CLOEXEC);
	if (ours < 0 || other < 0) {
		perror("commands: /dev/infiniband/rdma_cm");
		return EXIT_FAILURE;
	}
	for (uint32_t cmd = 0; cmd < COMMANDS; cmd++) {
		if (cmd != RDMA_USER_CM_CMD_GET_OPTION && cmd != RDMA_USER_CM_CMD_LEAVE_MCAST &&
		    cmd != RDMA_USER_CM_CMD_MIGRATE_ID)
			try_layout(cmd);
	}
	try_numbers();
	try_writes();
	try_event();
	try_option();
	try_migration();
	try_fields();
	try_stat();
	printf("%d checks, %d failures\n", ran, failures);
	return failures || !ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
