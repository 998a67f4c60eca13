/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Datagram ids: the active side asks for the QP of the passive one, and gets it or is refused. */
#define GROUP "datagrams"

#include "ground.h"

#include <infiniband/verbs.h>

#define PASSIVE_QP 0x654321

/* Sends the request of the datagram id to a new listener. Returns the passive id. */
static struct rdma_cm_id *ask_for_qp(void)
{
	struct rdma_conn_param param = { .private_data = "where",
					 .private_data_len = sizeof("where") };
	struct rdma_cm_id *server = new_id(RDMA_PS_UDP), *passive;
	struct rdma_cm_event *event;

	must(!rdma_bind_addr(server, address(THERE, 7400)));
	must(!rdma_listen(server, 1));
	resolve(datagram, THERE, 7400);
	must(!rdma_connect(datagram, &param));
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	must_eq(event->param.ud.private_data_len, 180);
	must(!strcmp(event->param.ud.private_data, "where"));
	passive = event->id;
	rdma_ack_cm_event(event);
	return passive;
}

ROW("an accepted request gets the QP")
{
	struct rdma_conn_param param = { .qp_num = PASSIVE_QP,
					 .private_data = "here",
					 .private_data_len = sizeof("here") };
	struct rdma_cm_id *passive = ask_for_qp();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct rdma_cm_event *event;
	struct ibv_port_attr port;
	int mask;

	must(!rdma_accept(passive, &param));
	event = next_event(RDMA_CM_EVENT_ESTABLISHED);
	must_eq(event->param.ud.qp_num, PASSIVE_QP);
	must_eq(event->param.ud.qkey, RDMA_UDP_QKEY);
	must(!ibv_query_port(passive->verbs, 1, &port));
	must(event->param.ud.ah_attr.dlid == port.lid);
	must_eq(event->param.ud.ah_attr.port_num, 1);
	must_eq(event->param.ud.private_data_len, 136);
	must(!strcmp(event->param.ud.private_data, "here"));
	rdma_ack_cm_event(event);
	must(!rdma_init_qp_attr(datagram, &attr, &mask));
	must_eq(mask, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	must_eq(attr.qkey, RDMA_UDP_QKEY);
}

ROW("a rejected request gets status 2")
{
	struct rdma_cm_id *passive = ask_for_qp();
	struct rdma_cm_event *event;

	must(!rdma_reject(passive, "no", sizeof("no")));
	event = next_event(RDMA_CM_EVENT_UNREACHABLE);
	must_eq(event->status, 2);
	must(!strcmp(event->param.ud.private_data, "no"));
	rdma_ack_cm_event(event);
}

ROW("a request without a listener gets status 1")
{
	struct rdma_conn_param param = { 0 };

	resolve(datagram, THERE, 7400);
	must(!rdma_connect(datagram, &param));
	must_eq(take_event(RDMA_CM_EVENT_UNREACHABLE, NULL), 1);
}

ROW("a listener of another address gets no request")
{
	struct rdma_cm_id *other = new_id(RDMA_PS_UDP);
	struct rdma_conn_param param = { 0 };

	must(!rdma_bind_addr(other, address(HERE, 7400)));
	must(!rdma_listen(other, 1));
	resolve(datagram, THERE, 7400);
	must(!rdma_connect(datagram, &param));
	must_eq(take_event(RDMA_CM_EVENT_UNREACHABLE, NULL), 1);
}

/* The listener has room for one request that it has not read. */
ROW("a request that finds a full backlog gets status 2")
{
	struct rdma_cm_id *server = new_id(RDMA_PS_UDP), *late = new_id(RDMA_PS_UDP), *id;
	struct rdma_conn_param param = { 0 };

	must(!rdma_bind_addr(server, address(THERE, 7400)));
	must(!rdma_listen(server, 1));
	resolve(datagram, THERE, 7400);
	resolve(late, THERE, 7400);
	must(!rdma_connect(datagram, &param));
	must(!rdma_connect(late, &param));
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	must_eq(take_event(RDMA_CM_EVENT_UNREACHABLE, &id), 2);
	must(id == late);
}

ROW("a QP number in an answer has 24 bits")
{
	struct rdma_conn_param param = { .qp_num = 0xff000000 | PASSIVE_QP };
	struct rdma_cm_event *event;

	must(!rdma_accept(ask_for_qp(), &param));
	event = next_event(RDMA_CM_EVENT_ESTABLISHED);
	must_eq(event->param.ud.qp_num, PASSIVE_QP);
	rdma_ack_cm_event(event);
}

/* 0x0b1b is the Q_Key of an IPoIB group that was given none. */
ROW("ids of IPoIB have the Q_Key of its groups")
{
	struct rdma_cm_id *ipoib = new_id(RDMA_PS_IPOIB);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	int mask;

	must(!rdma_bind_addr(ipoib, address(HERE, 0)));
	must(!rdma_init_qp_attr(ipoib, &attr, &mask));
	must_eq(attr.qkey, 0x0b1b);
}

/* ---- the longest private data (ib_cm) ---- */

#define MOST_OF_REQUEST 180 /* and 36 bytes with the addresses */
#define MOST_OF_REPLY	136

static void take_data(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next_event(type);

	must(event->id == datagram);
	must_eq(event->param.ud.private_data_len, MOST_OF_REPLY);
	must(!memcmp(event->param.ud.private_data, private_data(), MOST_OF_REPLY));
	rdma_ack_cm_event(event);
}

ROW("an accepted request gets all bytes of the longest private data")
{
	struct rdma_conn_param param = { .private_data = private_data(),
					 .private_data_len = MOST_OF_REPLY };

	must(!rdma_accept(ask_for_qp(), &param));
	take_data(RDMA_CM_EVENT_ESTABLISHED);
}

ROW("a rejected request gets all bytes of the longest private data")
{
	must(!rdma_reject(ask_for_qp(), private_data(), MOST_OF_REPLY));
	take_data(RDMA_CM_EVENT_UNREACHABLE);
}

ROW("a byte more of private data is refused on each way")
{
	struct rdma_conn_param request = { .private_data = private_data(),
					   .private_data_len = MOST_OF_REQUEST },
			       reply = { .private_data = private_data(),
					 .private_data_len = MOST_OF_REPLY + 1 };
	struct rdma_cm_id *passive = ask_for_qp(), *other = new_id(RDMA_PS_UDP);

	must(rdma_accept(passive, &reply));
	must_eq(errno, EINVAL);
	must(rdma_reject(passive, private_data(), MOST_OF_REPLY + 1));
	must_eq(errno, EINVAL);
	resolve(other, THERE, 7400);
	request.private_data_len++;
	must(rdma_connect(other, &request));
	must_eq(errno, EINVAL);
	request.private_data_len--;
	must(!rdma_connect(other, &request));
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
}

/* ---- with a short cm_timeout ---- */

#undef GROUP
#define GROUP "patience"

/* The request of another id gets no answer, and its timeout begins later. */
static void must_hear_no_more(void)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *other = new_id(RDMA_PS_UDP), *child;

	resolve(other, THERE, 7400);
	must(!rdma_connect(other, &param));
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	must_be_unreachable(other);
}

ROW("an id that got its QP becomes unreachable no more")
{
	struct rdma_conn_param param = { .qp_num = PASSIVE_QP };

	must(!rdma_accept(ask_for_qp(), &param));
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
	must_hear_no_more();
}

ROW("a rejected id becomes unreachable once")
{
	must(!rdma_reject(ask_for_qp(), NULL, 0));
	take_event(RDMA_CM_EVENT_UNREACHABLE, NULL);
	must_hear_no_more();
}
