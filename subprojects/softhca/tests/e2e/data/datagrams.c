/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Datagrams and multicast: what the receiver finds before the data and in the completion, and which
 * QPs get a message. Also: receive errors of datagrams and of unreliable connections.
 */
#include <e2e/pair.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
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

	NEED(!ibv_query_gid(pair->b->ctx, 1, 0, &attr.grh.dgid));
	return pair_datagram(pair, &attr, length);
}

/*
 * A request whose Q_Key has its highest bit set is sent with the QP's own Q_Key, which the receiver
 * has here, too.
 */
PAIR_CASE(only_a_datagram_with_the_right_qkey_arrives, IBV_QPT_UD)
{
	static const uint32_t right[] = { RIG_QKEY, 0x80000000 };
	struct ibv_send_wr wr = to_b(&pair, 100);
	struct ibv_wc wc;

	pair_pattern(pair.a->buffer, 100, 8);
	wr.wr.ud.remote_qkey = WRONG_QKEY; /* dropped */
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, GRH + 100, 1) &&
	      !rig_post_recv(pair.b, pair.qb, 0, GRH + 100, 2));
	CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS) && rig_quiet(pair.b->cq, 5));
	for (int i = 0; i < 2; i++) {
		wr.wr.ud.remote_qkey = right[i];
		memset(pair.b->buffer, 0, GRH + 100);
		CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS) && rig_poll_success(pair.b->cq, &wc));
		CHECK(wc.byte_len == GRH + 100 && wc.src_qp == pair.qa->qp_num &&
		      wc.slid == pair.a->lid && wc.wc_flags & IBV_WC_GRH && wc.sl == 5);
		CHECK(!memcmp(pair.b->buffer + GRH, pair.a->buffer, 100));
	}
	return !ibv_destroy_ah(wr.wr.ud.ah);
}

PAIR_CASE(a_datagram_is_at_most_one_packet, IBV_QPT_UD)
{
	struct ibv_send_wr wr = pair_datagram(&pair, NULL, 4096);
	struct ibv_wc wc;

	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 8192, 1) &&
	      rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
	CHECK(rig_poll_success(pair.b->cq, &wc) && wc.byte_len == 4096 + GRH);
	wr.sg_list->length++;
	return rig_send(pair.qa, &wr, IBV_WC_LOC_LEN_ERR) && !ibv_destroy_ah(wr.wr.ud.ah);
}

/*
 * The payload length of a GRH counts what follows it: headers, data, the bytes that fill the last
 * word, and the ICRC.
 */
PAIR_CASE(a_grh_has_the_path_and_the_payload_length, IBV_QPT_UD)
{
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
	struct ibv_wc wc;

	CHECK(!ibv_query_gid(pair.a->ctx, 1, 0, &ours) &&
	      !ibv_query_gid(pair.b->ctx, 1, 0, &theirs));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		wr.opcode = rows[i].opcode;
		wr.sg_list->length = rows[i].length;
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 200, 1) &&
		      rig_send(pair.qa, &wr, IBV_WC_SUCCESS) && rig_poll(pair.b->cq, &wc));
		CHECK(!memcmp(grh, (uint8_t[]){ 0x6a, 0x75, 0x43, 0x21 }, 4));
		CHECK((uint32_t)(grh[4] << 8 | grh[5]) == rows[i].payload && grh[6] == 0x1b &&
		      grh[7] == 9);
		CHECK(!memcmp(grh + 8, ours.raw, 16) && !memcmp(grh + 24, theirs.raw, 16));
	}
	return !ibv_destroy_ah(wr.wr.ud.ah);
}

/* ---- buffers that an unreliable message cannot use: only the receiver gets an error ---- */

/* A UC QP ignores the address handle, and writes no GRH. */
static bool receiver_fails(const struct pair *pair, struct ibv_sge to, enum ibv_wc_status status)
{
	struct ibv_send_wr wr = to_b(pair, 100);

	CHECK(!rig_post_sge(pair->qb, NULL, to, 6) && rig_send(pair->qa, &wr, IBV_WC_SUCCESS));
	CHECK(rig_completes(pair->b->cq, 6, status));
	CHECK(rig_state(pair->qb) == IBV_QPS_ERR && rig_state(pair->qa) == IBV_QPS_RTS);
	return !ibv_destroy_ah(wr.wr.ud.ah);
}

static bool unusable(enum ibv_qp_type type, uint32_t length, uint32_t wrong_key,
		     enum ibv_wc_status status)
{
	struct pair pair = pair_up(type);
	struct ibv_sge to = { (uint64_t)(uintptr_t)pair.b->buffer, length,
			      pair.b->mr->lkey ^ wrong_key };

	return receiver_fails(&pair, to, status) && pair_tear_down(&pair);
}

CASE(an_unusable_buffer_fails_only_at_the_receiver)
{
	return unusable(IBV_QPT_UD, GRH + 99, 0, IBV_WC_LOC_LEN_ERR) &&
	       unusable(IBV_QPT_UC, 99, 0, IBV_WC_LOC_LEN_ERR) &&
	       unusable(IBV_QPT_UD, GRH + 100, 0x80, IBV_WC_LOC_PROT_ERR) &&
	       unusable(IBV_QPT_UC, 100, 0x80, IBV_WC_LOC_PROT_ERR);
}

/* The memory of the data, or of the GRH, is no longer mapped. */
static bool unmapped(size_t at)
{
	struct pair pair = pair_up(IBV_QPT_UD);
	uint8_t *two = rig_map(8192);
	struct ibv_mr *mr = MADE(ibv_reg_mr(pair.b->pd, two, 8192, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_sge to = { (uint64_t)(uintptr_t)two + 4096 - GRH, GRH + 100, mr->lkey };

	CHECK(!munmap(two + at, 4096) && receiver_fails(&pair, to, IBV_WC_LOC_PROT_ERR));
	return !ibv_dereg_mr(mr) && pair_tear_down(&pair);
}

CASE(an_unmapped_buffer_fails_only_at_the_receiver)
{
	return unmapped(4096) && unmapped(0);
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
	NEED(!rig_bring_up(member.qp, &link));
	return member;
}

static struct member joined(int device, uint32_t create_flags)
{
	struct member member = new_member(device, create_flags);

	NEED(!ibv_attach_mcast(member.qp, &group, LID));
	return member;
}

static bool recv_posted(const struct member *member, size_t offset, uint32_t length)
{
	return !rig_post_recv(member->host, member->qp, offset, length, offset);
}

/* With a GRH, which has the GID of the group, unless the destination is local. */
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
static bool send_by(const struct member *from, const struct destination *to)
{
	struct ibv_send_wr wr = request_by(from, to);
	struct ibv_wc wc;

	pair_pattern(from->host->buffer + RIG_BUFFER / 2, BYTES, 6);
	CHECK(!rig_post(from->qp, &wr));
	/* The sender's own copy may complete before the request. */
	do
		CHECK(rig_poll_success(from->host->cq, &wc));
	while (wc.opcode == IBV_WC_RECV);
	return wc.opcode == IBV_WC_SEND;
}

static bool got(const struct member *member, size_t offset, const struct member *from)
{
	const uint8_t *at = member->host->buffer + offset;
	struct ibv_wc wc;

	CHECK(rig_poll_success(member->host->cq, &wc) && wc.wr_id == offset);
	CHECK(wc.opcode == IBV_WC_RECV && wc.byte_len == BYTES + GRH &&
	      wc.qp_num == member->qp->qp_num);
	CHECK(wc.src_qp == from->qp->qp_num && wc.slid == from->host->lid &&
	      wc.wc_flags & IBV_WC_GRH);
	CHECK(!memcmp(at + 24, group.raw, 16) && at[7] == 3);
	CHECK(!memcmp(at + GRH, from->host->buffer + RIG_BUFFER / 2, BYTES));
	return true;
}

static bool nothing_came(const struct member *member)
{
	return rig_quiet(member->host->cq, 0);
}

CASE(every_member_gets_one)
{
	struct member sender = new_member(0, 0), none = new_member(1, 0);
	const struct member all[] = { joined(0, 0), joined(1, 0), joined(1, 0) };

	for (int i = 0; i < 3; i++)
		CHECK(recv_posted(&all[i], 0, BYTES + GRH) && recv_posted(&all[i], 500, 500));
	CHECK(recv_posted(&none, 0, 500));
	CHECK(send_by(&sender, &to_group));
	for (int i = 0; i < 3; i++)
		CHECK(got(&all[i], 0, &sender) && nothing_came(&all[i]));
	return nothing_came(&none) && nothing_came(&sender);
}

/* One detach ends any number of attaches. */
CASE(attached_twice_is_one_copy)
{
	struct member sender = new_member(0, 0), far = joined(1, 0);

	CHECK(!ibv_attach_mcast(far.qp, &group, LID));
	CHECK(recv_posted(&far, 0, 500) && recv_posted(&far, 500, 500));
	CHECK(send_by(&sender, &to_group) && got(&far, 0, &sender) && nothing_came(&far));
	CHECK(!ibv_detach_mcast(far.qp, &group, LID) &&
	      ibv_detach_mcast(far.qp, &group, LID) == EINVAL);
	return send_by(&sender, &to_group) && nothing_came(&far);
}

CASE(other_datagrams_are_dropped)
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
	CHECK(!ibv_attach_mcast(far.qp, &another, LID + 1) && recv_posted(&far, 0, 500));
	for (size_t i = 0; i < sizeof(destinations) / sizeof(destinations[0]); i++)
		CHECK(send_by(&sender, &destinations[i]) && nothing_came(&far));
	return send_by(&sender, &to_group) && got(&far, 0, &sender);
}

/*
 * An attached QP gets its own messages, unless it was created with
 * IBV_QP_CREATE_BLOCK_SELF_MCAST_LB. It gets those of others, and its neighbours get its messages.
 */
CASE(a_sender_gets_its_own_copy_unless_blocked)
{
	struct member sender = joined(0, 0), neighbour = joined(0, 0),
		      quiet = joined(0, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);

	CHECK(recv_posted(&sender, 0, 500) && recv_posted(&quiet, 0, 500));
	CHECK(recv_posted(&neighbour, 0, 500) && recv_posted(&neighbour, 500, 500));
	CHECK(send_by(&sender, &to_group) && sender.host->buffer[24] == 0xff &&
	      nothing_came(&sender));
	CHECK(got(&quiet, 0, &sender) && got(&neighbour, 0, &sender));
	CHECK(recv_posted(&quiet, 0, 500));
	CHECK(send_by(&quiet, &to_group) && nothing_came(&quiet));
	return got(&neighbour, 500, &quiet);
}

/* The request has one completion, although the copy that comes back puts the QP into ERR. */
CASE(a_too_long_own_copy_completes_the_request_once)
{
	struct member sender = joined(0, 0);
	struct ibv_send_wr wr = request_by(&sender, &to_group);

	CHECK(recv_posted(&sender, 0, 50) && !rig_post(sender.qp, &wr));
	CHECK(rig_completes(sender.host->cq, 0, IBV_WC_LOC_LEN_ERR) &&
	      rig_completes(sender.host->cq, wr.wr_id, IBV_WC_SUCCESS));
	return rig_state(sender.qp) == IBV_QPS_ERR && nothing_came(&sender);
}

static void must_copy(const struct member *sender, const struct member *to)
{
	must(recv_posted(to, 0, 500));
	must(send_by(sender, &to_group));
	must(got(to, 0, sender));
}

/* A member stays one in RESET. */
ROW("a member whose P_Key is empty gets no copy")
{
	struct member sender = new_member(0, 0), far = joined(1, 0);
	struct rig_link link = rig_link_to(0, 0);

	link.pkey_index = 1;
	must_eq(rig_to_state(far.qp, IBV_QPS_RESET), 0);
	must_eq(rig_bring_up(far.qp, &link), 0);
	must(recv_posted(&far, 0, 500));
	must(send_by(&sender, &to_group));
	must(nothing_came(&far));
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
		must(recv_posted(&far, 0, 500));
		must(send_by(&sender, &to_group));
		must(nothing_came(&far));
		pair_control("port", device, "1 up");
		must(send_by(&sender, &to_group));
		must(got(&far, 0, &sender));
	}
}

/* The parent sends when it reads a byte. */
static void __attribute__((noreturn))
join_in_child(const struct member *parent, const struct member *sender, int ready)
{
	struct member own;

	must_eq(ibv_detach_mcast(parent->qp, &group, LID), EIO);
	own = joined(1, 0);
	must(recv_posted(&own, 0, 500));
	must_eq(write(ready, "", 1), 1);
	must(got(&own, 0, sender));
	_exit(0);
}

ROW("a forked child joins with a QP of its own, and leaves its parent's membership alone")
{
	struct member sender = new_member(0, 0), parent = joined(1, 0);
	int ready[2], status;
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
	must_eq(waitpid(child, &status, 0), child);
	must_eq(status, 0);
	must_copy(&sender, &parent);
}

/* The device keeps the limits that it reports. Members go with their context. */
CASE(a_full_group_refuses_the_next_member)
{
	struct host *host = rig_host(0);
	const union ibv_gid full = { .raw = { 0xff, [15] = 9 } };
	struct ibv_device_attr attr;
	struct ibv_qp *qp, *late = rig_qp(host, IBV_QPT_UD, NULL);

	CHECK(!ibv_query_device(host->ctx, &attr) && attr.max_mcast_grp > 0 &&
	      attr.max_mcast_qp_attach > 0);
	CHECK(attr.max_total_mcast_qp_attach == attr.max_mcast_grp * attr.max_mcast_qp_attach);
	for (int i = 0; i < attr.max_mcast_qp_attach; i++) {
		qp = rig_qp(host, IBV_QPT_UD, NULL);
		CHECK(!ibv_attach_mcast(qp, &full, LID));
	}
	CHECK(ibv_attach_mcast(late, &full, LID) == ENOMEM &&
	      !ibv_attach_mcast(late, &full, LID + 1));
	CHECK(!ibv_detach_mcast(late, &full, LID + 1) && !ibv_detach_mcast(qp, &full, LID));
	CHECK(!ibv_attach_mcast(late, &full, LID) && !ibv_close_device(host->ctx));
	qp = rig_qp(rig_host(0), IBV_QPT_UD, NULL);
	return !ibv_attach_mcast(qp, &full, LID);
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
		row_skip();
	for (int i = 0; i <= attr.max_mcast_grp; i++) {
		gid.raw[14] = (uint8_t)(i >> 8);
		gid.raw[15] = (uint8_t)i;
		must_eq(ibv_attach_mcast(qp, &gid, LID), 0);
		must_eq(ibv_detach_mcast(qp, &gid, LID), 0);
	}
}
