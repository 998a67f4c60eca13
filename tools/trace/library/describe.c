/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Writes what the arguments of a call stand for, as their names in abi/symbols.tab tell. */
#include "record.h"

#include <abi/legacy.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the text of a record; what has no room is cut ---- */

static void put_bytes(struct trace_record *record, const char *bytes, size_t length)
{
	size_t room = TRACE_TEXT - record->text_size;

	length = length < room ? length : room;
	memcpy(record->text + record->text_size, bytes, length);
	record->text_size += (uint32_t)length;
}

uint32_t trace_put_string(struct trace_record *record, const char *string)
{
	uint32_t place = record->text_size;

	put_bytes(record, string, strlen(string) + 1);
	return place;
}

/* ---- the names of arguments and members ---- */

static const char *const argument_names[VERBS] = {
#define X(function, returns, unsupported, arguments, port) [VERB_##function] = arguments,
	ABI_FUNCTIONS(X)
#undef X
};

/* A bit of a mask, which may select several members. Flags have none. The last row has no bit. */
struct member {
	unsigned int bit;
	const char *bit_name, *name;
	size_t offset, size;
};

#define QP(bit, member) \
	{ bit, #bit, #member, offsetof(struct legacy_qp_attr, member), \
	  sizeof(((struct legacy_qp_attr *)NULL)->member) }
#define SRQ(bit, member) \
	{ bit, #bit, #member, offsetof(struct ibv_srq_attr, member), sizeof(uint32_t) }
#define SRQ_MAX_SGE (1u << 31)	/* no bit of the API: ibv_modify_srq() cannot set it */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "short members begin at the low byte");

static const struct member open_flags[] = { { O_CREAT, "O_CREAT" }, { O_EXCL, "O_EXCL" }, { 0 } };

static const struct member srq_members[] = {
	SRQ(IBV_SRQ_MAX_WR, max_wr), SRQ(SRQ_MAX_SGE, max_sge), SRQ(IBV_SRQ_LIMIT, srq_limit),
	{ 0 },
};

static const struct member qp_members[] = {
	QP(IBV_QP_STATE, qp_state),
	QP(IBV_QP_CUR_STATE, cur_qp_state),
	QP(IBV_QP_ACCESS_FLAGS, qp_access_flags),
	QP(IBV_QP_PKEY_INDEX, pkey_index),
	QP(IBV_QP_PORT, port_num),
	QP(IBV_QP_QKEY, qkey),
	QP(IBV_QP_AV, ah_attr.dlid), QP(IBV_QP_AV, ah_attr.sl),
	QP(IBV_QP_AV, ah_attr.src_path_bits), QP(IBV_QP_AV, ah_attr.is_global),
	QP(IBV_QP_AV, ah_attr.port_num),
	QP(IBV_QP_PATH_MTU, path_mtu),
	QP(IBV_QP_TIMEOUT, timeout),
	QP(IBV_QP_RETRY_CNT, retry_cnt),
	QP(IBV_QP_RNR_RETRY, rnr_retry),
	QP(IBV_QP_RQ_PSN, rq_psn),
	QP(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	QP(IBV_QP_ALT_PATH, alt_ah_attr.dlid), QP(IBV_QP_ALT_PATH, alt_ah_attr.sl),
	QP(IBV_QP_ALT_PATH, alt_ah_attr.src_path_bits), QP(IBV_QP_ALT_PATH, alt_port_num),
	QP(IBV_QP_MIN_RNR_TIMER, min_rnr_timer),
	QP(IBV_QP_SQ_PSN, sq_psn),
	QP(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	QP(IBV_QP_PATH_MIG_STATE, path_mig_state),
	QP(IBV_QP_CAP, cap.max_send_wr),
	QP(IBV_QP_DEST_QPN, dest_qp_num),
	{ 0 },
};

/* An argument on its way into the record. value[1] is the next argument of the call. */
struct argument {
	struct trace_record *record;
	const struct member *members;	/* of its struct or mask; NULL: it has none */
	const uintptr_t *value;
	bool after;
};

__attribute__((format(printf, 2, 3))) static void put(const struct argument *argument,
						      const char *format, ...)
{
	struct trace_record *record = argument->record;
	int room = (int)(TRACE_TEXT - record->text_size), length;
	va_list args;

	va_start(args, format);
	length = vsnprintf(record->text + record->text_size, (size_t)room + 1, format, args);
	va_end(args);
	record->text_size += (uint32_t)(length < room ? length : room);
}

/* ---- masks, and the members that they select ---- */

static void show_mask(struct argument *argument)
{
	unsigned int value = (unsigned int)*argument->value;
	const char *separator = "";

	for (const struct member *member = argument->members; member->bit; member++) {
		if (!(value & member->bit))
			continue;
		put(argument, "%s%s", separator, member->bit_name);
		separator = "|";
		value &= ~member->bit;
	}
	if (value || !*separator)
		put(argument, "%s%#x", separator, value);
}

static void show_member(struct argument *argument, const struct member *member, uint32_t value)
{
	static const char *const states[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	put(argument, "%s=", member->name);
	if (strstr(member->name, "qp_state") && value < COUNT(states))
		put(argument, "%s", states[value]);
	else if (!strcmp(member->name, "path_mtu") && value >= 1 && value <= 5)
		put(argument, "%u", 128u << value);
	else if (!strcmp(member->name, "dest_qp_num") || !strcmp(member->name, "qp_access_flags"))
		put(argument, "%#x", value);
	else
		put(argument, "%u", value);
}

/* Only members that the mask selects: the others are uninitialised. */
static void show_members(struct argument *argument, unsigned int mask, const void *attr)
{
	const char *separator = "{";

	for (const struct member *member = argument->members; member->bit; member++) {
		uint32_t value = 0;

		if (!(mask & member->bit))
			continue;
		memcpy(&value, (const char *)attr + member->offset, member->size);
		put(argument, "%s", separator);
		show_member(argument, member, value);
		separator = ", ";
	}
	put(argument, *separator == '{' ? "{}" : "}");
}

/* After a query: of a QP the state and what the mask asks for; of an SRQ, without a mask, all. */
static void show_attr(struct argument *argument)
{
	bool all = argument->after && argument->members != qp_members;
	unsigned int mask = all ? ~0u : (unsigned int)argument->value[1];

	if (argument->after) {
		mask |= IBV_QP_STATE;
		put(argument, ", ");
	}
	show_members(argument, mask, (const void *)*argument->value);
}

static void show_srq_init(struct argument *argument)
{
	const struct ibv_srq_init_attr *init = (const void *)*argument->value;

	show_members(argument, ~0u, &init->attr);
}

/* ---- other arguments ---- */

#define POINTER(pointer) ((unsigned long long)(uintptr_t)(pointer))

static void show_pointer(struct argument *argument)
{
	put(argument, *argument->value ? "%#llx" : "NULL", POINTER(*argument->value));
}

static void show_number(struct argument *argument)
{
	put(argument, "%d", (int)*argument->value);
}

/* The number of an object stands beside its pointer. Of a new one the pointer is the result. */
static void show_object(struct argument *argument, const char *name, uint32_t number)
{
	if (argument->after)
		put(argument, ", %s 0x%06x", name, number);
	else
		put(argument, "{%#llx, %s=0x%06x}", POINTER(*argument->value), name, number);
}

static void show_qp(struct argument *argument)
{
	show_object(argument, "qp_num", ((const struct ibv_qp *)*argument->value)->qp_num);
}

/* In an ordinary SRQ these bytes mean something else; its calls are not traced. */
static void show_srq(struct argument *argument)
{
	show_object(argument, "xrc_srq_num",
		    ((const struct legacy_srq *)*argument->value)->xrc_srq_num);
}

static void show_made_number(struct argument *argument)
{
	argument->record->qp_num = *(const uint32_t *)*argument->value;
	show_object(argument, "xrc_rcv_qpn", argument->record->qp_num);
}

static void show_qp_num(struct argument *argument)
{
	argument->record->qp_num = (uint32_t)*argument->value;
	put(argument, "0x%06x", argument->record->qp_num);
}

static void show_context(struct argument *argument)
{
	argument->record->device = *argument->value;
	show_pointer(argument);
}

static void show_domain(struct argument *argument)
{
	argument->record->domain = *argument->value;
	if (!argument->after)
		show_pointer(argument);
}

/* The caller of ibv_create_xrc_rcv_qp may have initialised no other member. */
static void show_init(struct argument *argument)
{
	const struct legacy_qp_init_attr *init = (const void *)*argument->value;

	argument->record->domain = (uintptr_t)init->xrc_domain;
	put(argument, "{xrc_domain=%#llx}", POINTER(init->xrc_domain));
}

/* A QP of another type may have the shorter struct of a program without XRC. */
static void show_qp_init(struct argument *argument)
{
	const struct legacy_qp_init_attr *init = (const void *)*argument->value;

	if (init->qp_type != LEGACY_QPT_XRC)
		return;
	put(argument,
	    "{qp_type=IBV_QPT_XRC, xrc_domain=%#llx, send_cq=%#llx, recv_cq=%#llx, srq=%#llx, "
	    "max_send_wr=%u, max_send_sge=%u}",
	    POINTER(init->xrc_domain), POINTER(init->send_cq), POINTER(init->recv_cq),
	    POINTER(init->srq), init->cap.max_send_wr, init->cap.max_send_sge);
}

/* Null pointers have no members to show; the call will refuse them. */
static void show(struct argument *argument, const char *name, size_t length)
{
	static const struct {
		const char *name;
		void (*show)(struct argument *argument);
		bool is_number;
		const struct member *members;
	} kinds[] = {
		{ "context", show_context, false, NULL },
		{ "fd", show_number, true, NULL },
		{ "oflag", show_mask, true, open_flags },
		{ "xrc_qp_num", show_qp_num, true, NULL },
		{ "attr_mask", show_mask, true, qp_members },
		{ "srq_attr_mask", show_mask, true, srq_members },
		{ "attr", show_attr, false, qp_members },
		{ "srq_attr", show_attr, false, srq_members },
		{ "srq_init_attr", show_srq_init, false, srq_members },
		{ "init_attr", show_init, false, NULL },
		{ "qp_init_attr", show_qp_init, false, NULL },
		{ "qp", show_qp, false, NULL },
		{ "srq", show_srq, false, NULL },
		{ "xrc_domain", show_domain, false, NULL },
		{ "xrc_rcv_qpn", show_made_number, false, NULL },
	};

	for (size_t i = 0; i < COUNT(kinds); i++) {
		if (strncmp(name, kinds[i].name, length) || kinds[i].name[length] ||
		    !(kinds[i].is_number || *argument->value))
			continue;
		argument->members = kinds[i].members;
		kinds[i].show(argument);
		return;
	}
	show_pointer(argument);
}

bool trace_describes(enum verb verb)
{
	return argument_names[verb][0];
}

/* "name" is read before a call, ">name" after one that succeeded; "=name" is its result. */
void trace_describe(struct trace_call *call, bool after)
{
	struct trace_record *record = &call->record;
	const uintptr_t made = (uintptr_t)record->result, *given = call->arguments;
	const char *name = record->err ? "" : argument_names[record->verb];
	size_t length;

	if (after)
		record->outcome = record->text_size;
	for (; *name; name += length + (name[length] == ',')) {
		bool is_made = *name == '=', is_after = is_made || *name == '>';
		struct argument argument = { record, NULL, is_made ? &made : given++, after };

		name += is_after;
		length = strcspn(name, ",");
		if (is_after != after)
			continue;
		if (!after) {
			put_bytes(record, name, length);
			put_bytes(record, "=", 1);
		}
		show(&argument, name, length);
		if (!after)
			trace_put_string(record, "");
	}
	trace_put_string(record, "");
}
