/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The packets of a request and of its answer, as adapters would send them, for a capture. */
#include "wire.h"

#include <base/bytes.h>
#include <machine/port.h>

/* Syndromes of an AETH (InfiniBand specification 9.7.5.2). */
enum {
	ACK = 0x1f, /* no credits are counted */
	NAK_NOT_READY = 0x20, /* with the RNR timer */
	NAK_INVALID_REQUEST = 0x61,
	NAK_REMOTE_ACCESS = 0x62,
	NAK_REMOTE_OPERATION = 0x63,
};

#define ANY_PKEY 0xffff /* in the table's only place with a P_Key */

/* The payload of all packets of a piece. */
static uint8_t payload[TRANSPORT_PIECE];

static uint8_t transport_of(const struct hca_qp *qp)
{
	switch (qp->type) {
	case IBV_QPT_UC:
		return PACKET_UC;
	case IBV_QPT_UD:
		return PACKET_UD;
	case IBV_QPT_RC:
		return PACKET_RC;
	default:
		return PACKET_XRC;
	}
}

/* A packet that @qp sends on its path. */
static struct packet packet_of(const struct hca_qp *qp, uint8_t operation)
{
	return (struct packet){
		.device = qp->device,
		.port = qp->attr.port,
		.av = path_av(qp),
		.source_qpn = qp->qpn,
		.opcode = (uint8_t)(transport_of(qp) | operation),
		.migrated = qp->attr.path_mig_state == IBV_MIG_MIGRATED,
		.pkey = qp->attr.pkey_index ? 0 : ANY_PKEY,
		.psn = sq_psn(qp),
		.payload = payload,
	};
}

/* ---- headers behind the BTH ---- */

static uint8_t *more(struct packet *packet, uint32_t bytes)
{
	uint8_t *at = packet->header + packet->header_length;

	packet->header_length += bytes;
	return at;
}

static void add32(struct packet *packet, uint32_t value)
{
	put32(more(packet, 4), value);
}

static void add64(struct packet *packet, uint64_t value)
{
	put64(more(packet, 8), value);
}

static void add_reth(struct packet *packet, const struct attempt *attempt, uint64_t length)
{
	add64(packet, attempt->wqe->remote_address + attempt->offset);
	add32(packet, attempt->wqe->rkey);
	add32(packet, (uint32_t)length);
}

static void add_immediate(struct packet *packet, const struct wqe *wqe)
{
	memcpy(more(packet, sizeof(wqe->imm)), &wqe->imm, sizeof(wqe->imm));
}

/* Each request of XRC names the SRQ. */
static void add_xrceth(struct packet *packet, const struct attempt *attempt)
{
	if (attempt->qp->type == IBV_QPT_XRC_SEND)
		add32(packet, attempt->wqe->srqn);
}

/* ---- payload ---- */

/* False: the program's memory is gone, so that its adapter could send nothing. */
static bool read_payload(const struct attempt *attempt, uint64_t length)
{
	struct mem_vec from = attempt->local, to;

	mem_vec_seek(&from, attempt->offset);
	mem_vec_init(&to, NULL);
	mem_vec_add(&to, (uint64_t)(uintptr_t)payload, (size_t)length);
	return mem_copy(&to, &from, length) == MEM_OK;
}

/* Where a packet stands in its message. */
enum position { FIRST, MIDDLE, LAST, ONLY };

static enum position position_of(bool first, bool last)
{
	if (first)
		return last ? ONLY : FIRST;
	return last ? LAST : MIDDLE;
}

/*
 * Sends the piece at hand as packets that begin as @packet does; @complete adds their headers. The
 * last packet of each piece asks for an acknowledgement.
 */
static void send_piece(const struct attempt *attempt, struct packet packet, bool first, bool last,
		       void (*complete)(struct packet *packet, const struct attempt *attempt,
					enum position position))
{
	const uint32_t mtu = qp_mtu(attempt->qp), count = operation_packets(attempt);
	const uint8_t opcode = packet.opcode;

	if (!read_payload(attempt, count > 1 ? attempt->part
					     : capture_wants((uint32_t)attempt->part)))
		return;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t at = (uint64_t)i * mtu, left = attempt->part - at;

		packet.opcode = opcode;
		packet.header_length = 0;
		packet.length = left < mtu ? (uint32_t)left : mtu;
		packet.payload = payload + at;
		packet.ask_ack = i == count - 1;
		complete(&packet, attempt, position_of(first && !i, last && i == count - 1));
		capture_packet(&packet);
		packet.psn = (packet.psn + 1) & PSN_MASK;
	}
}

/* ---- requests ---- */

static bool is_write(const struct wqe *wqe)
{
	return wqe->opcode == OP_WRITE || wqe->opcode == OP_WRITE_IMM;
}

/* SEND: First, Middle, Last, Last with Immediate, Only, Only with Immediate; WRITE alike. */
static void complete_message(struct packet *packet, const struct attempt *attempt,
			     enum position position)
{
	static const uint8_t opcodes[] = {
		[FIRST] = 0, [MIDDLE] = 1, [LAST] = 2, [ONLY] = PACKET_SEND_ONLY,
	};
	const struct wqe *wqe = attempt->wqe;
	const bool last = position == LAST || position == ONLY;
	const bool immediate = last && (wqe->opcode == OP_SEND_IMM || wqe->opcode == OP_WRITE_IMM);

	packet->opcode = (uint8_t)(packet->opcode + opcodes[position] + immediate);
	packet->solicited = last && wqe->solicited;
	add_xrceth(packet, attempt);
	if (is_write(wqe) && (position == FIRST || position == ONLY))
		add_reth(packet, attempt, wqe->length);
	if (immediate)
		add_immediate(packet, wqe);
	packet->ask_ack &= attempt->qp->type != IBV_QPT_UC;
}

/* Each piece is asked for by a request of its own. */
static void send_read(const struct attempt *attempt)
{
	struct packet packet = packet_of(attempt->qp, PACKET_READ);

	add_xrceth(&packet, attempt);
	add_reth(&packet, attempt, attempt->part);
	packet.ask_ack = true;
	capture_packet(&packet);
}

static void send_atomic(const struct attempt *attempt)
{
	const struct wqe *wqe = attempt->wqe;
	const bool swaps = wqe->opcode == OP_ATOMIC_CS;
	struct packet packet = packet_of(attempt->qp, swaps ? PACKET_SWAP : PACKET_ADD);

	add_xrceth(&packet, attempt);
	add64(&packet, wqe->remote_address);
	add32(&packet, wqe->rkey);
	add64(&packet, wqe->swap_add);
	add64(&packet, swaps ? wqe->compare : 0);
	packet.ask_ack = true;
	capture_packet(&packet);
}

void tap_request(const struct attempt *attempt)
{
	const struct wqe *wqe = attempt->wqe;

	if (!capture_runs)
		return;
	if (wqe->opcode == OP_READ)
		send_read(attempt);
	else if (operation_changes_sender(wqe))
		send_atomic(attempt);
	else
		send_piece(attempt,
			   packet_of(attempt->qp, is_write(wqe) ? PACKET_WRITE : PACKET_SEND),
			   !attempt->offset, attempt->last, complete_message);
}

void tap_datagram(const struct attempt *attempt, uint32_t qkey)
{
	const struct wqe *wqe = attempt->wqe;
	const bool immediate = wqe->opcode == OP_SEND_IMM;
	struct packet packet;

	if (!capture_runs)
		return;
	packet = packet_of(attempt->qp, (uint8_t)(PACKET_SEND_ONLY + immediate));
	if (!read_payload(attempt, capture_wants((uint32_t)attempt->part)))
		return;
	packet.av = wqe->av;
	packet.solicited = wqe->solicited;
	packet.length = (uint32_t)wqe->length;
	add32(&packet, qkey);
	add32(&packet, attempt->qp->qpn);
	if (immediate)
		add_immediate(&packet, wqe);
	capture_packet(&packet);
}

/* ---- answers ---- */

static void add_aeth(struct packet *packet, const struct attempt *attempt, uint8_t syndrome)
{
	add32(packet, (uint32_t)syndrome << 24 | (attempt->peer->recv.msn & PSN_MASK));
}

/* The answer goes to the QP that has asked; an XRC target does not know it otherwise. */
static struct packet answer_of(const struct attempt *attempt, uint8_t operation)
{
	struct packet packet = packet_of(attempt->peer, operation);

	packet.av.qpn = attempt->qp->qpn;
	packet.psn = attempt->qp->attr.sq_psn;
	return packet;
}

/* The answers to a read: First, Middle, Last, Only, as enum position has them. */
static void complete_read_answer(struct packet *packet, const struct attempt *attempt,
				 enum position position)
{
	packet->opcode = (uint8_t)(packet->opcode + position);
	packet->ask_ack = false;
	if (position != MIDDLE)
		add_aeth(packet, attempt, ACK);
}

/* An acknowledgement names the last packet that it is for, a NAK the first. */
static void acknowledge(const struct attempt *attempt, uint8_t syndrome)
{
	struct packet packet = answer_of(attempt, PACKET_ACK);

	if (syndrome == ACK)
		packet.psn = (packet.psn + operation_packets(attempt) - 1) & PSN_MASK;
	add_aeth(&packet, attempt, syndrome);
	capture_packet(&packet);
}

static void answer_atomic(const struct attempt *attempt)
{
	struct packet packet = answer_of(attempt, PACKET_ATOMIC_ACK);

	add_aeth(&packet, attempt, ACK);
	add64(&packet, attempt->peer->recv.atomic_old);
	capture_packet(&packet);
}

static uint8_t nak_of(uint8_t syndrome)
{
	switch (syndrome) {
	case SYNDROME_REMOTE_INVALID:
		return NAK_INVALID_REQUEST;
	case SYNDROME_REMOTE_ACCESS:
		return NAK_REMOTE_ACCESS;
	default:
		return NAK_REMOTE_OPERATION;
	}
}

void tap_answer(const struct attempt *attempt, enum outcome outcome)
{
	if (!capture_runs)
		return;
	if (outcome == NOT_READY)
		acknowledge(attempt, (uint8_t)(NAK_NOT_READY | attempt->peer->attr.min_rnr_timer));
	else if (outcome == FAILED && attempt->peer_fails)
		acknowledge(attempt, nak_of(attempt->syndrome));
	else if (outcome == LOST || outcome == FAILED)
		return;
	else if (attempt->wqe->opcode == OP_READ)
		send_piece(attempt, answer_of(attempt, PACKET_READ_ANSWER), true, true,
			   complete_read_answer);
	else if (operation_changes_sender(attempt->wqe))
		answer_atomic(attempt);
	else
		acknowledge(attempt, ACK);
}
