/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What librdmacm gives both sides of a connection: attributes for each step of an RC and an XRC QP,
 * paths, addresses. The QPs are only numbers, so librdmacm leaves every step to this program.
 */
#define GROUP "attributes"

#include <harness/emulated.h>

#include "ground.h"

#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/ib.h>
#include <infiniband/verbs.h>

#define ACTIVE_QP  0x123456
#define PASSIVE_QP 0x654321

#define CONN_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK  (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RESPONDER (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK  (IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT)
#define REQUESTER (IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)

/* ---- a connection between two QP numbers ---- */

static struct rdma_cm_id *server, *active, *passive;

/* In RDMA_PS_IB an id may have any QP type. librdmacm creates such ids only from an addrinfo. */
static struct rdma_cm_id *endpoint(enum ibv_qp_type type, int flags)
{
	struct rdma_addrinfo hints = {
		.ai_flags = flags | RAI_NUMERICHOST,
		.ai_port_space = RDMA_PS_IB,
		.ai_qp_type = (int)type,
	}, *info;
	struct rdma_cm_id *id;

	if (!(flags & RAI_PASSIVE)) {
		hints.ai_src_addr = address(HERE, 0);
		hints.ai_src_len = sizeof(struct sockaddr_in);
	}
	must(!rdma_getaddrinfo((char *)THERE, "7200", &hints, &info));
	must(!rdma_create_ep(&id, info, NULL, NULL));
	rdma_freeaddrinfo(info);
	must(!rdma_migrate_id(id, channel));
	return id;
}

static void begin(enum ibv_qp_type active_type, enum ibv_qp_type passive_type)
{
	server = endpoint(passive_type, RAI_PASSIVE);
	must(!rdma_listen(server, 4));
	active = endpoint(active_type, 0);
}

static void request(void)
{
	struct rdma_conn_param param = {
		.qp_num = ACTIVE_QP, .srq = 1, .responder_resources = 3, .initiator_depth = 5,
		.retry_count = 2, .rnr_retry_count = 4, .flow_control = 1,
	};
	struct rdma_cm_event *event;
	const struct rdma_conn_param *got;

	must(!rdma_connect(active, &param));
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	got = &event->param.conn;
	must(event->listen_id == server);
	must_eq(got->qp_num, ACTIVE_QP);
	must(got->srq);
	must_eq(got->responder_resources, 5);
	must_eq(got->initiator_depth, 3);
	must_eq(got->retry_count, 2);
	must_eq(got->rnr_retry_count, 4);
	must(got->flow_control);
	must_eq(got->private_data_len, 56);
	passive = event->id;
	rdma_ack_cm_event(event);
}

static void reply(void)
{
	struct rdma_conn_param param = {
		.qp_num = PASSIVE_QP, .responder_resources = 4, .initiator_depth = 2,
		.rnr_retry_count = 6,
	};
	struct rdma_cm_event *event;
	const struct rdma_conn_param *got;

	must(!rdma_accept(passive, &param));
	event = next_event(RDMA_CM_EVENT_CONNECT_RESPONSE);
	got = &event->param.conn;
	must(event->id == active);
	must_eq(got->qp_num, PASSIVE_QP);
	must(!got->srq);
	must_eq(got->responder_resources, 2);
	must_eq(got->initiator_depth, 4);
	must_eq(got->rnr_retry_count, 6);
	must_eq(got->private_data_len, 196);
	rdma_ack_cm_event(event);
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

	must(!ibv_query_port(id->verbs, id->port_num, &port));
	return port.lid;
}

static void check_init(struct rdma_cm_id *id, unsigned int access)
{
	struct ibv_qp_attr attr;

	must_eq(ask(id, IBV_QPS_INIT, &attr), CONN_INIT);
	must_eq(attr.port_num, 1);
	must_eq(attr.pkey_index, 0);
	must_eq(attr.qp_access_flags, access);
}

/* The path to @peer. */
static void check_rtr(struct rdma_cm_id *id, struct rdma_cm_id *peer, int mask, uint32_t dest_qpn,
		      uint8_t reads)
{
	struct ibv_qp_attr attr;

	must_eq(ask(id, IBV_QPS_RTR, &attr), mask);
	must_eq(attr.ah_attr.dlid, lid(peer));
	must_eq(attr.ah_attr.port_num, 1);
	must(!attr.ah_attr.is_global);
	must_eq(attr.path_mtu, IBV_MTU_4096);
	must_eq(attr.dest_qp_num, dest_qpn);
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		must_eq(attr.max_dest_rd_atomic, reads);
}

static void check_rts(struct rdma_cm_id *id, int mask, uint8_t reads, uint8_t retries, uint8_t rnr,
		      uint8_t timeout)
{
	struct ibv_qp_attr attr;

	must_eq(ask(id, IBV_QPS_RTS, &attr), mask);
	must_eq(attr.timeout, timeout);
	if (!(mask & REQUESTER))
		return;
	must_eq(attr.max_rd_atomic, reads);
	must_eq(attr.retry_cnt, retries);
	must_eq(attr.rnr_retry, rnr);
}

#define ALL_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static void attributes(enum ibv_qp_type type, enum ibv_qp_type peer, int active_rtr, int active_rts,
		       int passive_rtr, int passive_rts)
{
	struct ibv_qp_attr attr;
	uint8_t timeout = 17;

	begin(type, peer);
	must(!rdma_set_option(active, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			      sizeof(timeout)));
	check_init(active, 0);
	request();
	check_init(active, ALL_ACCESS);
	check_init(passive, ALL_ACCESS);
	must_eq(ask(active, IBV_QPS_RTR, &attr), -EINVAL);
	must_eq(ask(active, IBV_QPS_RTS, &attr), -EINVAL);
	must_eq(ask(active, IBV_QPS_SQD, &attr), -EINVAL);
	check_rtr(passive, active, passive_rtr, ACTIVE_QP, 5);
	reply();
	check_rtr(active, passive, active_rtr, PASSIVE_QP, 2);
	check_rts(active, active_rts, 4, 2, 6, 17);
	check_rts(passive, passive_rts, 2, 2, 4, 15);
	must(!rdma_establish(active));
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
}

ROW("both sides get the attributes of RC")
{
	attributes(IBV_QPT_RC, IBV_QPT_RC, RTR_MASK | RESPONDER, RTS_MASK | REQUESTER,
		   RTR_MASK | RESPONDER, RTS_MASK | REQUESTER);
}

ROW("both sides get the attributes of XRC")
{
	attributes(IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, RTR_MASK, RTS_MASK | REQUESTER,
		   RTR_MASK | RESPONDER, RTS_MASK);
}

/* Without answers there is nothing to time, and without reads nothing to limit. */
ROW("both sides get the attributes of UC")
{
	struct ibv_qp_attr attr;

	begin(IBV_QPT_UC, IBV_QPT_UC);
	request();
	check_rtr(passive, active, RTR_MASK, ACTIVE_QP, 0);
	reply();
	check_rtr(active, passive, RTR_MASK, PASSIVE_QP, 0);
	must_eq(ask(active, IBV_QPS_RTS, &attr), IBV_QP_STATE | IBV_QP_SQ_PSN);
	must_eq(ask(passive, IBV_QPS_RTS, &attr), IBV_QP_STATE | IBV_QP_SQ_PSN);
}

ROW("a QP without responder resources permits only writes")
{
	struct rdma_conn_param param = { .qp_num = ACTIVE_QP };

	begin(IBV_QPT_RC, IBV_QPT_RC);
	must(!rdma_connect(active, &param));
	check_init(active, IBV_ACCESS_REMOTE_WRITE);
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, &passive);
	check_init(passive, IBV_ACCESS_REMOTE_WRITE);
}

ROW("a request of another QP type is rejected")
{
	struct rdma_conn_param param = { 0 };

	begin(IBV_QPT_XRC_SEND, IBV_QPT_RC);
	must(!rdma_connect(active, &param));
	must_eq(take_event(RDMA_CM_EVENT_REJECTED, NULL), 28);
}

/* The first message can arrive before the message that completes the connection. */
ROW("a first message establishes the connection")
{
	begin(IBV_QPT_RC, IBV_QPT_RC);
	request();
	must(rdma_notify(passive, IBV_EVENT_COMM_EST));
	must_eq(errno, EINVAL);
	reply();
	must(!rdma_notify(passive, IBV_EVENT_COMM_EST));
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
	must(rdma_notify(passive, IBV_EVENT_COMM_EST));
	must_eq(errno, EISCONN);
	/* The completing message then raises no event of its own. The next event is the end. */
	must(!rdma_establish(active));
	must(!rdma_notify(active, IBV_EVENT_PATH_MIG));
	must(rdma_notify(active, IBV_EVENT_SQ_DRAINED));
	must(!rdma_disconnect(active));
	take_event(RDMA_CM_EVENT_DISCONNECTED, NULL);
	must(!rdma_disconnect(passive));
	take_event(RDMA_CM_EVENT_DISCONNECTED, NULL);
	take_event(RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL);
	take_event(RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL);
}

/* The fields of the messages have one, three and 24 bits. */
ROW("retry counts are at most 7, and QP numbers have 24 bits")
{
	struct rdma_conn_param param = { .qp_num = 0xff000000 | ACTIVE_QP,
					 .retry_count = 9,
					 .rnr_retry_count = 10,
					 .srq = 2,
					 .flow_control = 3 };
	struct rdma_cm_event *event;
	struct ibv_qp_attr attr;

	begin(IBV_QPT_RC, IBV_QPT_RC);
	must(!rdma_connect(active, &param));
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	must_eq(event->param.conn.qp_num, ACTIVE_QP);
	must_eq(event->param.conn.retry_count, 7);
	must_eq(event->param.conn.rnr_retry_count, 7);
	must_eq(event->param.conn.srq, 1);
	must_eq(event->param.conn.flow_control, 1);
	rdma_ack_cm_event(event);
	param.qp_num = 0xff000000 | PASSIVE_QP;
	must(!rdma_accept(passive, &param));
	event = next_event(RDMA_CM_EVENT_CONNECT_RESPONSE);
	must_eq(event->param.conn.qp_num, PASSIVE_QP);
	must_eq(event->param.conn.rnr_retry_count, 7);
	rdma_ack_cm_event(event);
	must(ask(active, IBV_QPS_RTS, &attr) > 0);
	must_eq(attr.retry_cnt, 7);
	must_eq(attr.rnr_retry, 7);
}

/* ---- private data ---- */

/* The most that each message has room for (ib_cm). */
#define MOST_OF_REPLY  196
#define MOST_OF_REJECT 148

static void take_data(enum rdma_cm_event_type type, uint8_t length)
{
	struct rdma_cm_event *event = next_event(type);

	must(event->id == active);
	must_eq(event->param.conn.private_data_len, length);
	must(!memcmp(event->param.conn.private_data, private_data(), length));
	rdma_ack_cm_event(event);
}

ROW("an accepted connection gets all bytes of the longest private data")
{
	struct rdma_conn_param param = { .private_data = private_data(),
					 .private_data_len = MOST_OF_REPLY };

	begin(IBV_QPT_RC, IBV_QPT_RC);
	request();
	must(!rdma_accept(passive, &param));
	take_data(RDMA_CM_EVENT_CONNECT_RESPONSE, MOST_OF_REPLY);
}

ROW("a rejected connection gets all bytes of the longest private data")
{
	begin(IBV_QPT_RC, IBV_QPT_RC);
	request();
	must(!rdma_reject(passive, private_data(), MOST_OF_REJECT));
	take_data(RDMA_CM_EVENT_REJECTED, MOST_OF_REJECT);
}

/* The active side takes back what the passive side has accepted. */
ROW("a reply that is rejected tells so by the longest private data")
{
	struct rdma_cm_event *event;

	begin(IBV_QPT_RC, IBV_QPT_RC);
	request();
	reply();
	must(!rdma_reject(active, private_data(), MOST_OF_REJECT));
	event = next_event(RDMA_CM_EVENT_REJECTED);
	must(event->id == passive);
	must_eq(event->param.conn.private_data_len, MOST_OF_REJECT);
	must(!memcmp(event->param.conn.private_data, private_data(), MOST_OF_REJECT));
	rdma_ack_cm_event(event);
}

/* ---- addresses and paths ---- */

static union ibv_gid gid(struct rdma_cm_id *id)
{
	union ibv_gid own;

	must(!ibv_query_gid(id->verbs, id->port_num, 0, &own));
	return own;
}

static void check_route(struct rdma_cm_id *id, struct rdma_cm_id *peer, int device, const char *src,
			const char *dst)
{
	union ibv_gid sgid = gid(id), dgid = gid(peer);
	const struct ibv_sa_path_rec *path = id->route.path_rec;
	const struct sockaddr_in *here = (const void *)rdma_get_local_addr(id);
	const struct sockaddr_in *there = (const void *)rdma_get_peer_addr(id);

	must(!strcmp(ibv_get_device_name(id->verbs->device), emulated_name(device).text));
	must(here->sin_addr.s_addr == inet_addr(src));
	must(there->sin_addr.s_addr == inet_addr(dst));
	must(here->sin_port);
	must(here->sin_port == rdma_get_dst_port(peer));
	must(!memcmp(&id->route.addr.addr.ibaddr.sgid, &sgid, 16));
	must(!memcmp(&id->route.addr.addr.ibaddr.dgid, &dgid, 16));
	must_eq(id->route.num_paths, 1);
	must(!memcmp(&path->sgid, &sgid, 16));
	must(!memcmp(&path->dgid, &dgid, 16));
	must(be16toh(path->slid) == lid(id));
	must(be16toh(path->dlid) == lid(peer));
	must(be16toh(path->pkey) == 0xffff);
	must_eq(path->mtu, IBV_MTU_4096);
	must(path->reversible);
	must(path->rate == (emulated_is_mlx5() ? IBV_RATE_100_GBPS : IBV_RATE_56_GBPS));
}

ROW("both sides have the route and its path")
{
	begin(IBV_QPT_RC, IBV_QPT_RC);
	request();
	check_route(active, passive, 0, HERE, THERE);
	check_route(passive, active, 1, THERE, HERE);
	must_eq(be16toh(rdma_get_dst_port(active)), 7200);
}

/* ---- addresses that are GIDs ---- */

/* The GID of @id, with @port, or any port if it is 0. */
static struct sockaddr_ib ib_address(struct rdma_cm_id *id, uint16_t port)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB, .sib_sid = htobe64(RDMA_IB_IP_PS_TCP | port),
		.sib_sid_mask = htobe64(port ? ~0ull : RDMA_IB_IP_PS_MASK),
	};
	union ibv_gid own = gid(id);

	memcpy(&ib.sib_addr, &own, 16);
	return ib;
}

ROW("GIDs are addresses, and then 92 bytes of private data fit")
{
	static const char data[92] = "as much private data as fits";
	struct rdma_conn_param param = { .private_data = data, .private_data_len = sizeof(data) };
	struct sockaddr_ib dst = ib_address(listener, 7300), src = ib_address(bound, 0);
	struct rdma_cm_event *event;

	must(!rdma_bind_addr(second, (struct sockaddr *)&dst));
	must(!rdma_listen(second, 1));
	must(!rdma_resolve_addr(idle, (struct sockaddr *)&src, (struct sockaddr *)&dst, 20000));
	take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	must(!rdma_resolve_route(idle, 20000));
	take_event(RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	must(!rdma_connect(idle, &param));
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	must(event->param.conn.private_data_len == sizeof(data));
	must(!memcmp(event->param.conn.private_data, data, sizeof(data)));
	must(!memcmp(&((struct sockaddr_ib *)rdma_get_peer_addr(event->id))->sib_addr,
		     &src.sib_addr, 16));
	passive = event->id;
	rdma_ack_cm_event(event);
	must(!rdma_destroy_id(passive));
	take_event(RDMA_CM_EVENT_REJECTED, NULL);
}

/* ---- the end of a connection that one side has not established ---- */

/* The passive id is established by a first message, the active one has not confirmed the reply. */
static void establish_one_side(void)
{
	begin(IBV_QPT_RC, IBV_QPT_RC);
	request();
	reply();
	must(!rdma_notify(passive, IBV_EVENT_COMM_EST));
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
}

ROW("the end of a connection passes an id by that has not confirmed the reply")
{
	struct rdma_cm_id *ended;

	establish_one_side();
	must(!rdma_disconnect(passive));
	must(!rdma_establish(active));
	must(!rdma_disconnect(active));
	must_eq(take_event(RDMA_CM_EVENT_DISCONNECTED, &ended), 0);
	must(ended == passive);
	must(!rdma_disconnect(passive));
	must_eq(take_event(RDMA_CM_EVENT_DISCONNECTED, &ended), 0);
	must(ended == active);
}

ROW("an end is answered where the peer has gone")
{
	establish_one_side();
	must(!rdma_destroy_id(passive));
	must(!rdma_establish(active));
	must(!rdma_disconnect(active));
	must_eq(take_event(RDMA_CM_EVENT_DISCONNECTED, NULL), 0);
}

/* ---- with a short cm_timeout ---- */

#undef GROUP
#define GROUP "patience"

ROW("a disconnect that gets no answer ends with a timeout")
{
	begin(IBV_QPT_RC, IBV_QPT_RC);
	request();
	reply();
	must(!rdma_establish(active));
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
	must(!rdma_disconnect(active));
	must_eq(take_event(RDMA_CM_EVENT_DISCONNECTED, NULL), 0);
	must_eq(take_event(RDMA_CM_EVENT_DISCONNECTED, NULL), -ETIMEDOUT);
}

/* The request of another id gets no answer, and its timeout begins later. */
ROW("a connection that is established becomes unreachable no more")
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *child;

	begin(IBV_QPT_RC, IBV_QPT_RC);
	request();
	reply();
	must(!rdma_establish(active));
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
	must(!rdma_connect(routed, &param));
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	must_be_unreachable(routed);
	must(!rdma_destroy_id(child));
}
