// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* The arguments and results of traced calls, by name. */
#include "trace_decode.h"

#include <infiniband/verbs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *modern;
	bool pointer;		/* returns one */
} functions[TRACE_CALLS] = {
	[TRACE_OPEN_DOMAIN] = { "ibv_open_xrc_domain",
		"ibv_open_xrcd(context, attr) with comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS", true },
	[TRACE_CLOSE_DOMAIN] = { "ibv_close_xrc_domain",
		"ibv_close_xrcd(xrcd); an XRC_SEND QP no longer makes it fail with EBUSY", false },
	[TRACE_CREATE_SRQ] = { "ibv_create_xrc_srq",
		"ibv_create_srq_ex(context, attr) with srq_type = IBV_SRQT_XRC, pd, xrcd and cq; "
		"its number comes from ibv_get_srq_num(), not from srq->xrc_srq_num", true },
	[TRACE_CREATE_RCV_QP] = { "ibv_create_xrc_rcv_qp",
		"ibv_create_qp_ex(context, attr) with qp_type = IBV_QPT_XRC_RECV and comp_mask = IBV_QP_INIT_ATTR_XRCD; "
		"keep the handle", false },
	[TRACE_MODIFY_RCV_QP] = { "ibv_modify_xrc_rcv_qp",
		"ibv_modify_qp(qp, attr, mask) on that handle or one from ibv_open_qp(), without IBV_QP_RETRY_CNT, "
		"IBV_QP_RNR_RETRY and IBV_QP_MAX_QP_RD_ATOMIC", false },
	[TRACE_QUERY_RCV_QP] = { "ibv_query_xrc_rcv_qp",
		"ibv_query_qp(qp, attr, mask, init_attr) on that handle or one from ibv_open_qp()", false },
	[TRACE_REG] = { "ibv_reg_xrc_rcv_qp",
		"ibv_open_qp(context, attr) with the number, the xrcd and qp_type = IBV_QPT_XRC_RECV; once, for every open "
		"is a handle of its own", false },
	[TRACE_UNREG] = { "ibv_unreg_xrc_rcv_qp",
		"ibv_destroy_qp(qp) of the handle from ibv_open_qp() or ibv_create_qp_ex()", false },
	[TRACE_CREATE_QP] = { "ibv_create_qp",
		"ibv_create_qp_ex(context, attr) with qp_type = IBV_QPT_XRC_SEND, and an IBV_QPT_XRC_RECV beside it if it is "
		"to receive; when posting, qp_type.xrc.remote_srqn instead of xrc_remote_srq_num", true },
};

struct flag {
	int bit;
	const char *name;
};

static const struct flag open_flags[] = { { O_CREAT, "O_CREAT" }, { O_EXCL, "O_EXCL" } };

static const char *const states[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

/* What a mask selects, and where it is in the structure: the same in OFED 1.5 and today. */
static const struct field {
	int bit;
	const char *name, *field;
	size_t offset, size;
} fields[] = {
#define FIELD(bit, field) { bit, #bit, #field, offsetof(struct ibv_qp_attr, field), \
			    sizeof(((struct ibv_qp_attr *)0)->field) }
	FIELD(IBV_QP_STATE, qp_state),
	FIELD(IBV_QP_CUR_STATE, cur_qp_state),
	FIELD(IBV_QP_ACCESS_FLAGS, qp_access_flags),
	FIELD(IBV_QP_PKEY_INDEX, pkey_index),
	FIELD(IBV_QP_PORT, port_num),
	FIELD(IBV_QP_QKEY, qkey),
	FIELD(IBV_QP_AV, ah_attr.dlid),
	FIELD(IBV_QP_PATH_MTU, path_mtu),
	FIELD(IBV_QP_TIMEOUT, timeout),
	FIELD(IBV_QP_RETRY_CNT, retry_cnt),
	FIELD(IBV_QP_RNR_RETRY, rnr_retry),
	FIELD(IBV_QP_RQ_PSN, rq_psn),
	FIELD(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic),
	FIELD(IBV_QP_ALT_PATH, alt_ah_attr.dlid),
	FIELD(IBV_QP_MIN_RNR_TIMER, min_rnr_timer),
	FIELD(IBV_QP_SQ_PSN, sq_psn),
	FIELD(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
	FIELD(IBV_QP_PATH_MIG_STATE, path_mig_state),
	FIELD(IBV_QP_CAP, cap.max_send_wr),
	FIELD(IBV_QP_DEST_QPN, dest_qp_num),
#undef FIELD
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *trace_function(enum trace_call call)
{
	return functions[call].name;
}

const char *trace_modern(enum trace_call call)
{
	return functions[call].modern;
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

static void append_name(char *text, size_t size, const char *name)
{
	append(text, size, "%s%s", text[0] ? "|" : "", name);
}

static void name_open_flags(int flags, char *text)
{
	text[0] = '\0';
	for (size_t i = 0; i < COUNT(open_flags); i++) {
		if (flags & open_flags[i].bit)
			append_name(text, TRACE_VALUE_SIZE, open_flags[i].name);
		flags &= ~open_flags[i].bit;
	}
	if (flags || !text[0])
		append(text, TRACE_VALUE_SIZE, "%s%#x", text[0] ? "|" : "", (unsigned)flags);
}

static void name_mask(int mask, char *text)
{
	text[0] = '\0';
	for (size_t i = 0; i < COUNT(fields); i++) {
		if (mask & fields[i].bit)
			append_name(text, TRACE_VALUE_SIZE, fields[i].name);
		mask &= ~fields[i].bit;
	}
	if (mask || !text[0])
		append(text, TRACE_VALUE_SIZE, "%s%#x", text[0] ? "|" : "", (unsigned)mask);
}

static uint32_t field_value(const struct trace_record *record, const struct field *field)
{
	const uint8_t *at = record->attr + field->offset;
	uint16_t half;
	uint32_t word;

	memcpy(&half, at, sizeof(half));
	memcpy(&word, at, sizeof(word));
	return field->size == 1 ? *at : field->size == 2 ? half : word;
}

/* Only what the mask selects: the rest is what happened to be on the caller's stack. */
static void name_attr(const struct trace_record *record, int mask, char *text)
{
	text[0] = '\0';
	append(text, TRACE_VALUE_SIZE, "{");
	for (size_t i = 0; i < COUNT(fields); i++) {
		uint32_t value = field_value(record, &fields[i]);

		if (!(mask & fields[i].bit))
			continue;
		append(text, TRACE_VALUE_SIZE, "%s%s=", text[1] ? ", " : "", fields[i].field);
		if (fields[i].bit & (IBV_QP_STATE | IBV_QP_CUR_STATE) && value < COUNT(states))
			append(text, TRACE_VALUE_SIZE, "%s", states[value]);
		else if (fields[i].bit & IBV_QP_PATH_MTU && value >= 1 && value <= 5)
			append(text, TRACE_VALUE_SIZE, "%u", 128u << value);
		else if (fields[i].bit & (IBV_QP_DEST_QPN | IBV_QP_ACCESS_FLAGS))
			append(text, TRACE_VALUE_SIZE, "%#x", value);
		else
			append(text, TRACE_VALUE_SIZE, "%u", value);
	}
	append(text, TRACE_VALUE_SIZE, "}");
}

struct list {
	struct trace_argument *arguments;
	size_t count;
};

static char *add(struct list *list, const char *name)
{
	list->arguments[list->count].name = name;
	return list->arguments[list->count++].value;
}

static void add_pointer(struct list *list, const char *name, uint64_t value)
{
	snprintf(add(list, name), TRACE_VALUE_SIZE, value ? "%#llx" : "NULL", (unsigned long long)value);
}

static void add_qp_num(struct list *list, const struct trace_record *record)
{
	snprintf(add(list, "xrc_qp_num"), TRACE_VALUE_SIZE, "0x%06x", record->qp_num);
}

static void add_create_qp(struct list *list, const struct trace_record *record)
{
	add_pointer(list, "pd", record->context);
	snprintf(add(list, "qp_init_attr"), TRACE_VALUE_SIZE,
		 "{qp_type=IBV_QPT_XRC, xrc_domain=%#llx, send_cq=%#llx, recv_cq=%#llx, max_send_wr=%u, max_send_sge=%u}",
		 (unsigned long long)record->domain, (unsigned long long)record->cq, (unsigned long long)record->recv_cq,
		 record->max_wr, record->max_sge);
}

static void add_srq(struct list *list, const struct trace_record *record)
{
	add_pointer(list, "pd", record->context);
	add_pointer(list, "xrc_domain", record->domain);
	add_pointer(list, "xrc_cq", record->cq);
	snprintf(add(list, "srq_init_attr"), TRACE_VALUE_SIZE, "{max_wr=%u, max_sge=%u}", record->max_wr, record->max_sge);
}

static void add_rest(struct list *list, const struct trace_record *record)
{
	add_pointer(list, "xrc_domain", record->domain);
	if (record->call == TRACE_CLOSE_DOMAIN)
		return;
	add_qp_num(list, record);
	if (record->call == TRACE_MODIFY_RCV_QP)
		name_attr(record, record->flags, add(list, "attr"));
	if (record->call == TRACE_MODIFY_RCV_QP || record->call == TRACE_QUERY_RCV_QP)
		name_mask(record->flags, add(list, "attr_mask"));
}

size_t trace_arguments(const struct trace_record *record, struct trace_argument arguments[TRACE_ARGUMENTS])
{
	struct list list = { .arguments = arguments };

	switch (record->call) {
	case TRACE_OPEN_DOMAIN:
		add_pointer(&list, "context", record->context);
		snprintf(add(&list, "fd"), TRACE_VALUE_SIZE, "%d", record->fd);
		name_open_flags(record->flags, add(&list, "oflag"));
		break;
	case TRACE_CREATE_SRQ:
		add_srq(&list, record);
		break;
	case TRACE_CREATE_RCV_QP:
		snprintf(add(&list, "init_attr"), TRACE_VALUE_SIZE, "{xrc_domain=%#llx}", (unsigned long long)record->domain);
		break;
	case TRACE_CREATE_QP:
		add_create_qp(&list, record);
		break;
	default:
		add_rest(&list, record);
	}
	return list.count;
}

uint32_t trace_became_kept(const struct trace_record *record)
{
	return record->became_count < TRACE_BECAME ? record->became_count : TRACE_BECAME;
}

bool trace_failed(const struct trace_record *record)
{
	return functions[record->call].pointer ? !record->result : record->result != 0;
}

const char *trace_error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
#define NAME(error) { error, #error }
		NAME(EINVAL), NAME(EBUSY), NAME(EAGAIN), NAME(ENOSYS), NAME(ENOMEM), NAME(EBADF), NAME(EFAULT), NAME(ENOSPC),
		NAME(EPERM), NAME(EACCES), NAME(ENODEV), NAME(EIO), NAME(EOPNOTSUPP), NAME(EINTR),
#undef NAME
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		if (names[i].error == error)
			return names[i].name;
	}
	return strerror(error);
}

void trace_result(const struct trace_record *record, char *text, size_t size)
{
	bool pointer = functions[record->call].pointer;

	text[0] = '\0';
	if (trace_failed(record)) {
		int error = pointer ? record->error : (int)record->result;

		append(text, size, pointer ? "NULL, errno %s" : "%s", trace_error_name(error));
		return;
	}
	append(text, size, pointer ? "%#llx" : "%lld", (unsigned long long)record->result);
	if (record->call == TRACE_CREATE_SRQ)
		append(text, size, ", xrc_srq_num 0x%06x", record->srq_num);
	if (record->call == TRACE_CREATE_RCV_QP)
		append(text, size, ", xrc_rcv_qpn 0x%06x", record->qp_num);
	if (record->call == TRACE_CREATE_QP)
		append(text, size, ", qp_num 0x%06x", record->qp_num);
	if (record->call == TRACE_QUERY_RCV_QP)
		append(text, size, ", qp_state %s", states[field_value(record, &fields[0]) % COUNT(states)]);
}
