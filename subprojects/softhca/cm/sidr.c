/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Unreliable ids: service id resolution. */
#include "id.h"
#include "mad.h"

#include <base/refuse.h>

#include <errno.h>

/* The Q_Keys of ids that were given none; those of the port space IPOIB have their own. */
#define UDP_QKEY   0x01234567u
#define IPOIB_QKEY 0x0b1bu

#define SIDR_UNSUPPORTED 1
#define SIDR_REJECT	 2

uint32_t cm_sidr_qkey(struct cm_id *id)
{
	if (!id->qkey)
		id->qkey = id->ps == RDMA_PS_IPOIB ? IPOIB_QKEY : UDP_QKEY;
	return id->qkey;
}

/* Tells the id that asked what has come of its request. */
static void raise_reply(struct cm_id *id, enum cm_event_kind kind, int status, const void *data,
			size_t length)
{
	struct cm_event *event = cm_event_new(id, kind, status);
	struct rdma_ucm_ud_param *ud;

	timer_stop(&id->timer);
	id->ib_state = CM_OVER;
	if (!event)
		return;
	ud = &event->resp.param.ud;
	put_data(ud->private_data, data, length);
	ud->private_data_len = SIDR_REP_ROOM;
	if (!status) {
		ud->qp_num = id->remote_qpn;
		ud->qkey = id->qkey;
		cm_addr_vector_to_peer(id, &ud->ah_attr);
	}
	cm_event_raise(event);
}

/* The peer has not answered. It may still do so, in vain. */
static void expired(struct timer *timer)
{
	struct cm_id *id = container_of(timer, struct cm_id, timer);

	cm_id_part(id);
	id->ib_state = CM_OVER;
	cm_event_plain(id, CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

void cm_sidr_hear_req(struct cm_id *from, const struct rdma_ucm_conn_param *param)
{
	uint8_t status;
	bool heard;
	struct cm_event *event = cm_id_request(from, IBV_QPT_UD, &heard);
	struct rdma_ucm_ud_param *ud;

	if (!event) {
		status = heard ? SIDR_REJECT : SIDR_UNSUPPORTED;
		cm_mad_sidr_refused(from, status);
		raise_reply(from, CM_EVENT_UNREACHABLE, status, NULL, 0);
		return;
	}
	event->child->ib_state = CM_SIDR_RCVD;
	ud = &event->resp.param.ud;
	put_data(ud->private_data, param->private_data, param->private_data_len);
	ud->private_data_len = (uint8_t)cm_addr_room(from, SIDR_REQ_ROOM);
	cm_event_raise(event);
}

int cm_sidr_connect(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	if (param->private_data_len > cm_addr_room(id, SIDR_REQ_ROOM))
		return refuse(-EINVAL, "size of the private data");
	id->state = CM_CONNECT;
	id->ib_state = CM_SIDR_SENT;
	cm_wait(id, (unsigned int)id->file->machine->settings.cm_timeout, expired);
	id->far = device_is_far(id->dst_device);
	cm_mad_sidr_req(id, param);
	if (cm_id_is_wired(id))
		cm_sidr_hear_req(id, param);
	return 0;
}

void cm_sidr_hear_rep(struct cm_id *id, uint8_t status, const struct cm_id *from, const void *data,
		      size_t length)
{
	if (!status) {
		id->remote_qpn = from->qpn;
		id->qkey = from->qkey;
	}
	raise_reply(id, status ? CM_EVENT_UNREACHABLE : CM_EVENT_ESTABLISHED, status, data, length);
}

int cm_sidr_accept(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	struct cm_id *peer = cm_id_hearer(id);

	if (param->private_data_len > SIDR_REP_ROOM)
		return refuse(-EINVAL, "size of the private data");
	if (param->qkey && id->qkey && param->qkey != id->qkey)
		return refuse(-EINVAL, "Q_Key");
	if (param->qkey)
		id->qkey = param->qkey;
	id->ib_state = CM_OVER;
	id->qpn = param->qp_num & 0xffffff;
	cm_sidr_qkey(id); /* chooses it */
	cm_mad_sidr_rep(id, 0, id->qpn, param->private_data, param->private_data_len);
	cm_id_part(id);
	/* The one that asked may have gone. */
	if (peer)
		cm_sidr_hear_rep(peer, 0, id, param->private_data, param->private_data_len);
	return 0;
}

int cm_sidr_reject(struct cm_id *id, const void *data, uint8_t length)
{
	struct cm_id *peer = cm_id_hearer(id);

	if (length > SIDR_REP_ROOM)
		return refuse(-EINVAL, "size of the private data");
	id->ib_state = CM_OVER;
	cm_mad_sidr_rep(id, SIDR_REJECT, 0, data, length);
	cm_id_part(id);
	if (peer)
		cm_sidr_hear_rep(peer, SIDR_REJECT, id, data, length);
	return 0;
}
