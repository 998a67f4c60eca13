/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What each column of `xrc-compat ps` says of a registration. */
#include "columns.h"

#include <tools/text/command.h>
#include <tools/text/memory.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sysmacros.h>
#include <time.h>

const struct column columns[COLUMNS] = {
	[DEVICE] = { "DEVICE", "device", 8 },
	[QP] = { "QP", "number of the receive QP", 8 },
	[PID] = { "PID", "process that is registered", 7 },
	[COMMAND] = { "COMMAND", "its command", 15 },
	[AGE] = { "AGE", "time since it opened the domain", 7 },
	[DOMAIN] = { "DOMAIN", "the domain: device and inode of its file, major:minor:inode", 14 },
	[CREATOR] = { "CREATOR", "process that created the QP, while it is there", 7 },
	[UID] = { "UID", "user of the process", 6 },
	[RUN] = { "RUN", "directory of the emulator's daemon, if the process has emulated adapters",
		  24 },
	[KEPT] = { "KEPT", "kernel; release 1.0 also listed QPs that had ended", 7 },
	[STATE] = { "STATE", "live; release 1.0 also listed dead processes", 7 },
	[TABLE] = { "TABLE", "table of the process", 0 },
};

/* ---- kinds of cells ---- */

__attribute__((format(printf, 2, 3))) static void put(struct cell *cell, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(cell->text, sizeof(cell->text), format, args);
	va_end(args);
}

static void put_number(struct cell *cell, long long number)
{
	cell->is_number = true;
	cell->number = number;
	put(cell, "%lld", number);
}

/* The clock may have been set back, and a table may be forged: an age is never negative. */
static void put_age(struct cell *cell, uint64_t since)
{
	uint64_t now = (uint64_t)time(NULL);
	long long seconds = since < now ? (long long)(now - since) : 0;

	put_number(cell, seconds);
	if (seconds < 60)
		put(cell, "%llds", seconds);
	else if (seconds < 3600)
		put(cell, "%lldm%02llds", seconds / 60, seconds % 60);
	else if (seconds < 86400)
		put(cell, "%lldh%02lldm", seconds / 3600, seconds % 3600 / 60);
	else
		put(cell, "%lldd%02lldh", seconds / 86400, seconds % 86400 / 3600);
}

/* Emulated adapters of two daemons have the same names; the directory tells them apart. */
static void put_run(struct cell *cell, pid_t pid)
{
	static const char name[] = "SOFTHCA_DIR=";
	char path[32], *variable = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (getdelim(&variable, &size, '\0', file) > 0) {
		if (!strncmp(variable, name, strlen(name)))
			put(cell, "%s", variable + strlen(name));
	}
	fclose(file);
	free(variable);
}

/* ---- columns ---- */

static void put_qp(struct cell *cell, size_t column, const struct regtab_view_qp *qp)
{
	if (column == QP) {
		put_number(cell, qp->qp_num);
		put(cell, "0x%06x", qp->qp_num);
	} else if (column == KEPT) {
		put(cell, "kernel");
	} else if (qp->creator) {
		put_number(cell, qp->creator->pid);
	}
}

static void put_member(struct cell *cell, size_t column, const struct regtab_view_member *member)
{
	const struct regtab_key *key = &member->key;

	switch (column) {
	case DEVICE:
		put(cell, "%s", key->device);
		break;
	case PID:
		put_number(cell, member->pid);
		break;
	case COMMAND:
		put(cell, "%s", member->command);
		break;
	case AGE:
		put_age(cell, member->since);
		break;
	case UID:
		put_number(cell, member->uid);
		break;
	case RUN:
		put_run(cell, member->pid);
		break;
	case STATE:
		put(cell, "live");
		break;
	case TABLE:
		put(cell, "%s", member->path);
		break;
	case DOMAIN:
		put(cell, "%u:%u:%llu", major(key->st_dev), minor(key->st_dev),
		    (unsigned long long)key->st_ino);
		break;
	}
}

struct cell column_cell(const struct column *column, const struct regtab_view_member *member,
			const struct regtab_view_qp *qp)
{
	struct cell cell = { .text = "" };
	size_t i = (size_t)(column - columns);

	if (i != QP && i != KEPT && i != CREATOR)
		put_member(&cell, i, member);
	else if (qp)
		put_qp(&cell, i, qp);
	return cell;
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
