/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ids whose peers are on another machine. The messages of ib_cm are carried as they are; here they
 * are read. What they say of the sender goes into an image of its id.
 */
#include "cm.h"

#include <fabric/fabric.h>
#include <model/segment.h>

#include <endian.h>
#include <string.h>

/* Where private data begins in each message. */
enum { REQ_DATA = 140, REP_DATA = 36, REJ_DATA = 84, SIDR_REQ_DATA = 16, SIDR_REP_DATA = 96 };
#define REJ_ROOM 148
#define SIDR_ROOM 136

static struct cm_file elsewhere; /* of all images */

void cm_far_init(struct hca_machine *machine)
{
	elsewhere.machine = machine;
	elsewhere.host = -1;
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
	struct rdma_ucm_conn_param param = { .flow_control = data[43] & 1,
					     .srq = data[51] >> 3 & 1 };
	const size_t header = CM_MAD_BYTES - CM_MAD_HEADER - REQ_DATA;

	image->number = get32(data);
	image->qpn = get32(data + 32) >> 8;
	image->responder_resources = data[35];
	image->initiator_depth = data[39];
	image->psn = get32(data + 44) >> 8;
	image->retry_count = data[47] & 7;
	image->rnr_retry = data[50] & 7;
	read_addresses(image, family, data + REQ_DATA, get64(data + 8));
	read_private(&param, data + REQ_DATA + header - cm_addr_room(image, header),
		     cm_addr_room(image, header));
	cm_hear_request(image, &param);
}

static void read_sidr_request(struct cm_id *image, const uint8_t *data, uint16_t family)
{
	struct rdma_ucm_conn_param param = { 0 };
	const size_t header = CM_MAD_BYTES - CM_MAD_HEADER - SIDR_REQ_DATA;

	image->number = get32(data);
	read_addresses(image, family, data + SIDR_REQ_DATA, get64(data + 8));
	read_private(&param, data + SIDR_REQ_DATA + header - cm_addr_room(image, header),
		     cm_addr_room(image, header));
	cm_sidr_hear_request(image, &param);
}

/* The id of the request, if a listener has got it, has its peer elsewhere. */
static void keep_child(struct cm_id *image)
{
	struct cm_id *child = image->peer;

	if (!child)
		return;
	child->peer = NULL;
	child->far = true;
}

static bool take_request(struct cm_id *image, const struct cm_far *message, uint16_t attribute)
{
	const uint8_t *data = message->mad + CM_MAD_HEADER;
	const uint16_t family = message->family;

	if ((attribute != CM_REQ && attribute != CM_SIDR_REQ) ||
	    (family != AF_INET && family != AF_INET6 && family != CM_AF_IB))
		return false;
	if (attribute == CM_REQ)
		read_request(image, data, family);
	else
		read_sidr_request(image, data, family);
	keep_child(image);
	return true;
}

/* ---- everything else is for an id that is known ---- */

static bool belongs(const struct cm_id *id, int home, uint32_t from)
{
	return id->far && id->dst_device && id->dst_device->home == home &&
	       (!from || !id->peer_number || id->peer_number == from);
}

/* By its number; or, where the sender does not know that yet, by the sender's own. */
static struct cm_id *find(int home, uint32_t to, uint32_t from)
{
	struct hca_cm *cm = &elsewhere.machine->cm;
	struct cm_id *id = to ? numtab_find(&cm->numbers, to) : NULL;

	if (id || to)
		return id && belongs(id, home, from) ? id : NULL;
	list_for_each(struct cm_id, other, &cm->ids, known)
	{
		if (belongs(other, home, from) && other->peer_number == from)
			return other;
	}
	return NULL;
}

static void take_reply(struct cm_id *id, struct cm_id *image, const uint8_t *data)
{
	struct rdma_ucm_conn_param param = {
		.flow_control = data[26] & 1,
		.srq = data[27] >> 4 & 1,
		.rnr_retry_count = data[27] >> 5,
	};

	if (id->link != CM_REQ_SENT)
		return;
	id->peer_number = get32(data);
	image->qpn = get32(data + 12) >> 8;
	image->psn = get32(data + 20) >> 8;
	image->responder_resources = data[24];
	image->initiator_depth = data[25];
	read_private(&param, data + REP_DATA, CM_MAD_BYTES - CM_MAD_HEADER - REP_DATA);
	cm_hear_reply(id, image, &param);
}

static void take_sidr_reply(struct cm_id *id, struct cm_id *image, const uint8_t *data)
{
	if (id->link != CM_SIDR_SENT)
		return;
	image->qpn = get32(data + 8) >> 8;
	image->qkey = get32(data + 20);
	cm_id_part(id);
	cm_sidr_hear_reply(id, data[4], image, data + SIDR_REP_DATA, SIDR_ROOM);
}

static bool may_be_rejected(const struct cm_id *id)
{
	return id->link == CM_REQ_SENT || id->link == CM_REQ_RCVD || id->link == CM_REP_SENT ||
	       id->link == CM_REP_RCVD;
}

/* When both ends disconnect at the same time, each takes the other's request as the answer. */
static void disconnected(struct cm_id *id)
{
	if (id->link != CM_DREQ_SENT)
		return;
	cm_id_part(id);
	cm_hear_disconnected(id);
}

static void take_answer(int home, struct cm_id *image, uint16_t attribute, const uint8_t *data)
{
	const bool sidr = attribute == CM_SIDR_REP;
	struct cm_id *id = find(home, get32(sidr ? data : data + 4), sidr ? 0 : get32(data));

	if (!id)
		return;
	switch (attribute) {
	case CM_REP:
		take_reply(id, image, data);
		break;
	case CM_RTU:
		if (id->link == CM_REP_SENT)
			cm_hear_ready(id);
		break;
	case CM_REJ:
		if (may_be_rejected(id))
			cm_hear_reject(id, (uint8_t)get16(data + 10), data + REJ_DATA, REJ_ROOM);
		break;
	case CM_DREQ:
		if (id->link == CM_REP_SENT || id->link == CM_ESTABLISHED)
			cm_hear_disconnect(id);
		else
			disconnected(id);
		break;
	case CM_DREP:
		disconnected(id);
		break;
	case CM_SIDR_REP:
		take_sidr_reply(id, image, data);
		break;
	default:
		break;
	}
}

void cm_far_take(int home, const void *body, size_t length)
{
	const struct cm_far *message = body;
	struct cm_id image = { .file = &elsewhere };
	uint16_t attribute;

	if (length != sizeof(*message) || !elsewhere.machine)
		return;
	attribute = get16(message->mad + 16);
	image.ps = message->ps;
	image.qp_type = message->qp_type;
	image.device = machine_far(elsewhere.machine, message->slid, &image.port);
	image.dst_device = machine_route(elsewhere.machine, message->dlid, &image.dst_port);
	if (!image.device || image.device->home != home || !image.dst_device ||
	    !image.dst_device->port[image.dst_port].active)
		return;
	elsewhere.machine->active = true;
	if (!take_request(&image, message, attribute))
		take_answer(home, &image, attribute, message->mad + CM_MAD_HEADER);
}
