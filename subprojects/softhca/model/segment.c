/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Segments of work requests. */
#include "segment.h"

#include <base/bytes.h>

#include <errno.h>

/* The next header stands at the next multiple of 16. */
static int parse_inline(const uint8_t *at, size_t left, struct wqe *wqe)
{
	uint32_t length = get32(at) & ~SEGMENT_INLINE;

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

int segment_parse_data(const uint8_t *at, size_t left, struct wqe *wqe)
{
	wqe->sges = wqe->inline_length = 0;
	while (left >= SEGMENT_BYTES) {
		int taken = get32(at) & SEGMENT_INLINE ? parse_inline(at, left, wqe)
						       : parse_sge(at, wqe);

		if (taken < 0)
			return taken;
		if ((size_t)taken > left)
			break;
		at += taken;
		left -= (size_t)taken;
	}
	wqe->length = wqe->inline_length;
	for (uint32_t i = 0; i < wqe->sges; i++)
		wqe->length += wqe->sge[i].length;
	return wqe->inline_length && wqe->sges ? -EINVAL : 0;
}

uint32_t segment_parse_scatter(const uint8_t *segments, size_t bytes, struct sge sge[WQE_MAX_SGE])
{
	uint32_t count = 0;

	for (; bytes >= SEGMENT_BYTES && count < WQE_MAX_SGE;
	     bytes -= SEGMENT_BYTES, segments += SEGMENT_BYTES) {
		sge[count].length = get32(segments);
		sge[count].key = get32(segments + 4);
		sge[count].address = get64(segments + 8);
		if (sge[count].key == SEGMENT_RESERVED_KEY)
			break;
		/* A zero length is written as an inline segment of no bytes. */
		sge[count].length &= ~SEGMENT_INLINE;
		count++;
	}
	return count;
}

static int parse_address(const uint8_t *at, size_t left, struct wqe *wqe)
{
	if (left < SEGMENT_BYTES)
		return -EINVAL;
	wqe->remote_address = get64(at);
	wqe->rkey = get32(at + 8);
	return SEGMENT_BYTES;
}

static int parse_atomic(const uint8_t *at, size_t left, struct wqe *wqe)
{
	if (left < 2 * SEGMENT_BYTES)
		return -EINVAL;
	wqe->swap_add = get64(at + 16);
	wqe->compare = get64(at + 24);
	return parse_address(at, left, wqe) + (int)SEGMENT_BYTES;
}

int segment_parse_remote(const uint8_t *at, size_t left, struct wqe *wqe)
{
	switch (wqe->opcode) {
	case OP_SEND:
	case OP_SEND_IMM:
		return 0;
	case OP_WRITE:
	case OP_WRITE_IMM:
	case OP_READ:
		return parse_address(at, left, wqe);
	case OP_ATOMIC_CS:
	case OP_ATOMIC_FA:
		return parse_atomic(at, left, wqe);
	default:
		/* Memory windows and more: other adapters can do that, these cannot. */
		return -EINVAL;
	}
}

uint32_t segment_srq_stride(uint32_t max_sge)
{
	uint32_t stride = model_pow2(SEGMENT_SRQ_HEADER + max_sge * SEGMENT_BYTES);

	return stride < 32 ? 32 : stride;
}
