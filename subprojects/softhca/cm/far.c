/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ids whose peers are on another machine. The messages of ib_cm are carried as they are; here they
 * are read. What they say of the sender goes into an image of its id.
 */
#include "id.h"
#include "mad.h"

#include <base/bytes.h>
#include <fabric/fabric.h>

#include <endian.h>
#include <string.h>

static struct cm_file elsewhere; /* of all images */

void cm_far_init(struct hca_machine *machine)
{
	elsewhere.machine = machine;
	elsewhere.host = -1;
	machine->cm->incarnation = (uint32_t)hca_now() | 1;
}

/* ---- ids of this machine ---- */

static bool belongs(const struct cm_id *id, int machine, const struct cm_id *image)
{
	return id->far && id->dst_device && id->dst_device->machine_number == machine &&
	       (!image->number || !id->peer_number || id->peer_number == image->number) &&
	       (!id->incarnation || !image->incarnation || id->incarnation == image->incarnation);
}

/* Before the sender knows the child's number, the child is found by the sender's number. */
static struct cm_id *find_child(int machine, const struct cm_id *image)
{
	list_for_each(struct cm_id, id, &elsewhere.machine->cm->ids, known) {
		if (belongs(id, machine, image) && id->peer_number == image->number &&
		    (id->ib_state == CM_REQ_RCVD || id->ib_state == CM_REP_SENT ||
		     id->ib_state == CM_SIDR_RCVD))
			return id;
	}
	return NULL;
}

static struct cm_id *find(int machine, uint32_t number, const struct cm_id *image)
{
	struct cm_id *id;

	if (!number)
		return find_child(machine, image);
	id = numtab_find(&elsewhere.machine->cm->numbers, number);
	return id && belongs(id, machine, image) ? id : NULL;
}

/* ---- requests ---- */

/* With IP the addresses are before the private data, else they are those of the ports. */
static void read_addresses(struct cm_id *image, uint16_t family, const uint8_t *header,
			   uint64_t service)
{
	image->src = image->dst = cm_addr_none(family);
	cm_addr_set(&image->src, image->device, image->port);
	cm_addr_set(&image->dst, image->dst_device, image->dst_port);
	if (family == CM_AF_IB) {
		image->dst.ib.sid = htobe64(service);
		image->dst.ib.sid_mask = ~0ull;
		return;
	}
	cm_addr_set_port(&image->src, get16(header + 2));
	cm_addr_set_port(&image->dst, (uint16_t)service);
}

static void read_private(struct rdma_ucm_conn_param *param, const uint8_t *at, size_t length)
{
	memcpy(param->private_data, at, length);
	param->private_data_len = (uint8_t)length;
}

static void read_request(struct cm_id *image, const uint8_t *data, uint16_t family)
{
	struct rdma_ucm_conn_param param = { .flow_control = data[REQ_FLOW] & 1,
					     .srq = data[REQ_SRQ] >> 3 & 1 };
	size_t room;

	image->qpn = get32(data + REQ_QPN) >> 8;
	image->responder_resources = data[REQ_RESPONDER];
	image->initiator_depth = data[REQ_INITIATOR];
	image->psn = get32(data + REQ_PSN) >> 8;
	image->retry_count = data[REQ_RETRIES] & 7;
	image->rnr_retry = data[REQ_RNR_RETRY] & 7;
	read_addresses(image, family, data + REQ_PRIVATE, get64(data + REQ_SERVICE));
	room = cm_addr_room(image, REQ_ROOM);
	read_private(&param, data + REQ_PRIVATE + REQ_ROOM - room, room);
	cm_hear_req(image, &param);
}

static void read_sidr_request(struct cm_id *image, const uint8_t *data, uint16_t family)
{
	struct rdma_ucm_conn_param param = { 0 };
	size_t room;

	read_addresses(image, family, data + SIDR_REQ_PRIVATE, get64(data + SIDR_REQ_SERVICE));
	room = cm_addr_room(image, SIDR_REQ_ROOM);
	read_private(&param, data + SIDR_REQ_PRIVATE + SIDR_REQ_ROOM - room, room);
	cm_sidr_hear_req(image, &param);
}

/* The id of the request, if a listener has got it, has its peer elsewhere. */
static void keep_child(struct cm_id *image)
{
	struct cm_id *child = image->peer;

	if (!child)
		return;
	child->peer = NULL;
	child->far = true;
	child->incarnation = image->incarnation;
}

/* Of a request that is repeated, the first copy has made the id. */
static bool take_request(int machine, struct cm_id *image, const struct cm_far *message,
			 uint16_t attribute)
{
	const uint8_t *data = message->mad + CM_MAD_HEADER;
	const uint16_t family = message->family;

	if ((attribute != CM_REQ && attribute != CM_SIDR_REQ) ||
	    (family != AF_INET && family != AF_INET6 && family != CM_AF_IB))
		return false;
	image->number = get32(data + FROM_ID);
	if (find_child(machine, image))
		return true;
	if (attribute == CM_REQ)
		read_request(image, data, family);
	else
		read_sidr_request(image, data, family);
	keep_child(image);
	return true;
}

/* ---- everything else is for an id that is known ---- */

static void take_reply(struct cm_id *id, struct cm_id *image, const uint8_t *data)
{
	struct rdma_ucm_conn_param param = {
		.flow_control = data[REP_FLOW] & 1,
		.srq = data[REP_RNR_RETRY] >> 4 & 1,
		.rnr_retry_count = data[REP_RNR_RETRY] >> 5,
	};

	/* It is repeated, so the confirmation was lost. */
	if (id->ib_state == CM_ESTABLISHED)
		cm_mad_rtu(id);
	if (id->ib_state != CM_REQ_SENT)
		return;
	id->peer_number = image->number;
	id->incarnation = image->incarnation;
	image->qpn = get32(data + REP_QPN) >> 8;
	image->psn = get32(data + REP_PSN) >> 8;
	image->responder_resources = data[REP_RESPONDER];
	image->initiator_depth = data[REP_INITIATOR];
	read_private(&param, data + REP_PRIVATE, REP_ROOM);
	cm_hear_rep(id, image, &param);
}

static void take_sidr_reply(struct cm_id *id, struct cm_id *image, const uint8_t *data)
{
	if (id->ib_state != CM_SIDR_SENT)
		return;
	image->qpn = get32(data + SIDR_REP_QPN) >> 8;
	image->qkey = get32(data + SIDR_REP_QKEY);
	cm_id_part(id);
	cm_sidr_hear_rep(id, data[SIDR_REP_STATUS], image, data + SIDR_REP_PRIVATE, SIDR_REP_ROOM);
}

/* @late: it is for an id of the daemon before this one. */
static void take_answer(int machine, struct cm_id *image, uint16_t attribute, const uint8_t *data,
			bool late)
{
	const bool sidr = attribute == CM_SIDR_REP;
	struct cm_id *id = NULL;

	image->number = sidr ? 0 : get32(data + FROM_ID);
	if (!late)
		id = find(machine, get32(data + (sidr ? FROM_ID : TO_ID)), image);
	if (!id && attribute == CM_DREQ)
		cm_mad_gone(image);
	if (!id)
		return;
	switch (attribute) {
	case CM_REP:
		take_reply(id, image, data);
		break;
	case CM_RTU:
		cm_hear_rtu(id);
		break;
	case CM_REJ:
		if (cm_id_may_be_rejected(id))
			cm_hear_rej(id, (uint8_t)get16(data + REJ_REASON), data + REJ_PRIVATE,
				    REJ_ROOM);
		break;
	case CM_DREQ:
		cm_hear_dreq(id);
		break;
	case CM_DREP:
		cm_hear_drep(id);
		break;
	case CM_SIDR_REP:
		take_sidr_reply(id, image, data);
		break;
	default:
		break;
	}
}

void cm_far_take(int machine, const void *body, size_t length)
{
	const struct cm_far *message = body;
	struct cm_id image = { .file = &elsewhere };
	uint16_t attribute;
	bool late;

	if (length != sizeof(*message) || !elsewhere.machine)
		return;
	attribute = get16(message->mad + MAD_ATTRIBUTE);
	image.ps = message->ps;
	image.qp_type = message->qp_type;
	image.incarnation = message->from;
	image.device = machine_far(elsewhere.machine, message->slid, &image.port);
	image.dst_device = machine_route(elsewhere.machine, message->dlid, &image.dst_port);
	if (!image.device || image.device->machine_number != machine || !image.dst_device ||
	    !image.dst_device->port[image.dst_port].active)
		return;
	elsewhere.machine->active = true;
	late = message->to && message->to != elsewhere.machine->cm->incarnation;
	if (late || !take_request(machine, &image, message, attribute))
		take_answer(machine, &image, attribute, message->mad + CM_MAD_HEADER, late);
}
