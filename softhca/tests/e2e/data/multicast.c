/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Multicast: which QPs get a message to a group, and which do not. */
#include <softhca/tests/e2e/pair.h>

#include <stdlib.h>
#include <string.h>

#define LID	  0xc003
#define MCAST_QPN 0xffffff
#define BYTES	  100u
#define GRH	  40u

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
	return !ibv_attach_mcast(late, &full, LID) && !ibv_close_device(host->ctx);
}
