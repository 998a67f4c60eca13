/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What each column of `xrc-compat ps` says of a registration. */
#include "ps.h"

#include <tools/files/regular.h>
#include <tools/text/command.h>
#include <tools/text/memory.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/sysmacros.h>
#include <time.h>

/* ---- kinds of cells ---- */

__attribute__((format(printf, 1, 2))) static struct cell text(const char *format, ...)
{
	struct cell cell = { .text = "" };
	va_list args;

	va_start(args, format);
	vsnprintf(cell.text, sizeof(cell.text), format, args);
	va_end(args);
	return cell;
}

static struct cell number(long long value, struct cell shown)
{
	shown.is_number = true;
	shown.number = value;
	return shown;
}

/* The clock may have been set back, and a table may be forged: an age is never negative. */
static struct cell age(uint64_t since)
{
	uint64_t now = (uint64_t)time(NULL);
	long long seconds = since < now ? (long long)(now - since) : 0;

	if (seconds < 60)
		return number(seconds, text("%llds", seconds));
	if (seconds < 3600)
		return number(seconds, text("%lldm%02llds", seconds / 60, seconds % 60));
	if (seconds < 86400)
		return number(seconds, text("%lldh%02lldm", seconds / 3600, seconds % 3600 / 60));
	return number(seconds, text("%lldd%02lldh", seconds / 86400, seconds % 86400 / 3600));
}

/* Emulated adapters of two daemons have the same names; the directory tells them apart. */
static struct cell run(pid_t pid)
{
	const char *path = format_string("/proc/%d/environ", (int)pid);
	const char *directory = regular_line(path, '\0', "SOFTHCA_DIR=");

	return text("%s", directory ? directory : "");
}

/* ---- columns ---- */

/*
 * X(NAME, USUAL, WIDTH, HELP, CELL): the members of struct column, and what column_cell() returns.
 * The columns stand in this order if -o gives no other.
 */
#define COLUMN_TABLE(X) \
	X(DEVICE, true, 8, "device", text("%s", key->device)) \
	X(QP, true, 8, "number of the receive QP", \
	  qp ? number(qp->qp_num, text("0x%06x", qp->qp_num)) : empty) \
	X(PID, true, 7, "process that is registered", \
	  number(member->pid, text("%d", (int)member->pid))) \
	X(COMMAND, true, 15, "its command", text("%s", member->command)) \
	X(AGE, true, 7, "time since it opened the domain", age(member->since)) \
	X(DOMAIN, true, 14, "the domain: device and inode of its file, major:minor:inode", \
	  text("%u:%u:%llu", major(key->st_dev), minor(key->st_dev), \
	       (unsigned long long)key->st_ino)) \
	X(CREATOR, false, 7, "process that created the QP, while it is there", \
	  creator ? number(creator->pid, text("%d", (int)creator->pid)) : empty) \
	X(UID, false, 6, "user of the process", number(member->uid, text("%u", member->uid))) \
	X(RUN, false, 24, \
	  "directory of the emulator's daemon, if the process has emulated adapters", \
	  run(member->pid)) \
	X(KEPT, false, 7, "kernel; release 1.0 also listed QPs that had ended", \
	  text("%s", qp ? "kernel" : "")) \
	X(STATE, false, 7, "live; release 1.0 also listed dead processes", text("live")) \
	X(TABLE, false, 0, "table of the process", text("%s", member->path))

#define ROW(NAME, USUAL, WIDTH, HELP, CELL) { #NAME, HELP, WIDTH, USUAL },
const struct column columns[] = { COLUMN_TABLE(ROW){ 0 } };
#undef ROW

struct cell column_cell(const struct column *column, const struct regtab_view_member *member,
			const struct regtab_view_qp *qp)
{
	const struct regtab_view_member *creator = qp ? qp->creator : NULL;
	const struct regtab_key *key = &member->key;
	static const struct cell empty;

#define TAKE(NAME, USUAL, WIDTH, HELP, CELL) \
	if (!strcmp(column->name, #NAME)) \
		return CELL;
	COLUMN_TABLE(TAKE)
#undef TAKE
	return empty;
}

const struct column *column_named(const char *name)
{
	const struct column *column = columns;

	while (column->name && strcasecmp(column->name, name) != 0)
		column++;
	return column->name ? column : NULL;
}

void explain_columns(void)
{
	puts("\nColumns:");
	for (const struct column *column = columns; column->name; column++)
		print_entry(format_string("  %s", column->name), 11, column->help);
}
