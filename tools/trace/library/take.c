/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Takes down what the arguments of a call point to, by their names in abi/symbols.tab. Of other
 * names the pointer is kept.
 */
#include "internal.h"

#include <stddef.h>
#include <string.h>

#include <abi/legacy.h>

static uint32_t member_of(const void *attr, size_t offset, size_t size)
{
	const uint8_t *at = (const uint8_t *)attr + offset;
	uint16_t half;
	uint32_t word;

	if (size == sizeof(*at))
		return *at;
	if (size == sizeof(half)) {
		memcpy(&half, at, sizeof(half));
		return half;
	}
	memcpy(&word, at, sizeof(word));
	return word;
}

static void take_attr(struct trace_record *record, uintptr_t value)
{
	const struct legacy_qp_attr *attr = (const void *)value;
	size_t i = 0;

#define X(bit, member) \
	record->attr[i++] = \
		member_of(attr, offsetof(struct legacy_qp_attr, member), sizeof(attr->member));
	TRACE_FIELDS(X)
#undef X
}

static void take_srq_attr(struct trace_record *record, uintptr_t value)
{
	const struct ibv_srq_attr *attr = (const void *)value;

	record->srq_attr = (struct trace_srq_attr){ .max_wr = attr->max_wr,
						    .max_sge = attr->max_sge,
		.srq_limit = attr->srq_limit };
}

static void take_srq_init(struct trace_record *record, uintptr_t value)
{
	take_srq_attr(record, (uintptr_t)&((const struct ibv_srq_init_attr *)value)->attr);
}

/* Of a receive QP: nothing else need be initialised. */
static void take_init(struct trace_record *record, uintptr_t value)
{
	record->domain = (uintptr_t)((const struct legacy_qp_init_attr *)value)->xrc_domain;
}

/* Of other types it may be the shorter struct of a program without XRC. */
static void take_qp_init(struct trace_record *record, uintptr_t value)
{
	const struct legacy_qp_init_attr *init = (const void *)value;

	if (init->qp_type != LEGACY_QPT_XRC)
		return;
	record->domain = (uintptr_t)init->xrc_domain;
	record->qp_init = (struct trace_qp_init){ .domain = record->domain,
						  .send_cq = (uintptr_t)init->send_cq,
		.recv_cq = (uintptr_t)init->recv_cq, .srq = (uintptr_t)init->srq,
		.max_send_wr = init->cap.max_send_wr,
		.max_send_sge = init->cap.max_send_sge };
}

static void take_domain(struct trace_record *record, uintptr_t value)
{
	record->domain = value;
}

static void take_number(struct trace_record *record, uintptr_t value)
{
	record->qp_num = (uint32_t)value;
}

static void take_made_number(struct trace_record *record, uintptr_t value)
{
	record->qp_num = *(const uint32_t *)value;
}

static void take_qp(struct trace_record *record, uintptr_t value)
{
	record->qp_num = ((const struct ibv_qp *)value)->qp_num;
}

/* In an ordinary SRQ these bytes mean something else; its calls are not traced. */
static void take_srq(struct trace_record *record, uintptr_t value)
{
	record->srq_num = ((const struct legacy_srq *)value)->xrc_srq_num;
}

void trace_take(struct trace_record *record, const char *name, uintptr_t value)
{
	static const struct {
		const char *name;
		void (*take)(struct trace_record *record, uintptr_t value);
	} takers[] = {
		{ "attr", take_attr }, { "srq_attr", take_srq_attr },
		{ "srq_init_attr", take_srq_init }, { "init_attr", take_init },
		{ "qp_init_attr", take_qp_init }, { "xrc_domain", take_domain },
		{ "xrc_qp_num", take_number }, { "xrc_rcv_qpn", take_made_number },
		{ "qp", take_qp }, { "srq", take_srq },
	};

	/* 0: a null pointer, which the call itself will refuse, or a number that is 0 already. */
	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]) && value; i++) {
		if (!strcmp(name, takers[i].name))
			takers[i].take(record, value);
	}
}
