/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Commands that no library would write: too short, unknown, with wild pointers, or with ids that do
 * not exist.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_SUCH_ID  0x0badf00d
#define WILD	    0xdead0000dead0000ull
#define NOWHERE	    0xff /* the offset of a field that a command lacks */

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

struct layout {
	const char *name;
	uint32_t cmd;
	size_t size, least; /* of the command: in full, and as short as it is accepted */
	size_t out;	    /* the shortest response */
	size_t id, address; /* offsets of the id and of the response's address */
};

#define COMMAND(name) #name, RDMA_USER_CM_CMD_##name
#define ID(type)  offsetof(struct rdma_ucm_##type, id)
#define IN(type)  sizeof(struct rdma_ucm_##type)

static const struct layout layouts[] = {
	{ COMMAND(CREATE_ID), IN(create_id), IN(create_id), 4, NOWHERE, 8 },
	{ COMMAND(DESTROY_ID), IN(destroy_id), 12, 4, ID(destroy_id), 0 },
	{ COMMAND(BIND_IP), IN(bind_ip), IN(bind_ip), 0, ID(bind_ip), NOWHERE },
	{ COMMAND(RESOLVE_IP), IN(resolve_ip), IN(resolve_ip), 0, ID(resolve_ip), NOWHERE },
	{ COMMAND(RESOLVE_ROUTE), 8, 8, 0, 0, NOWHERE },
	{ COMMAND(QUERY_ROUTE), IN(query), 12,
	  offsetof(struct rdma_ucm_query_route_resp, ibdev_index), ID(query), 0 },
	{ COMMAND(CONNECT), IN(connect), IN(connect) - 8, 0, ID(connect), NOWHERE },
	{ COMMAND(LISTEN), 8, 8, 0, 0, NOWHERE },
	{ COMMAND(ACCEPT), IN(accept), IN(accept) - 8, 0, ID(accept), NOWHERE },
	{ COMMAND(REJECT), IN(reject), IN(reject), 0, 0, NOWHERE },
	{ COMMAND(DISCONNECT), 4, 4, 0, 0, NOWHERE },
	{ COMMAND(INIT_QP_ATTR), IN(init_qp_attr), IN(init_qp_attr), 144, ID(init_qp_attr), 0 },
	{ COMMAND(GET_EVENT), 8, 8, 304, NOWHERE, NOWHERE },
	{ COMMAND(SET_OPTION), IN(set_option), IN(set_option), 0, ID(set_option), NOWHERE },
	{ COMMAND(NOTIFY), 8, 8, 0, 0, NOWHERE },
	{ COMMAND(QUERY), IN(query), IN(query),
	  offsetof(struct rdma_ucm_query_addr_resp, ibdev_index), ID(query), 0 },
	{ COMMAND(BIND), IN(bind), IN(bind), 0, 0, NOWHERE },
	{ COMMAND(RESOLVE_ADDR), IN(resolve_addr), IN(resolve_addr), 0, 0, NOWHERE },
};

#define COMMANDS (sizeof(layouts) / sizeof(layouts[0]))

static const struct sockaddr_in any_address = { .sin_family = AF_INET };
static struct sockaddr_in loopback = { .sin_family = AF_INET };

/* Fills in the fields that each command checks before it looks at the response. */
static void fill(const struct layout *layout, uint8_t *body, uint32_t id)
{
	struct rdma_ucm_connect *connect = (void *)body;
	struct rdma_ucm_create_id *create = (void *)body;
	struct rdma_ucm_bind_ip *bind_ip = (void *)body;
	struct rdma_ucm_bind *bind = (void *)body;
	struct rdma_ucm_resolve_ip *resolve_ip = (void *)body;
	struct rdma_ucm_resolve_addr *resolve_addr = (void *)body;
	uint64_t address = (uint64_t)(uintptr_t)response;

	memset(body, 0, layout->size);
	if (layout->cmd == RDMA_USER_CM_CMD_CREATE_ID)
		create->ps = RDMA_PS_TCP;
	else if (layout->cmd == RDMA_USER_CM_CMD_CONNECT)
		connect->conn_param.valid = 1;
	else if (layout->cmd == RDMA_USER_CM_CMD_BIND_IP)
		memcpy(&bind_ip->addr, &any_address, sizeof(any_address));
	else if (layout->cmd == RDMA_USER_CM_CMD_RESOLVE_IP)
		memcpy(&resolve_ip->dst_addr, &any_address, sizeof(any_address));
	if (layout->cmd == RDMA_USER_CM_CMD_BIND) {
		memcpy(&bind->addr, &any_address, sizeof(any_address));
		bind->addr_size = sizeof(any_address);
	} else if (layout->cmd == RDMA_USER_CM_CMD_RESOLVE_ADDR) {
		memcpy(&resolve_addr->dst_addr, &any_address, sizeof(any_address));
		resolve_addr->dst_size = sizeof(any_address);
	}
	if (layout->id != NOWHERE)
		memcpy(body + layout->id, &id, sizeof(id));
	if (layout->address != NOWHERE)
		memcpy(body + layout->address, &address, sizeof(address));
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
static void check_layout(const char *what, const struct layout *layout, const uint8_t *body,
			 size_t length, size_t out, int wanted)
{
	check(what, layout->name, send_command(ours, layout->cmd, body, length, out), wanted);
}

static void try_layout(const struct layout *layout)
{
	uint32_t foreign = create_id(other), id = bound_id();
	uint64_t wild = WILD;
	uint8_t body[1024];

	fill(layout, body, NO_SUCH_ID);
	check_layout("too short", layout, body, layout->least - 1, 512, EINVAL);
	check("length in the header too long", layout->name,
	      send_raw(ours, layout->cmd, body, layout->size, layout->size + 1, 512), EINVAL);
	if (layout->id != NOWHERE) {
		check_layout("unknown id", layout, body, layout->size, 512, ENOENT);
		check_layout("unknown id in a longer command", layout, body, layout->size + 100,
			     512, ENOENT);
		fill(layout, body, foreign);
		check_layout("id of another file", layout, body, layout->size, 512, EINVAL);
	}
	fill(layout, body, id);
	if (layout->out)
		check_layout("too little room", layout, body, layout->size, layout->out - 1,
			     ENOSPC);
	if (layout->address == NOWHERE)
		return;
	memcpy(body + layout->address, &wild, sizeof(wild));
	check_layout("wild response", layout, body, layout->size, 512, EFAULT);
}

/* ---- checks of single commands ---- */

static void try_numbers(void)
{
	uint8_t body[8] = { 0 };

	EXPECT("not implemented", GET_OPTION, body, 0, ENOSYS);
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
	for (size_t i = 0; i < COMMANDS; i++)
		try_layout(&layouts[i]);
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
