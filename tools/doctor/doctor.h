/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The rows of `xrc-compat doctor`, and the examinations that print them. */
#ifndef TOOLS_DOCTOR_H
#define TOOLS_DOCTOR_H

#include <tools/devices/devices.h>
#include <tools/text/json.h>
#include <tools/text/memory.h>

enum finding {
	FINDING_OK,
	FINDING_NOTE,		/* may not serve all old programs */
	FINDING_PROBLEM,
};

extern struct rows {
	struct json json;	/* writes nothing if the rows are text */
	int count[FINDING_PROBLEM + 1];
} rows;

/* Prints one row. @advice: what to do about it; not printed with FINDING_OK. */
#define print_finding(what, finding, advice, ...) \
	add_row(what, finding, advice, format_string(__VA_ARGS__))
void add_row(const char *what, enum finding finding, const char *advice, const char *text);

/* Each is in the file of that name. @list gets the devices. */
void examine_libraries(void);
void examine_devices(struct device_list *list);
void examine_environment(void);

#endif
