/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the arguments column of abi/symbols.tab. */
#include "arguments.h"

#include <stddef.h>
#include <string.h>

static const char *const columns[VERBS] = {
#define X(function, returns, unsupported, arguments, port) [VERB_##function] = arguments,
	ABI_FUNCTIONS(X)
#undef X
};

const char *trace_parameters(enum verb verb)
{
	return columns[verb];
}

bool trace_next(const char **rest, struct trace_parameter *parameter)
{
	const char *from = *rest;
	size_t length;

	if (!*from)
		return false;
	parameter->way = *from == '>' ? TRACE_OUT : *from == '=' ? TRACE_MADE : TRACE_IN;
	from += parameter->way != TRACE_IN;
	length = strcspn(from, ",");
	*rest = from + length + (from[length] == ',');
	if (length > sizeof(parameter->name) - 1)
		length = sizeof(parameter->name) - 1;
	memcpy(parameter->name, from, length);
	parameter->name[length] = '\0';
	return true;
}
