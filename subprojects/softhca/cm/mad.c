/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The messages of ib_cm. Within a machine only a capture sees them; to another machine they are
 * carried. Layouts: InfiniBand specification 12.6.
 */
#include "mad.h"
#include "id.h"

#include <base/bytes.h>
#include <capture/capture.h>
#include <machine/port.h>

#define CLASS_CM     0x07
#define CLASS_VERSION 2
#define METHOD_SEND  0x03
#define GSI_QPN	     1
#define GSI_QKEY     0x80010000u

/* As rdma_cm of the kernel sets them. */
#define RESPONSE_TIMEOUT 20
#define HOP_LIMIT	 1

/* The message under construction; one thread serves. */
static uint8_t mad[CM_MAD_BYTES];

/* ---- a message of any kind ---- */

/* @transaction: the number of the id that has begun what this is part of. Returns the data. */
static uint8_t *begin(enum cm_attribute attribute, uint32_t transaction)
{
	memset(mad, 0, sizeof(mad));
	mad[0] = 1; /* version */
	mad[1] = CLASS_CM;
	mad[2] = CLASS_VERSION;
	mad[3] = METHOD_SEND;
	put64(mad + MAD_TRANSACTION, transaction);
	put16(mad + MAD_ATTRIBUTE, (uint16_t)attribute);
	return mad + CM_MAD_HEADER;
}

/* With the numbers of both ids, as all messages but those of datagrams have them. */
static uint8_t *begin_for(enum cm_attribute attribute, const struct cm_id *id,
			  uint32_t transaction)
{
	uint8_t *data = begin(attribute, transaction);

	put32(data + FROM_ID, id->number);
	put32(data + TO_ID, id->peer_number);
	return data;
}

/* Each port has a QP 1 with packets of its own numbers. */
static uint32_t next_psn(const struct hca_device *device, uint8_t port)
{
	static uint32_t psn[SOFTHCA_MAX_DEVICES][SETTINGS_MAX_PORTS + 1];

	return psn[device->index][port]++ & 0xffffff;
}

static void send_mad(struct cm_id *id)
{
	const struct hca_machine *machine = id->file->machine;
	struct packet packet;

	if (id->far)
		cm_far_send(id, mad);
	if (!capture_runs)
		return;
	packet = (struct packet){
		.device = id->device, .port = id->port,
		.av = { .dlid = id->dst_device->port[id->dst_port].lid,
			.sgid_index = port_gid_index(machine, id->src.family),
			.hop_limit = HOP_LIMIT, .global = machine->settings.ethernet,
			.qpn = GSI_QPN },
		.source_qpn = GSI_QPN,
		.opcode = PACKET_UD | PACKET_SEND_ONLY,
		.migrated = true,
		.pkey = CM_PKEY,
		.psn = next_psn(id->device, id->port),
		.header_length = 8, /* DETH */
		.length = sizeof(mad), .payload = mad,
	};
	cm_addr_gid(id, id->dst_device, id->dst_port, packet.av.dgid);
	put32(packet.header, GSI_QKEY);
	put32(packet.header + 4, GSI_QPN);
	capture_packet(&packet);
}

/* ---- private data: with IP, rdma_cm puts its addresses before the program's ---- */

static void put_ip(uint8_t at[16], const union cm_address *address)
{
	if (address->family == AF_INET)
		memcpy(at + 12, &address->in.sin_addr, 4);
	else
		memcpy(at, &address->in6.sin6_addr, 16);
}

static void put_request_data(uint8_t *at, const struct cm_id *id,
			     const struct rdma_ucm_conn_param *param)
{
	const size_t header = CM_MAD_DATA - cm_addr_room(id, CM_MAD_DATA);

	if (header) {
		at[1] = id->src.family == AF_INET ? 4 << 4 : 6 << 4;
		put16(at + 2, cm_addr_port(&id->src));
		put_ip(at + 4, &id->src);
		put_ip(at + 20, &id->dst);
	}
	put_data(at + header, param->private_data, param->private_data_len);
}

/* ---- connections ---- */

static uint8_t service_type(const struct cm_id *id)
{
	switch (id->qp_type) {
	case IBV_QPT_RC:
		return 0;
	case IBV_QPT_UC:
		return 1;
	default:
		return 3; /* an extended one */
	}
}

static void put_path(uint8_t *at, const struct cm_id *id)
{
	put16(at + PATH_SLID, port_lid(id->device, id->port));
	put16(at + PATH_DLID, port_lid(id->dst_device, id->dst_port));
	cm_addr_gid(id, id->device, id->port, at + PATH_SGID);
	cm_addr_gid(id, id->dst_device, id->dst_port, at + PATH_DGID);
	at[PATH_RATE] = id->device->model->path_rate;
	at[PATH_HOP_LIMIT] = HOP_LIMIT;
	at[PATH_LOCAL] =
		id->device->machine->settings.ethernet ? 0 : 1 << 3; /* within the subnet */
	at[PATH_TIMEOUT] = CM_ACK_TIMEOUT << 3;
}

void cm_mad_req(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	uint8_t *data = begin_for(CM_REQ, id, id->number);

	put32(data + TO_ID, 0);
	put64(data + REQ_SERVICE, cm_addr_service(id, &id->dst));
	put64(data + REQ_CA_GUID, id->device->guid);
	put32(data + REQ_QPN, id->qpn << 8 | id->responder_resources);
	data[REQ_INITIATOR] = id->initiator_depth;
	data[REQ_FLOW] = (uint8_t)(RESPONSE_TIMEOUT << 3 | service_type(id) << 1 |
				   (param->flow_control & 1));
	put32(data + REQ_PSN, id->psn << 8 | RESPONSE_TIMEOUT << 3 | id->retry_count);
	put16(data + REQ_PKEY, CM_PKEY);
	data[REQ_RNR_RETRY] = (uint8_t)(port_mtu(id->device->machine) << 4 | id->rnr_retry);
	data[REQ_SRQ] = (uint8_t)(CM_RETRIES << 4 | (param->srq != 0) << 3 |
				  (service_type(id) == 3)); /* XRC */
	put_path(data + REQ_PATH, id);
	put_request_data(data + REQ_PRIVATE, id, param);
	send_mad(id);
}

void cm_mad_rep(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	uint8_t *data = begin_for(CM_REP, id, id->peer_number);

	put32(data + REP_QPN, id->qpn << 8);
	put32(data + REP_PSN, id->psn << 8);
	data[REP_RESPONDER] = id->responder_resources;
	data[REP_INITIATOR] = id->initiator_depth;
	data[REP_FLOW] = (uint8_t)(id->device->model->ack_delay << 3 | (param->flow_control & 1));
	data[REP_RNR_RETRY] =
		(uint8_t)(cm_id_retries(param->rnr_retry_count) << 5 | (param->srq != 0) << 4);
	put64(data + REP_CA_GUID, id->device->guid);
	put_data(data + REP_PRIVATE, param->private_data, param->private_data_len);
	send_mad(id);
}

void cm_mad_rtu(struct cm_id *id)
{
	begin_for(CM_RTU, id, id->number);
	send_mad(id);
}

/* The kind of message that is rejected: REQ, REP, or none. */
static uint8_t rejected(const struct cm_id *id)
{
	return id->ib_state == CM_REQ_RCVD ? 0 : id->ib_state == CM_REP_RCVD ? 1 : 2;
}

void cm_mad_rej(struct cm_id *id, uint8_t reason, const void *content, size_t length)
{
	const bool passive = id->ib_state == CM_REQ_RCVD || id->ib_state == CM_REP_SENT;
	uint8_t *data = begin_for(CM_REJ, id, passive ? id->peer_number : id->number);

	data[REJ_MESSAGE] = (uint8_t)(rejected(id) << 6);
	put16(data + REJ_REASON, reason);
	put_data(data + REJ_PRIVATE, content, length);
	send_mad(id);
}

void cm_mad_dreq(struct cm_id *id)
{
	put32(begin_for(CM_DREQ, id, id->number) + DREQ_QPN, id->remote_qpn << 8);
	send_mad(id);
}

void cm_mad_drep(struct cm_id *id)
{
	begin_for(CM_DREP, id, id->peer_number);
	send_mad(id);
}

/* ---- datagrams ---- */

void cm_mad_sidr_req(struct cm_id *id, const struct rdma_ucm_conn_param *param)
{
	uint8_t *data = begin(CM_SIDR_REQ, id->number);

	put32(data + FROM_ID, id->number);
	put16(data + SIDR_REQ_PKEY, CM_PKEY);
	put64(data + SIDR_REQ_SERVICE, cm_addr_service(id, &id->dst));
	put_request_data(data + SIDR_REQ_PRIVATE, id, param);
	send_mad(id);
}

void cm_mad_sidr_rep(struct cm_id *id, uint8_t status, uint32_t qpn, const void *content,
		     size_t length)
{
	uint8_t *data = begin(CM_SIDR_REP, id->peer_number);

	put32(data + FROM_ID, id->peer_number);
	data[SIDR_REP_STATUS] = status;
	put32(data + SIDR_REP_QPN, qpn << 8);
	put64(data + SIDR_REP_SERVICE, cm_addr_service(id, &id->src));
	put32(data + SIDR_REP_QKEY, status ? 0 : id->qkey);
	put_data(data + SIDR_REP_PRIVATE, content, length);
	send_mad(id);
}

/* ---- answers by a host where there is no id ---- */

/* The id at the destination that there would be. */
static struct cm_id nobody(const struct cm_id *id)
{
	return (struct cm_id){
		.file = id->file,
		.ps = id->ps,
		.ib_state = CM_REQ_RCVD,
		.peer_number = id->number,
		.src = id->dst,
		.dst = id->src,
		.device = id->dst_device,
		.port = id->dst_port,
		.dst_device = id->device,
		.dst_port = id->port,
		.far = device_is_far(id->device),
		.incarnation = id->incarnation
	};
}

void cm_mad_refused(const struct cm_id *id, uint8_t reason)
{
	struct cm_id there = nobody(id);

	cm_mad_rej(&there, reason, NULL, 0);
}

void cm_mad_sidr_refused(const struct cm_id *id, uint8_t status)
{
	struct cm_id there = nobody(id);

	cm_mad_sidr_rep(&there, status, 0, NULL, 0);
}

void cm_mad_gone(const struct cm_id *id)
{
	struct cm_id there = nobody(id);

	cm_mad_drep(&there);
}
