/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What librdmacm gives both sides of a connection: attributes for each step of each type of queue
 * pair, paths, addresses. The queue pairs are only numbers, so librdmacm leaves every step to this
 * program.
 */
#include <tests/e2e/emulated.h>

#include "ground.h"

#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACTIVE_QP  0x123456
#define PASSIVE_QP 0x654321

#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define CONN_INIT (INIT_MASK | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK  (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RESPONDER (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK  (IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT)
#define REQUESTER (IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

/* ---- a connection of numbers, step by step ---- */

struct line {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *active, *passive;
};

/*
 * In the port space IB an id may have any type. librdmacm makes such ids only from address
 * information.
 */
static struct rdma_cm_id *endpoint(struct line *line, enum ibv_qp_type type, const char *node,
				   bool passive)
{
	struct rdma_addrinfo hints = {
		.ai_flags = passive ? RAI_PASSIVE | RAI_NUMERICHOST : RAI_NUMERICHOST,
		.ai_port_space = RDMA_PS_IB,
		.ai_qp_type = (int)type,
	}, *info;
	struct rdma_cm_id *id;

	if (!passive) {
		hints.ai_src_addr = address(HERE, 0);
		hints.ai_src_len = sizeof(struct sockaddr_in);
	}
	NEED(!rdma_getaddrinfo((char *)node, "7200", &hints, &info));
	NEED(!rdma_create_ep(&id, info, NULL, NULL));
	rdma_freeaddrinfo(info);
	NEED(!rdma_migrate_id(id, line->channel));
	return id;
}

static void pass(struct line *line, enum rdma_cm_event_type type)
{
	rdma_ack_cm_event(next_event(line->channel, type));
}

static void begin(struct line *line, enum ibv_qp_type active, enum ibv_qp_type passive)
{
	NEED((line->channel = rdma_create_event_channel()));
	line->listener = endpoint(line, passive, THERE, true);
	NEED(!rdma_listen(line->listener, 4));
	line->active = endpoint(line, active, THERE, false);
	line->passive = NULL;
}

static void request(struct line *line)
{
	struct rdma_conn_param param = {
		.qp_num = ACTIVE_QP, .srq = 1, .responder_resources = 3, .initiator_depth = 5,
		.retry_count = 2,
		.rnr_retry_count = 4, .flow_control = 1,
	};
	struct rdma_cm_event *event;

	NEED(!rdma_connect(line->active, &param));
	event = next_event(line->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	NEED(event->listen_id == line->listener && event->param.conn.qp_num == ACTIVE_QP &&
	     event->param.conn.srq);
	NEED(event->param.conn.responder_resources == 5 && event->param.conn.initiator_depth == 3);
	NEED(event->param.conn.retry_count == 2 && event->param.conn.rnr_retry_count == 4);
	NEED(event->param.conn.flow_control && event->param.conn.private_data_len == 56);
	line->passive = event->id;
	rdma_ack_cm_event(event);
}

static void reply(struct line *line)
{
	struct rdma_conn_param param = {
		.qp_num = PASSIVE_QP, .responder_resources = 4, .initiator_depth = 2,
		.rnr_retry_count = 6,
	};
	struct rdma_cm_event *event;

	NEED(!rdma_accept(line->passive, &param));
	event = next_event(line->channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	NEED(event->id == line->active && event->param.conn.qp_num == PASSIVE_QP &&
	     !event->param.conn.srq);
	NEED(event->param.conn.responder_resources == 2 && event->param.conn.initiator_depth == 4);
	NEED(event->param.conn.rnr_retry_count == 6 && event->param.conn.private_data_len == 196);
	rdma_ack_cm_event(event);
}

static void end(struct line *line)
{
	NEED(!rdma_destroy_id(line->active));
	if (line->passive)
		NEED(!rdma_destroy_id(line->passive));
	NEED(!rdma_destroy_id(line->listener));
	rdma_destroy_event_channel(line->channel);
}

/* ---- attributes ---- */

static int ask(struct rdma_cm_id *id, enum ibv_qp_state state, struct ibv_qp_attr *attr)
{
	int mask;

	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	return rdma_init_qp_attr(id, attr, &mask) ? -errno : mask;
}

static uint16_t lid(struct rdma_cm_id *id)
{
	struct ibv_port_attr port;

	NEED(!ibv_query_port(id->verbs, id->port_num, &port));
	return port.lid;
}

static void check_init(struct rdma_cm_id *id, unsigned int access)
{
	struct ibv_qp_attr attr;

	NEED(ask(id, IBV_QPS_INIT, &attr) == CONN_INIT);
	NEED(attr.port_num == 1 && attr.pkey_index == 0 && attr.qp_access_flags == access);
}

/* The path to @peer. */
static void check_rtr(struct rdma_cm_id *id, struct rdma_cm_id *peer, int mask, uint32_t dest_qpn,
		      uint8_t reads)
{
	struct ibv_qp_attr attr;

	NEED(ask(id, IBV_QPS_RTR, &attr) == mask);
	NEED(attr.ah_attr.dlid == lid(peer) && attr.ah_attr.port_num == 1 &&
	     !attr.ah_attr.is_global);
	NEED(attr.path_mtu == IBV_MTU_4096 && attr.dest_qp_num == dest_qpn);
	NEED(!(mask & IBV_QP_MAX_DEST_RD_ATOMIC) || attr.max_dest_rd_atomic == reads);
}

static void check_rts(struct rdma_cm_id *id, int mask, uint8_t reads, uint8_t retries, uint8_t rnr,
		      uint8_t timeout)
{
	struct ibv_qp_attr attr;

	NEED(ask(id, IBV_QPS_RTS, &attr) == mask);
	NEED(attr.timeout == timeout);
	NEED(!(mask & REQUESTER) ||
	     (attr.max_rd_atomic == reads && attr.retry_cnt == retries && attr.rnr_retry == rnr));
}

/*
 * Each side expects the first PSN that the other side sends. Two connections have different PSNs.
 */
static void check_psn(struct rdma_cm_id *from, struct rdma_cm_id *to)
{
	static uint32_t before;
	struct ibv_qp_attr sender, receiver;

	NEED(ask(from, IBV_QPS_RTS, &sender) > 0 && ask(to, IBV_QPS_RTR, &receiver) > 0);
	NEED(sender.sq_psn == receiver.rq_psn && sender.sq_psn <= 0xffffff &&
	     sender.sq_psn != before);
	before = sender.sq_psn;
}

#define ALL_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static void attributes(enum ibv_qp_type type, enum ibv_qp_type peer, int active_rtr, int active_rts,
		       int passive_rtr, int passive_rts)
{
	struct ibv_qp_attr attr;
	struct line line;
	uint8_t timeout = 17;

	begin(&line, type, peer);
	NEED(!rdma_set_option(line.active, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			      sizeof(timeout)));
	check_init(line.active, 0);
	request(&line);
	check_init(line.active, ALL_ACCESS);
	check_init(line.passive, ALL_ACCESS);
	NEED(ask(line.active, IBV_QPS_RTR, &attr) == -EINVAL &&
	     ask(line.active, IBV_QPS_RTS, &attr) == -EINVAL);
	NEED(ask(line.active, IBV_QPS_SQD, &attr) == -EINVAL);
	check_rtr(line.passive, line.active, passive_rtr, ACTIVE_QP, 5);
	reply(&line);
	check_rtr(line.active, line.passive, active_rtr, PASSIVE_QP, 2);
	check_rts(line.active, active_rts, 4, 2, 6, 17);
	check_rts(line.passive, passive_rts, 2, 2, 4, 15);
	check_psn(line.active, line.passive);
	check_psn(line.passive, line.active);
	NEED(!rdma_establish(line.active));
	pass(&line, RDMA_CM_EVENT_ESTABLISHED);
	end(&line);
}

static void attributes_of_rc(void)
{
	attributes(IBV_QPT_RC, IBV_QPT_RC, RTR_MASK | RESPONDER, RTS_MASK | REQUESTER,
		   RTR_MASK | RESPONDER, RTS_MASK | REQUESTER);
}

static void attributes_of_xrc(void)
{
	attributes(IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, RTR_MASK, RTS_MASK | REQUESTER,
		   RTR_MASK | RESPONDER, RTS_MASK);
}

/* Without responder resources the attributes grant no reads and atomics. */
static void rights_without_reads(void)
{
	struct rdma_conn_param param = { .qp_num = ACTIVE_QP };
	struct rdma_cm_event *event;
	struct line line;

	begin(&line, IBV_QPT_RC, IBV_QPT_RC);
	NEED(!rdma_connect(line.active, &param));
	check_init(line.active, IBV_ACCESS_REMOTE_WRITE);
	event = next_event(line.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	line.passive = event->id;
	rdma_ack_cm_event(event);
	check_init(line.passive, IBV_ACCESS_REMOTE_WRITE);
	end(&line);
}

static void types_must_fit(void)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_event *event;
	struct line line;

	begin(&line, IBV_QPT_XRC_SEND, IBV_QPT_RC);
	NEED(!rdma_connect(line.active, &param));
	event = next_event(line.channel, RDMA_CM_EVENT_REJECTED);
	NEED(event->status == 28);
	rdma_ack_cm_event(event);
	end(&line);
}

/* The first message can arrive before the message that completes the connection. */
static void established_by_a_message(void)
{
	struct line line;

	begin(&line, IBV_QPT_RC, IBV_QPT_RC);
	request(&line);
	NEED(rdma_notify(line.passive, IBV_EVENT_COMM_EST) && errno == EINVAL);
	reply(&line);
	NEED(!rdma_notify(line.passive, IBV_EVENT_COMM_EST));
	pass(&line, RDMA_CM_EVENT_ESTABLISHED);
	NEED(rdma_notify(line.passive, IBV_EVENT_COMM_EST) && errno == EISCONN);
	/* The completing message then raises no event of its own. The next event is the end. */
	NEED(!rdma_establish(line.active));
	NEED(!rdma_notify(line.active, IBV_EVENT_PATH_MIG) &&
	     rdma_notify(line.active, IBV_EVENT_SQ_DRAINED));
	NEED(!rdma_disconnect(line.active));
	pass(&line, RDMA_CM_EVENT_DISCONNECTED);
	NEED(!rdma_disconnect(line.passive));
	pass(&line, RDMA_CM_EVENT_DISCONNECTED);
	pass(&line, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	pass(&line, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	end(&line);
}

/* ---- addresses and paths ---- */

static union ibv_gid gid(struct rdma_cm_id *id)
{
	union ibv_gid own;

	NEED(!ibv_query_gid(id->verbs, id->port_num, 0, &own));
	return own;
}

static void check_route(struct rdma_cm_id *id, struct rdma_cm_id *peer, const char *src,
			const char *dst)
{
	union ibv_gid sgid = gid(id), dgid = gid(peer);
	const struct ibv_sa_path_rec *path = id->route.path_rec;
	const struct sockaddr_in *here = (const void *)rdma_get_local_addr(id);
	const struct sockaddr_in *there = (const void *)rdma_get_peer_addr(id);

	NEED(here->sin_addr.s_addr == inet_addr(src) && there->sin_addr.s_addr == inet_addr(dst));
	NEED(here->sin_port && there->sin_port);
	NEED(!memcmp(&id->route.addr.addr.ibaddr.sgid, &sgid, 16) &&
	     !memcmp(&id->route.addr.addr.ibaddr.dgid, &dgid, 16));
	NEED(id->route.num_paths == 1 && !memcmp(&path->sgid, &sgid, 16) &&
	     !memcmp(&path->dgid, &dgid, 16));
	NEED(be16toh(path->slid) == lid(id) && be16toh(path->dlid) == lid(peer));
	NEED(be16toh(path->pkey) == 0xffff && path->mtu == IBV_MTU_4096 && path->reversible);
}

static void routes(void)
{
	struct line line;

	begin(&line, IBV_QPT_RC, IBV_QPT_RC);
	request(&line);
	NEED(!strcmp(ibv_get_device_name(line.active->verbs->device), emulated_name(0).text));
	NEED(!strcmp(ibv_get_device_name(line.passive->verbs->device), emulated_name(1).text));
	check_route(line.active, line.passive, HERE, THERE);
	check_route(line.passive, line.active, THERE, HERE);
	NEED(rdma_get_dst_port(line.active) == rdma_get_src_port(line.passive) &&
	     be16toh(rdma_get_dst_port(line.active)) == 7200);
	NEED(rdma_get_src_port(line.active) == rdma_get_dst_port(line.passive));
	end(&line);
}

/* ---- addresses that are GIDs ---- */

static struct sockaddr_ib ib_address(struct rdma_cm_id *like, uint16_t port, bool any)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB, .sib_sid = htobe64(RDMA_IB_IP_PS_TCP | port),
		.sib_sid_mask = htobe64(~0ull),
	};
	union ibv_gid own = gid(like);

	if (!any)
		memcpy(&ib.sib_addr, &own, 16);
	if (!port)
		ib.sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK);
	return ib;
}

static void gids_are_addresses(void)
{
	static const char words[92] = "as many words as fit";
	struct rdma_conn_param param = { .private_data = words, .private_data_len = sizeof(words) };
	struct rdma_cm_id *listener, *id;
	struct sockaddr_ib src, dst;
	struct rdma_cm_event *event;
	struct ground ground;
	struct line line;

	ground_lay(&ground);
	line.channel = ground.channel;
	dst = ib_address(ground.listener, 7300, false);
	src = ib_address(ground.bound, 0, false);
	listener = new_id(&ground, RDMA_PS_TCP);
	id = new_id(&ground, RDMA_PS_TCP);
	NEED(!rdma_bind_addr(listener, (struct sockaddr *)&dst) && !rdma_listen(listener, 1));
	NEED(!rdma_resolve_addr(id, (struct sockaddr *)&src, (struct sockaddr *)&dst, 20000));
	pass(&line, RDMA_CM_EVENT_ADDR_RESOLVED);
	NEED(!rdma_resolve_route(id, 20000));
	pass(&line, RDMA_CM_EVENT_ROUTE_RESOLVED);
	NEED(!rdma_connect(id, &param));
	event = next_event(line.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	NEED(event->param.conn.private_data_len == sizeof(words) &&
	     !memcmp(event->param.conn.private_data, words, sizeof(words)));
	NEED(!memcmp(&((struct sockaddr_ib *)rdma_get_peer_addr(event->id))->sib_addr,
		     &src.sib_addr, 16));
	line.passive = event->id;
	rdma_ack_cm_event(event);
	NEED(!rdma_destroy_id(line.passive));
	pass(&line, RDMA_CM_EVENT_REJECTED);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
	ground_clear(&ground);
}

int main(void)
{
	attributes_of_rc();
	attributes_of_xrc();
	rights_without_reads();
	types_must_fit();
	established_by_a_message();
	routes();
	gids_are_addresses();
	return EXIT_SUCCESS;
}
