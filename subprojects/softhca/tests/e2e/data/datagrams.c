/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Datagrams and multicast: what the receiver finds before the data and in the completion, and which
 * QPs get a message. Also: receive errors of datagrams and of unreliable connections.
 */
#include <e2e/pair.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WRONG_QKEY 0x22222222u
#define GRH	   40u

/* A datagram from a to b with a GRH. The address handle is the caller's to destroy. */
static struct ibv_send_wr to_b(const struct pair *pair, uint32_t length)
{
	struct ibv_ah_attr attr = {
		.dlid = pair->b->lid, .port_num = 1, .is_global = 1, .sl = 5,
		.grh = { .flow_label = 0x54321, .traffic_class = 0xa7, .hop_limit = 9 },
	};

	must_eq(ibv_query_gid(pair->b->ctx, 1, 0, &attr.grh.dgid), 0);
	return pair_datagram(pair, &attr, length);
}

/*
 * A request whose Q_Key has its highest bit set is sent with the QP's own Q_Key, which the receiver
 * has here, too.
 */
ROW("only a datagram with the right Q_Key arrives")
{
	struct pair pair = pair_up(IBV_QPT_UD);
	static const uint32_t right[] = { RIG_QKEY, 0x80000000 };
	struct ibv_send_wr wr = to_b(&pair, 100);
	struct ibv_wc wc;

	pair_pattern(pair.a->buffer, 100, 8);
	wr.wr.ud.remote_qkey = WRONG_QKEY; /* dropped */
	must_eq(rig_post_recv(pair.b, pair.qb, 0, GRH + 100, 1), 0);
	must_eq(rig_post_recv(pair.b, pair.qb, 0, GRH + 100, 2), 0);
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	rig_must_be_quiet(pair.b->cq, 5);
	for (int i = 0; i < 2; i++) {
		wr.wr.ud.remote_qkey = right[i];
		memset(pair.b->buffer, 0, GRH + 100);
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		wc = rig_must_succeed(pair.b->cq);
		must_eq(wc.byte_len, GRH + 100);
		must_eq(wc.src_qp, pair.qa->qp_num);
		must_eq(wc.slid, pair.a->lid);
		must(wc.wc_flags & IBV_WC_GRH);
		must_eq(wc.sl, 5);
		must(!memcmp(pair.b->buffer + GRH, pair.a->buffer, 100));
	}
	must_eq(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

ROW("a datagram is at most one packet")
{
	struct pair pair = pair_up(IBV_QPT_UD);
	struct ibv_send_wr wr = pair_datagram(&pair, NULL, 4096);
	struct ibv_wc wc;

	must_eq(rig_post_recv(pair.b, pair.qb, 0, 8192, 1), 0);
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	wc = rig_must_succeed(pair.b->cq);
	must_eq(wc.byte_len, 4096 + GRH);
	wr.sg_list->length++;
	rig_must_send(pair.qa, &wr, IBV_WC_LOC_LEN_ERR);
	must_eq(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

/*
 * The payload length of a GRH counts what follows it: headers, data, the bytes that fill the last
 * word, and the ICRC.
 */
ROW("a GRH has the path and the payload length")
{
	struct pair pair = pair_up(IBV_QPT_UD);
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t length, payload;
	} rows[] = {
		{ IBV_WR_SEND, 100, 124 }, { IBV_WR_SEND, 101, 128 },
		{ IBV_WR_SEND_WITH_IMM, 100, 128 }, { IBV_WR_SEND, 0, 24 },
	};
	const uint8_t *grh = pair.b->buffer;
	struct ibv_send_wr wr = to_b(&pair, 0);
	union ibv_gid ours, theirs;

	must_eq(ibv_query_gid(pair.a->ctx, 1, 0, &ours), 0);
	must_eq(ibv_query_gid(pair.b->ctx, 1, 0, &theirs), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		wr.opcode = rows[i].opcode;
		wr.sg_list->length = rows[i].length;
		must_eq(rig_post_recv(pair.b, pair.qb, 0, 200, 1), 0);
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		rig_must_succeed(pair.b->cq);
		must(!memcmp(grh, (uint8_t[]){ 0x6a, 0x75, 0x43, 0x21 }, 4));
		must_eq(grh[4] << 8 | grh[5], rows[i].payload);
		must_eq(grh[6], 0x1b);
		must_eq(grh[7], 9);
		must(!memcmp(grh + 8, ours.raw, 16));
		must(!memcmp(grh + 24, theirs.raw, 16));
	}
	must_eq(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

/* ---- buffers that an unreliable message cannot use: only the receiver gets an error ---- */

/* A UC QP ignores the address handle, and writes no GRH. */
static void receiver_must_fail(const struct pair *pair, struct ibv_sge to,
			       enum ibv_wc_status status)
{
	struct ibv_send_wr wr = to_b(pair, 100);

	must_eq(rig_post_sge(pair->qb, NULL, to, 6), 0);
	rig_must_send(pair->qa, &wr, IBV_WC_SUCCESS);
	rig_must_complete(pair->b->cq, 6, status);
	must_eq(rig_state(pair->qb), IBV_QPS_ERR);
	must_eq(rig_state(pair->qa), IBV_QPS_RTS);
	must_eq(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

static void must_be_unusable(enum ibv_qp_type type, uint32_t length, uint32_t wrong_key,
			     enum ibv_wc_status status)
{
	struct pair pair = pair_up(type);
	struct ibv_sge to = { (uint64_t)(uintptr_t)pair.b->buffer, length,
			      pair.b->mr->lkey ^ wrong_key };

	receiver_must_fail(&pair, to, status);
	pair_tear_down(&pair);
}

ROW("an unusable buffer fails only at the receiver")
{
	must_be_unusable(IBV_QPT_UD, GRH + 99, 0, IBV_WC_LOC_LEN_ERR);
	must_be_unusable(IBV_QPT_UC, 99, 0, IBV_WC_LOC_LEN_ERR);
	must_be_unusable(IBV_QPT_UD, GRH + 100, 0x80, IBV_WC_LOC_PROT_ERR);
	must_be_unusable(IBV_QPT_UC, 100, 0x80, IBV_WC_LOC_PROT_ERR);
}

/* The memory of the data, or of the GRH, is no longer mapped. */
static void must_fail_unmapped(size_t at)
{
	struct pair pair = pair_up(IBV_QPT_UD);
	uint8_t *two = rig_map(8192);
	struct ibv_mr *mr = MADE(ibv_reg_mr(pair.b->pd, two, 8192, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_sge to = { (uint64_t)(uintptr_t)two + 4096 - GRH, GRH + 100, mr->lkey };

	must(!munmap(two + at, 4096));
	receiver_must_fail(&pair, to, IBV_WC_LOC_PROT_ERR);
	must_eq(ibv_dereg_mr(mr), 0);
	pair_tear_down(&pair);
}

ROW("an unmapped buffer fails only at the receiver")
{
	must_fail_unmapped(4096);
	must_fail_unmapped(0);
}

/* ---- multicast: which QPs get a message to a group, and which do not ---- */

#define LID	  0xc003
#define MCAST_QPN 0xffffff
#define BYTES	  100u

static const union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 7 } };

/* A QP on a host of its own, so that nothing else completes on its CQ. */
struct member {
	struct host *host;
	struct ibv_qp *qp;
};

/* With IBV_QP_CREATE_BLOCK_SELF_MCAST_LB the QP gets no copies of its own messages. */
static struct member new_member(int device, uint32_t create_flags)
{
	struct member member = { .host = rig_host(device) };
	const struct rig_link link = rig_link_to(0, 0);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = member.host->cq, .recv_cq = member.host->cq, .qp_type = IBV_QPT_UD,
		.pd = member.host->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.create_flags = create_flags,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	member.qp = MADE(ibv_create_qp_ex(member.host->ctx, &attr));
	must_eq(rig_bring_up(member.qp, &link), 0);
	return member;
}

static struct member joined(int device, uint32_t create_flags)
{
	struct member member = new_member(device, create_flags);

	must_eq(ibv_attach_mcast(member.qp, &group, LID), 0);
	return member;
}

static void post_recv(const struct member *member, size_t offset, uint32_t length)
{
	must_eq(rig_post_recv(member->host, member->qp, offset, length, offset), 0);
}

/* The datagram has a GRH with the GID of the group, unless its destination is local. */
struct destination {
	uint16_t lid;
	bool local;
	uint32_t qpn, qkey;
};

static const struct destination to_group = { .lid = LID, .qpn = MCAST_QPN, .qkey = RIG_QKEY };

/* A request to a group. */
static struct ibv_send_wr request_by(const struct member *from, const struct destination *to)
{
	struct ibv_ah_attr attr = { .dlid = to->lid, .port_num = 1, .is_global = !to->local,
				    .grh = { .dgid = group, .hop_limit = 3 } };
	struct ibv_send_wr wr = rig_wr(from->host, IBV_WR_SEND, RIG_BUFFER / 2, BYTES);

	wr.wr.ud.ah = MADE(ibv_create_ah(from->host->pd, &attr));
	wr.wr.ud.remote_qpn = to->qpn;
	wr.wr.ud.remote_qkey = to->qkey;
	return wr;
}

/* Sends, and polls the completion. By then all copies have arrived. */
static void send_by(const struct member *from, const struct destination *to)
{
	struct ibv_send_wr wr = request_by(from, to);
	struct ibv_wc wc;

	pair_pattern(from->host->buffer + RIG_BUFFER / 2, BYTES, 6);
	must_eq(rig_post(from->qp, &wr), 0);
	/* The sender's own copy may complete before the request. */
	do
		wc = rig_must_succeed(from->host->cq);
	while (wc.opcode == IBV_WC_RECV);
	must_eq(wc.opcode, IBV_WC_SEND);
}

static void must_get(const struct member *member, size_t offset, const struct member *from)
{
	const uint8_t *at = member->host->buffer + offset;
	struct ibv_wc wc;

	wc = rig_must_complete(member->host->cq, offset, IBV_WC_SUCCESS);
	must_eq(wc.opcode, IBV_WC_RECV);
	must_eq(wc.byte_len, BYTES + GRH);
	must_eq(wc.qp_num, member->qp->qp_num);
	must_eq(wc.src_qp, from->qp->qp_num);
	must_eq(wc.slid, from->host->lid);
	must(wc.wc_flags & IBV_WC_GRH);
	must(!memcmp(at + 24, group.raw, 16));
	must_eq(at[7], 3);
	must(!memcmp(at + GRH, from->host->buffer + RIG_BUFFER / 2, BYTES));
}

static void must_get_nothing(const struct member *member)
{
	rig_must_be_quiet(member->host->cq, 0);
}

ROW("every member gets one")
{
	struct member sender = new_member(0, 0), none = new_member(1, 0);
	const struct member all[] = { joined(0, 0), joined(1, 0), joined(1, 0) };

	for (int i = 0; i < 3; i++) {
		post_recv(&all[i], 0, BYTES + GRH);
		post_recv(&all[i], 500, 500);
	}
	post_recv(&none, 0, 500);
	send_by(&sender, &to_group);
	for (int i = 0; i < 3; i++) {
		must_get(&all[i], 0, &sender);
		must_get_nothing(&all[i]);
	}
	must_get_nothing(&none);
	must_get_nothing(&sender);
}

/* One detach ends any number of attaches. */
ROW("attached twice is one copy")
{
	struct member sender = new_member(0, 0), far = joined(1, 0);

	must_eq(ibv_attach_mcast(far.qp, &group, LID), 0);
	post_recv(&far, 0, 500);
	post_recv(&far, 500, 500);
	send_by(&sender, &to_group);
	must_get(&far, 0, &sender);
	must_get_nothing(&far);
	must_eq(ibv_detach_mcast(far.qp, &group, LID), 0);
	must_eq(ibv_detach_mcast(far.qp, &group, LID), EINVAL);
	send_by(&sender, &to_group);
	must_get_nothing(&far);
}

ROW("other datagrams are dropped")
{
	static const struct destination destinations[] = {
		{ .lid = LID, .qpn = MCAST_QPN, .qkey = RIG_QKEY + 1 },
		{ .lid = LID + 1, .qpn = MCAST_QPN, .qkey = RIG_QKEY },
		{ .lid = LID, .qpn = MCAST_QPN, .qkey = RIG_QKEY, .local = true },
		{ .lid = LID, .qpn = 0x40, .qkey = RIG_QKEY },
	};
	struct member sender = new_member(0, 0), far = joined(1, 0);
	union ibv_gid another = group;

	another.raw[15]++;
	must_eq(ibv_attach_mcast(far.qp, &another, LID + 1), 0);
	post_recv(&far, 0, 500);
	for (size_t i = 0; i < sizeof(destinations) / sizeof(destinations[0]); i++) {
		send_by(&sender, &destinations[i]);
		must_get_nothing(&far);
	}
	send_by(&sender, &to_group);
	must_get(&far, 0, &sender);
}

/*
 * An attached QP gets its own messages, unless it was created with
 * IBV_QP_CREATE_BLOCK_SELF_MCAST_LB. It gets those of others, and its neighbours get its messages.
 */
ROW("a sender gets its own copy unless blocked")
{
	struct member sender = joined(0, 0), neighbour = joined(0, 0),
		      quiet = joined(0, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);

	post_recv(&sender, 0, 500);
	post_recv(&quiet, 0, 500);
	post_recv(&neighbour, 0, 500);
	post_recv(&neighbour, 500, 500);
	send_by(&sender, &to_group);
	must_eq(sender.host->buffer[24], 0xff);
	must_get_nothing(&sender);
	must_get(&quiet, 0, &sender);
	must_get(&neighbour, 0, &sender);
	post_recv(&quiet, 0, 500);
	send_by(&quiet, &to_group);
	must_get_nothing(&quiet);
	must_get(&neighbour, 500, &quiet);
}

/* The request has one completion, although the copy that comes back puts the QP into ERR. */
ROW("a too long own copy completes the request once")
{
	struct member sender = joined(0, 0);
	struct ibv_send_wr wr = request_by(&sender, &to_group);

	post_recv(&sender, 0, 50);
	must_eq(rig_post(sender.qp, &wr), 0);
	rig_must_complete(sender.host->cq, 0, IBV_WC_LOC_LEN_ERR);
	rig_must_complete(sender.host->cq, wr.wr_id, IBV_WC_SUCCESS);
	must_eq(rig_state(sender.qp), IBV_QPS_ERR);
	must_get_nothing(&sender);
}

static void must_copy(const struct member *sender, const struct member *to)
{
	post_recv(to, 0, 500);
	send_by(sender, &to_group);
	must_get(to, 0, sender);
}

/* A member stays one in RESET. */
ROW("a member whose P_Key is empty gets no copy")
{
	struct member sender = new_member(0, 0), far = joined(1, 0);
	struct rig_link link = rig_link_to(0, 0);

	link.pkey_index = 1;
	must_eq(rig_to_state(far.qp, IBV_QPS_RESET), 0);
	must_eq(rig_bring_up(far.qp, &link), 0);
	post_recv(&far, 0, 500);
	send_by(&sender, &to_group);
	must_get_nothing(&far);
	link.pkey_index = 0;
	must_eq(rig_to_state(far.qp, IBV_QPS_RESET), 0);
	must_eq(rig_bring_up(far.qp, &link), 0);
	must_copy(&sender, &far);
}

ROW("no copy leaves or reaches a port that is down")
{
	struct member sender = new_member(0, 0), far = joined(1, 0);

	for (int device = 0; device < 2; device++) {
		pair_control("port", device, "1 down");
		post_recv(&far, 0, 500);
		send_by(&sender, &to_group);
		must_get_nothing(&far);
		pair_control("port", device, "1 up");
		send_by(&sender, &to_group);
		must_get(&far, 0, &sender);
	}
}

/* The parent sends when it reads a byte. */
static void __attribute__((noreturn))
join_in_child(const struct member *parent, const struct member *sender, int ready)
{
	struct member own;

	must_eq(ibv_detach_mcast(parent->qp, &group, LID), EIO);
	own = joined(1, 0);
	post_recv(&own, 0, 500);
	must_eq(write(ready, "", 1), 1);
	must_get(&own, 0, sender);
	_exit(0);
}

ROW("a forked child joins with a QP of its own, and leaves its parent's membership alone")
{
	struct member sender = new_member(0, 0), parent = joined(1, 0);
	int ready[2];
	pid_t child;
	char byte;

	pair_pattern(sender.host->buffer + RIG_BUFFER / 2, BYTES, 6);
	must_eq(pipe(ready), 0);
	child = fork();
	if (!child)
		join_in_child(&parent, &sender, ready[1]);
	close(ready[1]);
	must_eq(read(ready[0], &byte, 1), 1);
	must_copy(&sender, &parent);
	must_end(child, 0);
	must_copy(&sender, &parent);
}

/* The device keeps the limits that it reports. Members go with their context. */
ROW("a full group refuses the next member")
{
	struct host *host = rig_host(0);
	const union ibv_gid full = { .raw = { 0xff, [15] = 9 } };
	struct ibv_device_attr attr;
	struct ibv_qp *qp, *late = rig_qp(host, IBV_QPT_UD, NULL);

	must_eq(ibv_query_device(host->ctx, &attr), 0);
	must(attr.max_mcast_grp > 0);
	must(attr.max_mcast_qp_attach > 0);
	must_eq(attr.max_total_mcast_qp_attach, attr.max_mcast_grp * attr.max_mcast_qp_attach);
	for (int i = 0; i < attr.max_mcast_qp_attach; i++) {
		qp = rig_qp(host, IBV_QPT_UD, NULL);
		must_eq(ibv_attach_mcast(qp, &full, LID), 0);
	}
	must_eq(ibv_attach_mcast(late, &full, LID), ENOMEM);
	must_eq(ibv_attach_mcast(late, &full, LID + 1), 0);
	must_eq(ibv_detach_mcast(late, &full, LID + 1), 0);
	must_eq(ibv_detach_mcast(qp, &full, LID), 0);
	must_eq(ibv_attach_mcast(late, &full, LID), 0);
	must_eq(ibv_close_device(host->ctx), 0);
	qp = rig_qp(rig_host(0), IBV_QPT_UD, NULL);
	must_eq(ibv_attach_mcast(qp, &full, LID), 0);
}

/* A ConnectX-5 has too many groups for a test. */
ROW("a group that has ended makes room for another one")
{
	struct host *host = rig_host(0);
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_UD, NULL);
	union ibv_gid gid = group;
	struct ibv_device_attr attr;

	must_eq(ibv_query_device(host->ctx, &attr), 0);
	if (attr.max_mcast_grp > 10000)
		row_skip("this adapter takes too many groups to fill");
	for (int i = 0; i <= attr.max_mcast_grp; i++) {
		gid.raw[14] = (uint8_t)(i >> 8);
		gid.raw[15] = (uint8_t)i;
		must_eq(ibv_attach_mcast(qp, &gid, LID), 0);
		must_eq(ibv_detach_mcast(qp, &gid, LID), 0);
	}
}
