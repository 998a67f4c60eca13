/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The layouts that libmlx5 shares with a ConnectX-5. All fields are big endian unless it is said
 * otherwise.
 */
#include "mlx5.h"
#include "bytes.h"
#include "segment.h"

#include <errno.h>

#define DATAGRAM_BYTES 48u

/* fm_ce_se, the last byte of the flags */
#define COMPLETION_WANTED 0x08u
#define SOLICITED	  0x02u
#define FENCE		  0x80u

#define FLUSH_VENDOR_ERR 0xf9

/* The upper half of a completion's last byte. */
enum {
	CQE_REQUEST = 0,
	CQE_RECV_FIRST = 1,
	CQE_RESIZE = 5,
	CQE_REQUEST_ERROR = 13,
	CQE_RECV_ERROR = 14
};

/* ---- send WQEs ---- */

uint32_t mlx5_wqe_units(const uint8_t *unit)
{
	uint32_t segments = unit[7] & 0x3fu;

	return segments ? (segments + 3) / 4 : 1;
}

static void parse_control(const uint8_t *bytes, struct wqe *wqe)
{
	wqe->opcode = bytes[3];
	wqe->signalled = bytes[11] & COMPLETION_WANTED;
	wqe->solicited = bytes[11] & SOLICITED;
	wqe->fence = bytes[11] & FENCE;
	wqe->srqn = 0;
	memcpy(&wqe->imm, bytes + 12, sizeof(wqe->imm));
}

static void parse_datagram(const uint8_t *segment, struct av *av)
{
	uint32_t grh = get32(segment + 28);

	av->qkey = get32(segment);
	av->qpn = get32(segment + 8) & 0xffffff;
	av->sl = segment[12] & 0xf;
	av->port = 0; /* the QP's own */
	av->dlid = get16(segment + 14);
	av->traffic_class = segment[26];
	av->hop_limit = segment[27];
	av->global = grh & 1u << 30;
	av->sgid_index = (uint8_t)(grh >> 20);
	av->flow_label = grh & 0xfffff;
	memcpy(av->dgid, segment + 32, sizeof(av->dgid));
}

/* The address segment of a datagram, the SRQ number of XRC; bytes taken, or -EINVAL. */
static int parse_destination(const uint8_t *at, size_t left, enum ibv_qp_type type, struct wqe *wqe)
{
	if (type == IBV_QPT_UD) {
		if (left < DATAGRAM_BYTES)
			return -EINVAL;
		parse_datagram(at, &wqe->av);
		return DATAGRAM_BYTES;
	}
	if (type != IBV_QPT_XRC_SEND)
		return 0;
	if (left < SEGMENT_BYTES)
		return -EINVAL;
	wqe->srqn = get32(at) & 0xffffff;
	return SEGMENT_BYTES;
}

/* What RDMA and atomics say about the other side; bytes taken, or -EINVAL. */
static int parse_remote(const uint8_t *at, size_t left, enum ibv_qp_type type, struct wqe *wqe)
{
	if (wqe->opcode == OP_SEND || wqe->opcode == OP_SEND_IMM)
		return 0;
	return type == IBV_QPT_UD ? -EINVAL : segment_parse_remote(at, left, wqe);
}

/* Memory windows, invalidation, segmentation, tag matching: an adapter could, this one cannot. */
static bool known(uint8_t opcode)
{
	switch (opcode) {
	case OP_WRITE:
	case OP_WRITE_IMM:
	case OP_SEND:
	case OP_SEND_IMM:
	case OP_READ:
	case OP_ATOMIC_CS:
	case OP_ATOMIC_FA:
		return true;
	default:
		return false;
	}
}

int mlx5_parse_wqe(const uint8_t *bytes, size_t size, enum ibv_qp_type type, struct wqe *wqe)
{
	size_t length = (bytes[7] & 0x3fu) * SEGMENT_BYTES;
	size_t at = SEGMENT_BYTES;
	int taken;

	wqe->sges = wqe->inline_length = 0;
	wqe->length = 0;
	parse_control(bytes, wqe);
	if (length < SEGMENT_BYTES || length > size)
		return -EINVAL;
	if (wqe->opcode == OP_NOP)
		return 0;
	if (!known(wqe->opcode))
		return -EINVAL;
	taken = parse_destination(bytes + at, length - at, type, wqe);
	if (taken < 0)
		return taken;
	at += (size_t)taken;
	taken = parse_remote(bytes + at, length - at, type, wqe);
	if (taken < 0)
		return taken;
	at += (size_t)taken;
	return segment_parse_data(bytes + at, length - at, wqe);
}

/* ---- completions ---- */

static uint8_t kind_of(const struct cqe *cqe)
{
	if (cqe->syndrome)
		return cqe->send ? CQE_REQUEST_ERROR : CQE_RECV_ERROR;
	if (cqe->opcode == CQE_RESIZE)
		return CQE_RESIZE;
	return cqe->send ? CQE_REQUEST : (uint8_t)(CQE_RECV_FIRST + cqe->opcode);
}

/* Without user indices an SRQ is found by its number, and a QP by field 56. */
static uint32_t index_of(const struct cqe *cqe, uint8_t version)
{
	return version ? cqe->user_index : cqe->srqn;
}

void mlx5_build_cqe(const struct cqe *cqe, const struct cqe_format *format,
		    uint8_t out[CQE_MAX_BYTES])
{
	uint8_t *at = out + format->bytes - MLX5_CQE_SIZE;

	memset(out, 0, format->bytes);
	put32(at + 32, index_of(cqe, format->version) & 0xffffff);
	put32(at + 56, (cqe->send ? (uint32_t)cqe->opcode << 24 : 0) | (cqe->qpn & 0xffffff));
	put16(at + 60, cqe->wqe_index);
	at[63] = (uint8_t)(kind_of(cqe) << 4 | format->turn);
	if (cqe->syndrome) {
		/* No time stamp. */
		at[54] = cqe->syndrome == SYNDROME_FLUSH ? FLUSH_VENDOR_ERR
							 : model_vendor_err(cqe->syndrome);
		at[55] = cqe->syndrome;
		return;
	}
	put16(at + 22, cqe->slid);
	put32(at + 24, (cqe->global ? 1u << 28 : 0) | (uint32_t)(cqe->sl & 0xf) << 24 |
			       (cqe->remote & 0xffffff));
	memcpy(at + 36, &cqe->imm, sizeof(cqe->imm));
	put32(at + 44, cqe->byte_count);
	put64(at + 48, cqe->timestamp);
}
