/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What each column of `xrc-compat ps` says of a registration. */
#include "ps.h"

#include <tools/files/regular.h>
#include <tools/text/command.h>
#include <tools/text/memory.h>

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <sys/sysmacros.h>
#include <time.h>

const struct column columns[COLUMNS] = {
	[COLUMN_DEVICE] = { "DEVICE", "device", 8 },
	[COLUMN_QP] = { "QP", "number of the receive QP", 8 },
	[COLUMN_PID] = { "PID", "process that is registered", 7 },
	[COLUMN_COMMAND] = { "COMMAND", "its command", 15 },
	[COLUMN_AGE] = { "AGE", "time since it opened the domain", 7 },
	[COLUMN_DOMAIN] = { "DOMAIN", "the domain: device and inode of its file, major:minor:inode",
			    14 },
	[COLUMN_CREATOR] = { "CREATOR", "process that created the QP, while it is there", 7 },
	[COLUMN_UID] = { "UID", "user of the process", 6 },
	[COLUMN_RUN] = { "RUN",
			 "directory of the emulator's daemon, if the process has emulated adapters", 24 },
	[COLUMN_KEPT] = { "KEPT", "kernel; release 1.0 also listed QPs that had ended", 7 },
	[COLUMN_STATE] = { "STATE", "live; release 1.0 also listed dead processes", 7 },
	[COLUMN_TABLE] = { "TABLE", "table of the process", 0 },
};

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

struct cell column_cell(const struct column *column, const struct regtab_view_member *member,
			const struct regtab_view_qp *qp)
{
	const struct regtab_view_member *creator = qp ? qp->creator : NULL;
	const struct regtab_key *key = &member->key;
	static const struct cell empty;

	switch (column - columns) {
	case COLUMN_DEVICE:
		return text("%s", key->device);
	case COLUMN_QP:
		return qp ? number(qp->qp_num, text("0x%06x", qp->qp_num)) : empty;
	case COLUMN_PID:
		return number(member->pid, text("%d", (int)member->pid));
	case COLUMN_COMMAND:
		return text("%s", member->command);
	case COLUMN_AGE:
		return age(member->since);
	case COLUMN_DOMAIN:
		return text("%u:%u:%llu", major(key->st_dev), minor(key->st_dev),
			    (unsigned long long)key->st_ino);
	case COLUMN_CREATOR:
		return creator ? number(creator->pid, text("%d", (int)creator->pid)) : empty;
	case COLUMN_UID:
		return number(member->uid, text("%u", member->uid));
	case COLUMN_RUN:
		return run(member->pid);
	case COLUMN_KEPT:
		return text("%s", qp ? "kernel" : "");
	case COLUMN_STATE:
		return text("live");
	default:	/* COLUMN_TABLE */
		return text("%s", member->path);
	}
}

const struct column *column_named(const char *name)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!strcasecmp(columns[i].name, name))
			return &columns[i];
	}
	return NULL;
}

void explain_columns(void)
{
	puts("\nColumns:");
	for (size_t i = 0; i < COLUMNS; i++)
		print_entry(format_string("  %s", columns[i].name), 11, columns[i].help);
}
