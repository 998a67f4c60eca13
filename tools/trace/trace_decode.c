/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The arguments and results of traced calls, by name. */
#include "trace_decode.h"
#include "library/arguments.h"

#include <infiniband/verbs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *port;
	bool pointer;		/* returns one */
} functions[VERBS] = {
#define X(function, returns, unsupported, arguments, port) \
	[VERB_##function] = { #function, port, returns == RETURNS_NULL },
	ABI_FUNCTIONS(X)
#undef X
};

static const char *const states[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

/* In a mask one bit may select several members. Flags have none. */
struct field {
	int bit;
	const char *name, *field;
};

static const struct field open_flags[] = { { O_CREAT, "O_CREAT", NULL },
					   { O_EXCL, "O_EXCL", NULL } };

static const struct field fields[] = {
#define X(bit, field) { bit, #bit, #field },
	TRACE_FIELDS(X)
#undef X
};

static const struct field srq_bits[] = { { IBV_SRQ_MAX_WR, "IBV_SRQ_MAX_WR", NULL },
					 { IBV_SRQ_LIMIT, "IBV_SRQ_LIMIT", NULL } };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *trace_function(enum verb verb)
{
	return functions[verb].name;
}

const char *trace_port(enum verb verb)
{
	return functions[verb].port;
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t size,
							 const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

static void name_bits(const struct field *bits, size_t count, int value, char *text)
{
	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		if (value & bits[i].bit)
			append(text, TRACE_VALUE_SIZE, "%s%s", text[0] ? "|" : "", bits[i].name);
		value &= ~bits[i].bit;
	}
	if (value || !text[0])
		append(text, TRACE_VALUE_SIZE, "%s%#x", text[0] ? "|" : "", (unsigned)value);
}

static void append_field(const struct field *field, uint32_t value, char *text)
{
	append(text, TRACE_VALUE_SIZE, "%s%s=", text[1] ? ", " : "", field->field);
	if (field->bit & (IBV_QP_STATE | IBV_QP_CUR_STATE) && value < COUNT(states))
		append(text, TRACE_VALUE_SIZE, "%s", states[value]);
	else if (field->bit & IBV_QP_PATH_MTU && value >= 1 && value <= 5)
		append(text, TRACE_VALUE_SIZE, "%u", 128u << value);
	else if (field->bit & (IBV_QP_DEST_QPN | IBV_QP_ACCESS_FLAGS))
		append(text, TRACE_VALUE_SIZE, "%#x", value);
	else
		append(text, TRACE_VALUE_SIZE, "%u", value);
}

/* Only members that the mask selects: the others are uninitialised. */
static void show_attr(const struct trace_record *record, int mask, char *text)
{
	strcpy(text, "{");
	for (size_t i = 0; i < COUNT(fields); i++) {
		if (mask & fields[i].bit)
			append_field(&fields[i], record->attr[i], text);
	}
	append(text, TRACE_VALUE_SIZE, "}");
}

/* ---- arguments, by their names in the table ---- */

/* The value of another argument of the same call; 0 if it has none of that name. */
static int value_of(const struct trace_record *record, const char *name)
{
	const char *rest = trace_parameters(record->verb);
	struct trace_parameter parameter;

	for (size_t i = 0; i < TRACE_ARGUMENTS && trace_next(&rest, &parameter); i++) {
		if (!strcmp(parameter.name, name))
			return (int)record->arguments[i];
	}
	return 0;
}

static void show_pointer(const struct trace_record *record, uint64_t value, char *text)
{
	(void)record;
	snprintf(text, TRACE_VALUE_SIZE, value ? "%#llx" : "NULL", (unsigned long long)value);
}

static void show_number(const struct trace_record *record, uint64_t value, char *text)
{
	(void)record;
	snprintf(text, TRACE_VALUE_SIZE, "%d", (int)value);
}

static void show_open_flags(const struct trace_record *record, uint64_t value, char *text)
{
	(void)record;
	name_bits(open_flags, COUNT(open_flags), (int)value, text);
}

static void show_attr_mask(const struct trace_record *record, uint64_t value, char *text)
{
	(void)record;
	name_bits(fields, COUNT(fields), (int)value, text);
}

static void show_srq_mask(const struct trace_record *record, uint64_t value, char *text)
{
	(void)record;
	name_bits(srq_bits, COUNT(srq_bits), (int)value, text);
}

static void show_qp_num(const struct trace_record *record, uint64_t value, char *text)
{
	(void)value;
	snprintf(text, TRACE_VALUE_SIZE, "0x%06x", record->qp_num);
}

static void show_qp(const struct trace_record *record, uint64_t value, char *text)
{
	snprintf(text, TRACE_VALUE_SIZE, "{%#llx, qp_num=0x%06x}", (unsigned long long)value,
		 record->qp_num);
}

static void show_srq(const struct trace_record *record, uint64_t value, char *text)
{
	snprintf(text, TRACE_VALUE_SIZE, "{%#llx, xrc_srq_num=0x%06x}", (unsigned long long)value,
		 record->srq_num);
}

static void show_selected_attr(const struct trace_record *record, uint64_t value, char *text)
{
	(void)value;
	show_attr(record, value_of(record, "attr_mask"), text);
}

/* The attributes that the mask of ibv_modify_srq selects. */
static void show_selected_srq_attr(const struct trace_record *record, uint64_t value, char *text)
{
	int mask = value_of(record, "srq_attr_mask");

	(void)value;
	strcpy(text, "{");
	if (mask & IBV_SRQ_MAX_WR)
		append(text, TRACE_VALUE_SIZE, "max_wr=%u", record->srq_attr.max_wr);
	if (mask & IBV_SRQ_LIMIT)
		append(text, TRACE_VALUE_SIZE, "%ssrq_limit=%u", text[1] ? ", " : "",
		       record->srq_attr.srq_limit);
	append(text, TRACE_VALUE_SIZE, "}");
}

static void show_srq_attr(const struct trace_record *record, uint64_t value, char *text)
{
	const struct trace_srq_attr *attr = &record->srq_attr;

	(void)value;
	snprintf(text, TRACE_VALUE_SIZE, "{max_wr=%u, max_sge=%u, srq_limit=%u}", attr->max_wr,
		 attr->max_sge, attr->srq_limit);
}

static void show_init(const struct trace_record *record, uint64_t value, char *text)
{
	(void)value;
	snprintf(text, TRACE_VALUE_SIZE, "{xrc_domain=%#llx}", (unsigned long long)record->domain);
}

static void show_qp_init(const struct trace_record *record, uint64_t value, char *text)
{
	const struct trace_qp_init *init = &record->qp_init;

	(void)value;
	snprintf(text, TRACE_VALUE_SIZE,
		 "{qp_type=IBV_QPT_XRC, xrc_domain=%#llx, send_cq=%#llx, recv_cq=%#llx, srq=%#llx, "
		 "max_send_wr=%u, max_send_sge=%u}",
		 (unsigned long long)init->domain, (unsigned long long)init->send_cq,
		 (unsigned long long)init->recv_cq, (unsigned long long)init->srq,
		 init->max_send_wr, init->max_send_sge);
}

typedef void (*show_fn)(const struct trace_record *record, uint64_t value, char *text);

/* A null pointer has no members to show. */
static show_fn shower_of(const char *name, bool null)
{
	static const struct {
		const char *name;
		show_fn show;
		bool number;
	} showers[] = {
		{ "fd", show_number, true }, { "oflag", show_open_flags, true },
		{ "xrc_qp_num", show_qp_num, true }, { "attr_mask", show_attr_mask, true },
		{ "srq_attr_mask", show_srq_mask, true }, { "attr", show_selected_attr, false },
		{ "srq_attr", show_selected_srq_attr, false },
		{ "srq_init_attr", show_srq_attr, false }, { "init_attr", show_init, false },
		{ "qp_init_attr", show_qp_init, false }, { "qp", show_qp, false },
		{ "srq", show_srq, false },
	};

	for (size_t i = 0; i < COUNT(showers); i++) {
		if ((showers[i].number || !null) && !strcmp(name, showers[i].name))
			return showers[i].show;
	}
	return show_pointer;
}

size_t trace_arguments(const struct trace_record *record,
		       struct trace_argument arguments[TRACE_ARGUMENTS])
{
	const char *rest = trace_parameters(record->verb);
	struct trace_parameter parameter;
	size_t count = 0;

	for (size_t i = 0; i < TRACE_ARGUMENTS && trace_next(&rest, &parameter); i++) {
		if (parameter.way != TRACE_IN)
			continue;
		strcpy(arguments[count].name, parameter.name);
		shower_of(parameter.name, !record->arguments[i])(record, record->arguments[i],
								 arguments[count++].value);
	}
	return count;
}

uint32_t trace_became_kept(const struct trace_record *record)
{
	return record->became_count < TRACE_BECAME ? record->became_count : TRACE_BECAME;
}

bool trace_failed(const struct trace_record *record)
{
	return functions[record->verb].pointer ? !record->result : record->result != 0;
}

const char *trace_error_name(int err)
{
	static const struct {
		int err;
		const char *name;
	} names[] = {
#define NAME(err) { err, #err }
		NAME(EINVAL), NAME(EBUSY), NAME(EAGAIN), NAME(ENOSYS), NAME(ENOMEM), NAME(EBADF),
		NAME(EFAULT), NAME(ENOSPC), NAME(EPERM), NAME(EACCES), NAME(ENODEV), NAME(EIO),
		NAME(EOPNOTSUPP), NAME(EINTR),
#undef NAME
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		if (names[i].err == err)
			return names[i].name;
	}
	return strerror(err);
}

/* What a call has created or filled in, after its result. */
static void append_outcome(const struct trace_record *record,
			   const struct trace_parameter *parameter, char *text, size_t size)
{
	char value[TRACE_VALUE_SIZE] = "";

	if (!strcmp(parameter->name, "srq"))
		append(text, size, ", xrc_srq_num 0x%06x", record->srq_num);
	else if (!strcmp(parameter->name, "qp"))
		append(text, size, ", qp_num 0x%06x", record->qp_num);
	else if (!strcmp(parameter->name, "xrc_rcv_qpn"))
		append(text, size, ", xrc_rcv_qpn 0x%06x", record->qp_num);
	else if (!strcmp(parameter->name, "attr"))
		show_attr(record, value_of(record, "attr_mask") | IBV_QP_STATE, value);
	else if (!strcmp(parameter->name, "srq_attr"))
		show_srq_attr(record, 1, value);
	if (value[0])
		append(text, size, ", %s", value);
}

void trace_result(const struct trace_record *record, char *text, size_t size)
{
	const char *rest = trace_parameters(record->verb);
	bool pointer = functions[record->verb].pointer;
	struct trace_parameter parameter;

	text[0] = '\0';
	if (trace_failed(record)) {
		append(text, size, pointer ? "NULL, errno %s" : "%s",
		       trace_error_name(pointer ? record->err : (int)record->result));
		return;
	}
	append(text, size, pointer ? "%#llx" : "%lld", (unsigned long long)record->result);
	while (trace_next(&rest, &parameter)) {
		if (parameter.way != TRACE_IN)
			append_outcome(record, &parameter, text, size);
	}
}
