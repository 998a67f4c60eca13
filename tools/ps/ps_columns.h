/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The columns of `xrc-compat ps`: what can be said about one registration. */
#ifndef XRC_COMPAT_TOOLS_PS_COLUMNS_H
#define XRC_COMPAT_TOOLS_PS_COLUMNS_H

#include "tools/tables/view.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define PS_TEXT_SIZE PATH_MAX

/* One line: a process registered with a QP, or only one of the two, or an empty table. */
struct ps_row {
	const struct regtab_view *view;
	const struct regtab_view_qp *qp;	 /* NULL: this process is registered with none */
	const struct regtab_view_member *member; /* NULL: no process is registered with this QP */
	const char *domain_path;		 /* NULL: not to be found */
	time_t now;
};

struct ps_column {
	const char *name;
	const char *help;
	/* of most values; 0 for the ones that stand last because they may be long */
	int width;
	bool by_default;
	/* For people; "" when it does not apply. At most PS_TEXT_SIZE bytes with the final 0. */
	void (*text)(const struct ps_row *row, char *text);
	/* For JSON, where a number is better; NULL: the text. False when it does not apply. */
	bool (*number)(const struct ps_row *row, long *number);
};

extern const struct ps_column ps_columns[];
extern const size_t ps_column_count;

/* NULL when there is none of this name; upper and lower case are the same. */
const struct ps_column *ps_column_find(const char *name, size_t length);

#endif
