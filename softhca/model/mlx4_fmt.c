// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* The layouts that libmlx4 shares with a ConnectX. All fields are big endian unless it is said otherwise. */
#include "mlx4_fmt.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define CONTROL_BYTES	16u
#define SEGMENT_BYTES	16u
#define DATAGRAM_BYTES	48u
#define INLINE_FLAG	0x80000000u
#define ERROR_OPCODE	0x1eu

static uint16_t get16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return be16toh(value);
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return be32toh(value);
}

static uint64_t get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return be64toh(value);
}

static void put16(uint8_t *at, uint16_t value)
{
	value = htobe16(value);
	memcpy(at, &value, sizeof(value));
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

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
	size_t atomic = wqe->opcode == OP_ATOMIC_CS || wqe->opcode == OP_ATOMIC_FA ? SEGMENT_BYTES : 0;

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
		if (datagram || left < SEGMENT_BYTES + atomic)
			return -EINVAL;
		wqe->remote_address = get64(at);
		wqe->rkey = get32(at + 8);
		if (atomic) {
			wqe->swap_add = get64(at + 16);
			wqe->compare = get64(at + 24);
		}
		return (int)(SEGMENT_BYTES + atomic);
	default:
		return -EINVAL;
	}
}

/* An inline piece never crosses a 64 byte line; the next header stands at the next multiple of 16. */
static int parse_inline(const uint8_t *at, size_t left, struct wqe *wqe)
{
	uint32_t length = get32(at) & ~INLINE_FLAG;

	if (length > left - 4 || length > sizeof(wqe->inline_data) - wqe->inline_length)
		return -EINVAL;
	memcpy(wqe->inline_data + wqe->inline_length, at + 4, length);
	wqe->inline_length += length;
	return (int)((4 + length + SEGMENT_BYTES - 1) & ~(SEGMENT_BYTES - 1));
}

static int parse_sge(const uint8_t *at, struct wqe *wqe)
{
	struct sge *sge = &wqe->sge[wqe->sges];

	if (wqe->sges == WQE_MAX_SGE)
		return -EINVAL;
	sge->length = get32(at);
	sge->key = get32(at + 4);
	sge->address = get64(at + 8);
	wqe->sges++;
	return SEGMENT_BYTES;
}

static int parse_data(const uint8_t *at, size_t left, struct wqe *wqe)
{
	while (left >= SEGMENT_BYTES) {
		int taken = get32(at) & INLINE_FLAG ? parse_inline(at, left, wqe) : parse_sge(at, wqe);

		if (taken < 0)
			return taken;
		if ((size_t)taken > left)
			break;
		at += taken;
		left -= (size_t)taken;
	}
	/* The provider makes a message inline as a whole or not at all. */
	return wqe->inline_length && wqe->sges ? -EINVAL : 0;
}

int mlx4_parse_wqe(const uint8_t *slot, size_t size, bool datagram, struct wqe *wqe)
{
	size_t bytes = (slot[7] & 0x3fu) * SEGMENT_BYTES;
	int head;
	int error;

	wqe->sges = wqe->inline_length = 0;
	wqe->length = 0;
	parse_control(slot, wqe);
	if (bytes < CONTROL_BYTES || bytes > size)
		return -EINVAL;
	head = parse_head(slot + CONTROL_BYTES, bytes - CONTROL_BYTES, datagram, wqe);
	if (head < 0)
		return head;
	if (wqe->opcode == OP_NOP)
		return 0;
	error = parse_data(slot + CONTROL_BYTES + head, bytes - CONTROL_BYTES - (size_t)head, wqe);
	if (error)
		return error;
	wqe->length = wqe->inline_length;
	for (uint32_t i = 0; i < wqe->sges; i++)
		wqe->length += wqe->sge[i].length;
	return 0;
}

/* ---- receive WQEs ---- */

uint32_t mlx4_parse_scatter(const uint8_t *segments, size_t bytes, struct sge sge[WQE_MAX_SGE])
{
	uint32_t count = 0;

	for (; bytes >= SEGMENT_BYTES && count < WQE_MAX_SGE; bytes -= SEGMENT_BYTES, segments += SEGMENT_BYTES) {
		sge[count].length = get32(segments);
		sge[count].key = get32(segments + 4);
		sge[count].address = get64(segments + 8);
		if (sge[count].key == MLX4_RESERVED_KEY)
			break;
		/* A zero length is written as an inline segment of no bytes. */
		sge[count].length &= ~INLINE_FLAG;
		count++;
	}
	return count;
}

/* ---- completions ---- */

void mlx4_build_cqe(const struct cqe *cqe, bool turn, uint8_t out[MLX4_CQE_SIZE])
{
	uint8_t opcode = cqe->syndrome ? ERROR_OPCODE : cqe->opcode;

	memset(out, 0, MLX4_CQE_SIZE);
	put32(out, cqe->qpn & 0xffffff);
	put16(out + 24, cqe->wqe_index);
	out[31] = (uint8_t)((turn ? 0x80 : 0) | (cqe->send ? 0x40 : 0) | opcode);
	if (cqe->syndrome) {
		out[27] = cqe->syndrome;
		/* The provider finds the SRQ of an XRC completion by this number, of an erroneous one too. */
		put32(out + 8, cqe->remote & 0xffffff);
		return;
	}
	memcpy(out + 4, &cqe->imm, sizeof(cqe->imm));
	put32(out + 8, (cqe->global ? 0x80000000u : 0) | (cqe->remote & 0xffffff));
	put16(out + 12, (uint16_t)(cqe->sl << 12));
	put16(out + 14, cqe->slid);
	put32(out + 20, cqe->byte_count);
}

/* ---- ring geometry ---- */

uint32_t mlx4_pow2(uint32_t value)
{
	uint32_t power = 1;

	while (power < value && power < 0x80000000u)
		power <<= 1;
	return power;
}

uint32_t mlx4_rq_stride(uint32_t max_sge)
{
	return mlx4_pow2((max_sge ? max_sge : 1) * SEGMENT_BYTES);
}

uint32_t mlx4_srq_stride(uint32_t max_sge)
{
	uint32_t stride = mlx4_pow2(MLX4_SRQ_HEADER + max_sge * SEGMENT_BYTES);

	return stride < 32 ? 32 : stride;
}
