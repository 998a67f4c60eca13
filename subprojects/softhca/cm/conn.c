/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Connections of reliable ids: request, reply, ready to use; and their end. */
#include "id.h"
#include "mad.h"

#include <base/refuse.h>

#include <errno.h>

/* Reasons of a REJ. Only the last two may come from programs. */
#define REJ_TIMEOUT 4
#define REJ_NO_SERVICE 8
#define REJ_CONSUMER 28
#define REJ_VENDOR_OPTION 35

/* milliseconds; as long as packets of the connection could still be under way */
#define TIMEWAIT 200

static void expired(struct timer *timer);

static void enter(struct cm_id *id, enum cm_ib_state state)
{
	struct hca_machine *machine = id->file->machine;

	id->ib_state = state;
	if (state == CM_REQ_SENT || state == CM_REP_SENT || state == CM_DREQ_SENT)
		cm_wait(id, (unsigned int)machine->settings.cm_timeout, expired);
	else if (state == CM_TIMEWAIT)
		cm_wait(id, TIMEWAIT, expired);
	else
		timer_stop(&id->timer);
}

/*
 * Fills in the event by which @id hears of the request or the reply of its peer. The private data
 * is as long as the @room that the message has.
 */
static void tell(struct cm_event *event, const struct cm_id *id,
		 const struct rdma_ucm_conn_param *param, size_t room)
{
	struct rdma_ucm_conn_param *conn = &event->resp.param.conn;

	put_data(conn->private_data, param->private_data, param->private_data_len);
	conn->private_data_len = (uint8_t)room;
	conn->qp_num = id->remote_qpn;
	conn->srq = param->srq != 0;
	conn->responder_resources = id->responder_resources;
	conn->initiator_depth = id->initiator_depth;
	conn->flow_control = param->flow_control & 1;
	conn->rnr_retry_count = id->rnr_retry;
}

/* ---- request ---- */

static void take_param(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	id->qpn = param->qp_num & 0xffffff;
	id->responder_resources = param->responder_resources;
	id->initiator_depth = param->initiator_depth;
}

/* An XRC sender asks for an XRC receiver; all other types for their own. */
static uint8_t opposite(uint8_t qp_type)
{
	return qp_type == IBV_QPT_XRC_SEND ? IBV_QPT_XRC_RECV : qp_type;
}

/* Tells the passive side of the request. */
static void take_request(struct cm_id *child, const struct cm_id *id)
{
	child->remote_qpn = id->qpn;
	child->remote_psn = id->psn;
	/* The initiator depth of one side is the responder resources of the other. */
	child->responder_resources = id->initiator_depth;
	child->initiator_depth = id->responder_resources;
	child->retry_count = id->retry_count;
	child->rnr_retry = id->rnr_retry;
	child->ib_state = CM_REQ_RCVD;
}

void cm_hear_rej(struct cm_id *id, uint8_t reason, const void *data, size_t length)
{
	struct cm_event *event = cm_event_new(id, CM_EVENT_REJECTED, reason);

	cm_id_part(id);
	enter(id, CM_OVER);
	if (!event)
		return;
	put_data(event->resp.param.conn.private_data, data, length);
	event->resp.param.conn.private_data_len = REJ_ROOM;
	cm_event_raise(event);
}

void cm_hear_req(struct cm_id *from, const struct rdma_ucm_conn_param *param)
{
	uint8_t reason;
	bool heard;
	struct cm_event *event = cm_id_request(from, opposite(from->qp_type), &heard);

	if (!event) {
		reason = heard ? REJ_CONSUMER : REJ_NO_SERVICE;
		cm_mad_refused(from, reason);
		cm_hear_rej(from, reason, NULL, 0);
		return;
	}
	take_request(event->child, from);
	tell(event, event->child, param, cm_addr_room(from, REQ_ROOM));
	event->resp.param.conn.retry_count = from->retry_count;
	cm_event_raise(event);
}

int cm_cmd_connect(struct cm_cmd *cmd)
{
	const struct rdma_ucm_conn_param *param =
		&((const struct rdma_ucm_connect *)cmd->in)->conn_param;
	struct cm_id *id = cmd->id;

	if (!param->valid)
		return refuse(-EINVAL, "connection parameters that are not valid");
	if (id->state != CM_ROUTE_RESOLVED)
		return refuse(-EINVAL, "id whose route is not resolved");
	if (id->qp_type == IBV_QPT_UD)
		return cm_sidr_connect(id, param);
	if (id->qp_type == IBV_QPT_XRC_RECV)
		return refuse(-EINVAL, "QP that only receives");
	if (param->private_data_len > cm_addr_room(id, REQ_ROOM))
		return refuse(-EINVAL, "size of the private data");
	take_param(id, param);
	id->retry_count = cm_id_retries(param->retry_count);
	id->rnr_retry = cm_id_retries(param->rnr_retry_count);
	id->state = CM_CONNECT;
	enter(id, CM_REQ_SENT);
	id->far = device_is_far(id->dst_device);
	cm_mad_req(id, param);
	if (cm_id_is_wired(id))
		cm_hear_req(id, param);
	return 0;
}

/* ---- reply ---- */

void cm_hear_rep(struct cm_id *id, const struct cm_id *from,
		 const struct rdma_ucm_conn_param *param)
{
	struct cm_event *event = cm_event_new(id, CM_EVENT_CONNECT_RESPONSE, 0);

	id->remote_qpn = from->qpn;
	id->remote_psn = from->psn;
	id->responder_resources = from->initiator_depth;
	id->initiator_depth = from->responder_resources;
	id->rnr_retry = cm_id_retries(param->rnr_retry_count);
	enter(id, CM_REP_RCVD);
	if (!event)
		return;
	tell(event, id, param, REP_ROOM);
	cm_event_raise(event);
}

static int accept_request(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	struct cm_id *peer = cm_id_hearer(id);

	if (id->state != CM_CONNECT)
		return refuse(-EINVAL, "id that no request is for");
	if (id->ib_state == CM_SIDR_RCVD)
		return cm_sidr_accept(id, param);
	if (id->ib_state != CM_REQ_RCVD)
		return refuse(-EINVAL, "no request to accept");
	if (param->private_data_len > REP_ROOM)
		return refuse(-EINVAL, "size of the private data");
	take_param(id, param);
	enter(id, CM_REP_SENT);
	cm_mad_rep(id, param);
	/* The id that asked may have gone, or waited too long. */
	if (peer)
		cm_hear_rep(peer, id, param);
	return 0;
}

void cm_hear_rtu(struct cm_id *id)
{
	/* The program may have told of the connection by NOTIFY. */
	if (id->ib_state != CM_REP_SENT)
		return;
	enter(id, CM_ESTABLISHED);
	cm_event_plain(id, CM_EVENT_ESTABLISHED, 0);
}

/* The active side has seen the answer and its queue pair is up: the connection stands. */
static int establish(struct cm_id *id)
{
	struct cm_id *peer = cm_id_hearer(id);

	if (id->state != CM_CONNECT || id->ib_state != CM_REP_RCVD)
		return refuse(-EINVAL, "no reply to establish");
	enter(id, CM_ESTABLISHED);
	cm_mad_rtu(id);
	if (peer)
		cm_hear_rtu(peer);
	return 0;
}

/* With parameters the passive side accepts a request; without, the active side confirms a reply. */
int cm_cmd_accept(struct cm_cmd *cmd)
{
	const struct rdma_ucm_accept *in = cmd->in;
	int err;

	if (!in->conn_param.valid)
		return establish(cmd->id);
	err = accept_request(cmd->id, &in->conn_param);
	/* An id without a uid was not known to the program yet, so it had no events. */
	if (!err)
		cmd->id->uid = in->uid;
	return err;
}

/* The passive side has received a message before it was told of the connection. */
int cm_cmd_notify(struct cm_cmd *cmd)
{
	const uint32_t event = ((const struct rdma_ucm_notify *)cmd->in)->event;
	struct cm_id *id = cmd->id;

	if (event == IBV_EVENT_PATH_MIG)
		return id->ib_state == CM_ESTABLISHED ? 0
						      : refuse(-EINVAL, "id that is not connected");
	if (event != IBV_EVENT_COMM_EST)
		return refuse(-EINVAL, "event that is not known");
	if (id->ib_state == CM_ESTABLISHED)
		return refuse(-EISCONN, "id that is connected already");
	if (id->ib_state != CM_REP_SENT)
		return refuse(-EINVAL, "no reply was sent");
	cm_hear_rtu(id);
	return 0;
}

/* ---- reject ---- */

static int reject(struct cm_id *id, uint8_t reason, const void *data, uint8_t length)
{
	struct cm_id *peer = cm_id_hearer(id);

	if (id->ib_state == CM_SIDR_RCVD)
		return cm_sidr_reject(id, data, length);
	if (length > REJ_ROOM)
		return refuse(-EINVAL, "size of the private data");
	if (!cm_id_may_be_rejected(id))
		return refuse(-EINVAL, "nothing to reject");
	cm_mad_rej(id, reason, data, length);
	cm_id_part(id);
	enter(id, CM_OVER);
	if (peer)
		cm_hear_rej(peer, reason, data, length);
	return 0;
}

int cm_cmd_reject(struct cm_cmd *cmd)
{
	const struct rdma_ucm_reject *in = cmd->in;
	uint8_t reason = in->reason ? in->reason : REJ_CONSUMER;

	if (reason != REJ_CONSUMER && reason != REJ_VENDOR_OPTION)
		return refuse(-EINVAL, "reason");
	return reject(cmd->id, reason, in->private_data, in->private_data_len);
}

/* ---- end ---- */

static void tell_disconnected(struct cm_id *id, int status)
{
	if (id->state != CM_CONNECT)
		return;
	id->state = CM_DISCONNECT;
	cm_event_plain(id, CM_EVENT_DISCONNECTED, status);
}

/* When both ends disconnect at the same time, each has a request to answer. */
void cm_hear_dreq(struct cm_id *id)
{
	if (id->ib_state != CM_REP_SENT && id->ib_state != CM_ESTABLISHED &&
	    id->ib_state != CM_DREQ_SENT)
		return;
	enter(id, CM_DREQ_RCVD);
	tell_disconnected(id, 0);
}

void cm_hear_drep(struct cm_id *id)
{
	if (id->ib_state != CM_DREQ_SENT && id->ib_state != CM_DREQ_RCVD)
		return;
	cm_id_part(id);
	enter(id, CM_TIMEWAIT);
	tell_disconnected(id, 0);
}

static void ask_to_disconnect(struct cm_id *id)
{
	enter(id, CM_DREQ_SENT);
	cm_mad_dreq(id);
	if (!cm_id_is_wired(id))
		return;
	if (id->peer) {
		cm_hear_dreq(id->peer);
		return;
	}
	cm_mad_gone(id);
	cm_hear_drep(id);
}

static void answer_disconnect(struct cm_id *id)
{
	struct cm_id *peer = cm_id_hearer(id);

	cm_mad_drep(id);
	cm_id_part(id);
	enter(id, CM_TIMEWAIT);
	if (peer)
		cm_hear_drep(peer);
}

/* To disconnect is no error if the connection never began, or has ended. */
int cm_cmd_disconnect(struct cm_cmd *cmd)
{
	struct cm_id *id = cmd->id;

	if (id->ib_state == CM_NO_CONNECTION)
		return refuse(-EINVAL, "id that was never connected");
	if (id->ib_state == CM_ESTABLISHED)
		ask_to_disconnect(id);
	else if (id->ib_state == CM_DREQ_RCVD)
		answer_disconnect(id);
	return 0;
}

void cm_abandon(struct cm_id *id)
{
	struct cm_id *peer = cm_id_hearer(id);

	switch (id->ib_state) {
	case CM_REQ_SENT:
		cm_mad_rej(id, REJ_TIMEOUT, NULL, 0);
		cm_id_part(id);
		if (peer)
			cm_hear_rej(peer, REJ_TIMEOUT, NULL, 0);
		break;
	case CM_REQ_RCVD:
	case CM_REP_SENT:
	case CM_REP_RCVD:
		reject(id, REJ_CONSUMER, NULL, 0);
		break;
	case CM_ESTABLISHED:
		ask_to_disconnect(id);
		break;
	case CM_DREQ_RCVD:
		answer_disconnect(id);
		break;
	case CM_SIDR_RCVD:
		cm_sidr_reject(id, NULL, 0);
		break;
	default:
		break;
	}
	cm_id_part(id);
}

static void expired(struct timer *timer)
{
	struct cm_id *id = container_of(timer, struct cm_id, timer);

	if (id->ib_state == CM_TIMEWAIT) {
		id->ib_state = CM_OVER;
		if (id->state == CM_DISCONNECT)
			cm_event_plain(id, CM_EVENT_TIMEWAIT_EXIT, 0);
		return;
	}
	if (id->ib_state == CM_DREQ_SENT) {
		cm_id_part(id);
		enter(id, CM_TIMEWAIT);
		tell_disconnected(id, -ETIMEDOUT);
		return;
	}
	/*
	 * A peer that has the reply cannot confirm it any more. A peer that has only the request
	 * may still reply, in vain.
	 */
	if (id->peer && id->peer->ib_state == CM_REP_RCVD)
		id->peer->ib_state = CM_OVER;
	cm_id_part(id);
	id->ib_state = CM_OVER;
	cm_event_plain(id, CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}
