/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The columns of `xrc-compat ps`. */
#ifndef TOOLS_PS_COLUMNS_H
#define TOOLS_PS_COLUMNS_H

#include <table/view.h>

#include <stdbool.h>

/* Without -o those before CREATOR are printed, which fit on a line. */
enum { DEVICE, QP, PID, COMMAND, AGE, DOMAIN, CREATOR, UID, RUN, KEPT, STATE, TABLE, COLUMNS };

struct column {
	const char *name;
	const char *help;
	int width;	/* characters of most values; 0: any number, so the column stands last */
};

extern const struct column columns[COLUMNS];

struct cell {
	char text[576];		/* for people; "" if the column does not apply */
	bool is_number;		/* JSON has the number in place of the text */
	long long number;
};

/* @column is one of columns[]. @qp: the member is registered with it; NULL: with none. */
struct cell column_cell(const struct column *column, const struct regtab_view_member *member,
			const struct regtab_view_qp *qp);

/* The column of this name, in upper or lower case; NULL: there is none. */
const struct column *column_named(const char *name);

/* For --help. */
void explain_columns(void);

#endif
