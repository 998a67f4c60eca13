/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Hostile write()s on two files of the connection manager, and hostile messages of another machine:
 * any sequence of them, valid or not, and clocks that jump ahead. Afterwards the files are closed,
 * and no id or group may be left.
 *
 * The input: commands of a number and flags, then the bytes of the request. Unless a flag says
 * otherwise, this program corrects what most commands have right: lengths, small ids, addresses
 * that exist, a response that can be written. The number FAR_MESSAGE stands for a message of the
 * other machine.
 */
#include "softhca_hca.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <base/bytes.h>
#include <cm/mad.h>
#include <proto.h>

#include <rdmacm/layouts.h>

#define MAX_BODY 400u
#define IDS	 8
#define ROOM	 4096
#define PORTS 7000 /* the first of four */
#define FAR_MESSAGE COMMANDS /* the number behind those of the commands */

enum flags {
	OTHER_FILE = 1,
	RAW_BODY = 2,	  /* the program corrects nothing in the request */
	RAW_COMMAND = 4,  /* the number is 4 bytes of the input */
	RAW_LENGTH = 8,	  /* the input gives both lengths */
	RAW_RESPONSE = 16, /* the input gives the response's address */
	ATTACHED = 32,	  /* the other file is attached, as for migration */
	CUT = 64,	  /* the last bytes are missing */
	LATER = 128,	  /* all timeouts expire before the command */
};

enum { OF_CONNECTIONS, OF_DATAGRAMS };

static const uint16_t spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IPOIB, RDMA_PS_IB };

static const uint32_t probe = SOFTHCA_MAGIC;

static struct cm_file *open_file(struct fuzz_hca *hca, uint32_t host)
{
	const struct softhca_hello hello = { .host = host, .probe = (uint64_t)(uintptr_t)&probe };
	struct cm_file *file;

	must(!cm_file_create(&hca->machine, &hello, dup(2), hca->ctx->client.pid, &file),
	     "no file");
	return file;
}

#define LOOPBACK 3 /* the byte that stands for 127.0.0.1 */

/* Writes one of a few addresses of either family, so that two ids often share one. */
static uint16_t put_address(uint8_t *at)
{
	uint8_t which = at[0], port = at[1] & 3;
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(port ? PORTS + port : 0) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = in.sin_port };

	if (which & 0x80)
		return 0; /* the input's own */
	if (which & 1)
		in.sin_addr.s_addr = htonl(which & 2 ? INADDR_LOOPBACK : 0xc6120001);
	if (which & 16)
		in.sin_addr.s_addr = htonl(0xef000000 | (which & 3));
	if (which & 4)
		in6.sin6_addr = in6addr_loopback;
	if (which & 8) {
		memcpy(at, &in6, sizeof(in6));
		return sizeof(in6);
	}
	memcpy(at, &in, sizeof(in));
	return sizeof(in);
}

static void correct(const struct fuzz_hca *hca, uint8_t *body, uint32_t command, uint8_t flags)
{
	const struct layout *layout = &layouts[command];
	uint16_t sizes[2] = { 0 };
	struct rdma_ucm_bind *bind = (void *)body;
	struct rdma_ucm_resolve_addr *resolve = (void *)body;
	struct rdma_ucm_create_id *create = (void *)body;
	struct rdma_ucm_join_mcast *join = (void *)body;

	for (int i = 0; i < 2; i++)
		sizes[i] = layout->address[i] ? put_address(body + layout->address[i] - 1) : 0;
	if (layout->id) {
		uint32_t id = body[layout->id - 1] % IDS;

		memcpy(body + layout->id - 1, &id, sizeof(id));
	}
	if (layout->response && !(flags & RAW_RESPONSE))
		memcpy(body + layout->response - 1, &hca->scratch, sizeof(hca->scratch));
	if (layout->uid)
		body[layout->uid - 1] = 1;
	if (layout->valid)
		body[layout->valid - 1] = 1;
	if (command == RDMA_USER_CM_CMD_CREATE_ID) {
		create->ps = spaces[create->ps % 4];
		create->qp_type = create->qp_type & 1 ? IBV_QPT_XRC_SEND : IBV_QPT_XRC_RECV;
	} else if (command == RDMA_USER_CM_CMD_BIND) {
		bind->addr_size = sizes[0];
		bind->reserved = 0;
	} else if (command == RDMA_USER_CM_CMD_RESOLVE_ADDR) {
		resolve->src_size = body[4] & 1 ? sizes[0] : 0;
		resolve->dst_size = sizes[1];
		resolve->reserved = 0;
	} else if (command == RDMA_USER_CM_CMD_JOIN_MCAST) {
		join->addr_size = sizes[0];
		join->join_flags &= 1;
	}
}

#define MAD_BYTES 64 /* of a message of another machine that the input gives */

static void hear_from_far(const struct fuzz_hca *hca, struct input *input)
{
	static const uint8_t attributes[] = { CM_REQ,  CM_REJ,	CM_REP,	     CM_RTU,
					      CM_DREQ, CM_DREP, CM_SIDR_REQ, CM_SIDR_REP };
	const uint8_t flags = take(input, 1);
	struct cm_far message = {
		.slid = fuzz_lid(hca, FUZZ_FAR),
		.dlid = hca->machine.device[0].port[1].lid,
		.family = flags & 1 ? AF_INET6 : AF_INET,
		.ps = spaces[flags >> 6],
		.qp_type = IBV_QPT_RC,
	};
	uint8_t *data = message.mad + CM_MAD_HEADER;

	take_bytes(input, data, MAD_BYTES);
	put16(message.mad + MAD_ATTRIBUTE, attributes[take(input, 1) % sizeof(attributes)]);
	if (!(flags & 2)) {
		put32(data + FROM_ID, take(input, 1) % IDS);
		put32(data + TO_ID, take(input, 1) % IDS);
		put64(data + REQ_SERVICE, PORTS + take(input, 1) % 4);
	}
	if (flags & 4)
		take_bytes(input, &message, offsetof(struct cm_far, mad));
	fuzz_deliver(cm_far_take, &message,
		     flags & 8 ? take(input, 2) % sizeof(message) : sizeof(message));
}

struct message {
	struct rdma_ucm_cmd_hdr hdr;
	uint8_t body[MAX_BODY];
};

static void one_command(struct fuzz_hca *hca, struct input *input, struct cm_file *const *files,
			uint32_t command)
{
	struct message message = { 0 };
	uint8_t flags = take(input, 1);
	size_t body = layouts[command].size, length;

	take_bytes(input, message.body, flags & RAW_BODY ? body : body < 24 ? body : 24);
	if (!(flags & RAW_BODY))
		correct(hca, message.body, command, flags);
	message.hdr.cmd = flags & RAW_COMMAND ? take(input, 4) : command;
	message.hdr.in = flags & RAW_LENGTH ? take(input, 2) : (uint16_t)body;
	message.hdr.out = flags & RAW_LENGTH ? take(input, 2) : ROOM;
	length = sizeof(message.hdr) + body;
	if (flags & CUT)
		length -= take(input, 1) % length;
	if (flags & LATER)
		timer_run(&hca->machine.timers, UINT64_MAX - 1);
	count_accepted(
		!cm_execute(files[flags & OTHER_FILE], &message, length,
			    flags & ATTACHED ? files[!(flags & OTHER_FILE)]->wake_peer_fd : -1));
}

/* ---- the first steps of a connection; the input says how many ---- */

struct step {
	uint8_t file, command, id;
	bool valid; /* the connection parameters of ACCEPT */
	bool any; /* the wildcard for an address */
};

static const struct step steps[] = {
	{ 0, RDMA_USER_CM_CMD_CREATE_ID, 0, false },
	{ 0, RDMA_USER_CM_CMD_BIND_IP, 0, false },
	{ 0, RDMA_USER_CM_CMD_LISTEN, 0, false },
	{ 1, RDMA_USER_CM_CMD_CREATE_ID, 0, false },
	{ 1, RDMA_USER_CM_CMD_RESOLVE_IP, 1, false },
	{ 1, RDMA_USER_CM_CMD_RESOLVE_ROUTE, 1, false },
	{ 1, RDMA_USER_CM_CMD_CONNECT, 1, false },
	{ 0, RDMA_USER_CM_CMD_GET_EVENT, 0, false },
	{ 0, RDMA_USER_CM_CMD_ACCEPT, 2, true },
	{ 1, RDMA_USER_CM_CMD_ACCEPT, 1, false },
	{ 1, RDMA_USER_CM_CMD_DISCONNECT, 1, false },
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

static void take_step(const struct fuzz_hca *hca, const struct step *step,
		      struct cm_file *const *files, uint8_t space)
{
	const struct layout *layout = &layouts[step->command];
	struct message message = { { step->command, layout->size, ROOM }, { 0 } };
	uint16_t address = layout->address[layout->address[1] != 0];

	if (layout->id)
		message.body[layout->id - 1] = (uint8_t)(step->id + 1); /* the first id is 1 */
	if (address)
		memcpy(message.body + address - 1, (uint8_t[]){ step->any ? 0 : LOOPBACK, 1 }, 2);
	if (step->command == RDMA_USER_CM_CMD_CREATE_ID)
		((struct rdma_ucm_create_id *)message.body)->ps = space;
	if (step->command == RDMA_USER_CM_CMD_ACCEPT)
		((struct rdma_ucm_accept *)message.body)->conn_param.valid = step->valid;
	correct(hca, message.body, step->command, 0);
	must(!cm_execute(files[step->file], &message, sizeof(message.hdr) + layout->size, -1),
	     "a step of the connection was refused");
}

/* A datagram id's active side accepts nothing, and has nothing to disconnect. */
static void begin(const struct fuzz_hca *hca, struct cm_file *const *files, uint8_t choice)
{
	uint8_t space = choice & 0x80 ? OF_DATAGRAMS : OF_CONNECTIONS;
	size_t count = choice % (space == OF_DATAGRAMS ? STEPS - 1 : STEPS + 1);

	for (size_t i = 0; i < count; i++)
		take_step(hca, &steps[i], files, space);
}

/* ---- once: what the messages of other machines must not do ---- */

static unsigned int ids_after(const struct fuzz_hca *hca, const struct cm_far *message)
{
	fuzz_sent = 0;
	fuzz_deliver(cm_far_take, message, sizeof(*message));
	return hca->machine.cm->numbers.used;
}

static void check_machines(struct fuzz_hca *hca)
{
	static const struct step listen[] = {
		{ 0, RDMA_USER_CM_CMD_CREATE_ID, 0, false, false },
		{ 0, RDMA_USER_CM_CMD_BIND_IP, 0, false, true },
		{ 0, RDMA_USER_CM_CMD_LISTEN, 0, false, false },
	};
	struct cm_file *const files[] = { open_file(hca, SOFTHCA_EVERY_HOST) };
	struct cm_far message = { .slid = fuzz_lid(hca, FUZZ_FAR),
				  .dlid = hca->machine.device[0].port[1].lid,
				  .family = AF_INET,
				  .ps = RDMA_PS_TCP,
				  .qp_type = IBV_QPT_RC,
				  .from = 5 };
	uint8_t *data = message.mad + CM_MAD_HEADER;

	for (size_t i = 0; i < sizeof(listen) / sizeof(listen[0]); i++)
		take_step(hca, &listen[i], files, OF_CONNECTIONS);
	put16(message.mad + MAD_ATTRIBUTE, CM_REQ);
	put32(data + FROM_ID, 9);
	put64(data + REQ_SERVICE, PORTS + 1);
	must(ids_after(hca, &message) == 2, "a request that made no id");
	must(ids_after(hca, &message) == 2, "a repeated request made an id");
	message.from = 6;
	must(ids_after(hca, &message) == 3, "a request of the machine's next daemon made no id");
	put32(data + FROM_ID, 10);
	message.to = hca->machine.cm->incarnation ^ 2;
	must(ids_after(hca, &message) == 3, "a request for the daemon before this one made an id");
	message.to = 0;
	message.slid = fuzz_lid(hca, FUZZ_THIRD);
	must(ids_after(hca, &message) == 3, "a machine has spoken for another one");
	message.slid = fuzz_lid(hca, FUZZ_FAR);
	message.to = hca->machine.cm->incarnation ^ 2;
	put16(message.mad + MAD_ATTRIBUTE, CM_DREQ);
	ids_after(hca, &message);
	must(fuzz_sent == sizeof(message), "who waits for an id that has gone heard nothing");
	cm_file_destroy(files[0]);
}

/* The descriptor has at most one byte to read for each event, and none without events. */
static void check_readable(const struct cm_file *file)
{
	unsigned int events = list_length(&file->events);

	must(events == file->waiting && file->rung <= events && !events == !file->rung,
	     "the descriptor is readable without an event, or not with one");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool checked;
	struct fuzz_hca *hca = fuzz_hca_begin();
	struct hca_cm *cm = hca->machine.cm;
	struct input input = { data, size };
	struct cm_file *files[2];

	cm->numbers.next = cm->numbers.first;
	if (!checked)
		check_machines(hca);
	checked = true;
	cm->numbers.next = cm->numbers.first;
	cm->joins.next = cm->joins.first;
	cm->last_free = 0;
	files[0] = open_file(hca, SOFTHCA_EVERY_HOST);
	files[1] = open_file(hca, 0);
	begin(hca, files, take(&input, 1));
	for (int i = 0; input.left && i < 200; i++) {
		uint32_t command = take(&input, 1) % (COMMANDS + 1);

		if (command == FAR_MESSAGE)
			hear_from_far(hca, &input);
		else
			one_command(hca, &input, files, command);
		check_readable(files[0]);
		check_readable(files[1]);
	}
	cm_file_destroy(files[0]);
	cm_file_destroy(files[1]);
	must(list_empty(&cm->files) && list_empty(&cm->ids) && !cm->numbers.used,
	     "ids are left over");
	must(list_empty(&cm->groups) && !cm->group_lids.used && !cm->joins.used,
	     "groups are left over");
	fuzz_hca_end(hca);
	return 0;
}
