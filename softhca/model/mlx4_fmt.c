/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The layouts that libmlx4 shares with a ConnectX. All fields are big endian unless it is said
 * otherwise.
 */
#include "mlx4.h"
#include "bytes.h"
#include "segment.h"

#include <errno.h>

#define CONTROL_BYTES	16u
#define DATAGRAM_BYTES	48u
#define ERROR_OPCODE	0x1eu
#define FENCE		0x40u /* in the last byte of the second word */
#define FLUSH_VENDOR_ERR 0xf4

bool mlx4_wqe_valid(uint32_t first_word_be, uint32_t index, uint32_t count)
{
	return !!(be32toh(first_word_be) & 0x80000000u) == !!(index & count);
}

/* ---- send WQEs ---- */

static void parse_control(const uint8_t *slot, struct wqe *wqe)
{
	uint32_t flags = get32(slot + 8);

	wqe->opcode = get32(slot) & 0x1f;
	wqe->signalled = flags & 3u << 2;
	wqe->solicited = flags & 1u << 1;
	wqe->fence = slot[7] & FENCE;
	wqe->srqn = flags >> 8;
	memcpy(&wqe->imm, slot + 12, sizeof(wqe->imm));
}

static void parse_datagram(const uint8_t *segment, struct av *av)
{
	uint32_t sl_class_flow = get32(segment + 12);

	av->port = segment[0] & 3;
	av->global = segment[5] & 0x80;
	av->dlid = get16(segment + 6);
	av->sgid_index = segment[9] & 0x7f;
	av->hop_limit = segment[11];
	av->sl = (uint8_t)(sl_class_flow >> 28);
	av->traffic_class = (uint8_t)(sl_class_flow >> 20);
	av->flow_label = sl_class_flow & 0xfffff;
	memcpy(av->dgid, segment + 16, sizeof(av->dgid));
	av->qpn = get32(segment + 32) & 0xffffff;
	av->qkey = get32(segment + 36);
}

/* The segments before the data; bytes taken, or -EINVAL. */
static int parse_head(const uint8_t *at, size_t left, bool datagram, struct wqe *wqe)
{
	switch (wqe->opcode) {
	case OP_NOP:
		return 0;
	case OP_SEND:
	case OP_SEND_IMM:
		if (!datagram)
			return 0;
		if (left < DATAGRAM_BYTES)
			return -EINVAL;
		parse_datagram(at, &wqe->av);
		return DATAGRAM_BYTES;
	case OP_WRITE:
	case OP_WRITE_IMM:
	case OP_READ:
	case OP_ATOMIC_CS:
	case OP_ATOMIC_FA:
		return datagram ? -EINVAL : segment_parse_remote(at, left, wqe);
	default:
		return -EINVAL;
	}
}

int mlx4_parse_wqe(const uint8_t *slot, size_t size, enum ibv_qp_type type, struct wqe *wqe)
{
	size_t bytes = (slot[7] & 0x3fu) * SEGMENT_BYTES;
	int head;

	wqe->sges = wqe->inline_length = 0;
	wqe->length = 0;
	parse_control(slot, wqe);
	if (bytes < CONTROL_BYTES || bytes > size)
		return -EINVAL;
	head = parse_head(slot + CONTROL_BYTES, bytes - CONTROL_BYTES, type == IBV_QPT_UD, wqe);
	if (head < 0)
		return head;
	if (wqe->opcode == OP_NOP)
		return 0;
	return segment_parse_data(slot + CONTROL_BYTES + head, bytes - CONTROL_BYTES - (size_t)head,
				  wqe);
}

/* ---- completions ---- */

void mlx4_build_cqe(const struct cqe *cqe, const struct cqe_format *format,
		    uint8_t out[CQE_MAX_BYTES])
{
	uint8_t opcode = cqe->syndrome ? ERROR_OPCODE : cqe->opcode;
	/*
	 * The provider finds the SRQ of an XRC completion by this number, of an erroneous one too.
	 */
	uint32_t remote = (cqe->xrc ? cqe->srqn : cqe->remote) & 0xffffff;

	memset(out, 0, MLX4_CQE_SIZE);
	put32(out, cqe->qpn & 0xffffff);
	put16(out + 24, cqe->wqe_index);
	out[31] = (uint8_t)((format->turn ? 0x80 : 0) | (cqe->send ? 0x40 : 0) | opcode);
	if (cqe->syndrome) {
		out[26] = cqe->syndrome == SYNDROME_FLUSH ? FLUSH_VENDOR_ERR
							  : model_vendor_err(cqe->syndrome);
		out[27] = cqe->syndrome;
		put32(out + 8, remote);
		return;
	}
	memcpy(out + 4, &cqe->imm, sizeof(cqe->imm));
	put32(out + 8, (cqe->global ? 0x80000000u : 0) | remote);
	put16(out + 12, (uint16_t)(cqe->sl << 12));
	put16(out + 14, cqe->slid);
	/* In place of where it came from. */
	if (cqe->timestamp) {
		put32(out + 12, (uint32_t)(cqe->timestamp >> 16));
		put16(out + 29, (uint16_t)cqe->timestamp);
	}
	put32(out + 20, cqe->byte_count);
}
