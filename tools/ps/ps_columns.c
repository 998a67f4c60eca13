/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The one table of the columns of `xrc-compat ps`. */
#include "ps_columns.h"
#include "tools/common/text.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/sysmacros.h>

__attribute__((format(printf, 2, 3))) static void put(char *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, PS_TEXT_SIZE, format, args);
	va_end(args);
	text_clean(text);
}

static void device(const struct ps_row *row, char *text)
{
	put(text, "%s", row->view->key.device);
}

static void guid(const struct ps_row *row, char *text)
{
	put(text, "%016llx", (unsigned long long)be64toh(row->view->key.guid));
}

static void domain(const struct ps_row *row, char *text)
{
	const struct regtab_key *key = &row->view->key;

	put(text, "%u:%u:%llu", major(key->st_dev), minor(key->st_dev),
	    (unsigned long long)key->st_ino);
}

static void path(const struct ps_row *row, char *text)
{
	put(text, "%s", row->domain_path ? row->domain_path : "");
}

static void qp(const struct ps_row *row, char *text)
{
	if (row->qp)
		put(text, "0x%06x", row->qp->qp_num);
}

static bool qp_number(const struct ps_row *row, long *number)
{
	*number = row->qp ? (long)row->qp->qp_num : 0;
	return row->qp;
}

static void kept(const struct ps_row *row, char *text)
{
	if (row->qp)
		put(text, "%s", row->qp->live ? "kernel" : "lost");
}

static bool registered_number(const struct ps_row *row, long *number)
{
	*number = row->qp ? (long)row->qp->registrants : 0;
	return row->qp;
}

static bool creator_number(const struct ps_row *row, long *number)
{
	if (!row->qp || row->qp->creator < 0)
		return false;
	*number = (long)row->view->members[row->qp->creator].pid;
	return true;
}

static bool pid_number(const struct ps_row *row, long *number)
{
	*number = row->member ? (long)row->member->pid : 0;
	return row->member;
}

static void command(const struct ps_row *row, char *text)
{
	if (row->member)
		put(text, "%s", row->member->command);
}

/* The clock may have been set back, and a table may be forged: an age is never negative. */
static bool age_number(const struct ps_row *row, long *number)
{
	if (!row->member)
		return false;
	*number = row->member->since < (uint64_t)row->now
			  ? (long)((uint64_t)row->now - row->member->since)
			  : 0;
	return true;
}

static void age(const struct ps_row *row, char *text)
{
	long seconds;

	if (!age_number(row, &seconds))
		return;
	if (seconds < 60)
		put(text, "%lds", seconds);
	else if (seconds < 3600)
		put(text, "%ldm%02lds", seconds / 60, seconds % 60);
	else if (seconds < 86400)
		put(text, "%ldh%02ldm", seconds / 3600, seconds % 3600 / 60);
	else
		put(text, "%ldd%02ldh", seconds / 86400, seconds % 86400 / 3600);
}

static bool since_number(const struct ps_row *row, long *number)
{
	*number = row->member ? (long)row->member->since : 0;
	return row->member;
}

/* Tested first: the pid of a process in another pid namespace means nothing here. */
static void state(const struct ps_row *row, char *text)
{
	if (row->member)
		put(text, "%s",
		    !row->member->live	   ? "stale"
		    : row->member->foreign ? "foreign"
					   : "live");
}

static bool namespace_number(const struct ps_row *row, long *number)
{
	*number = row->member ? (long)row->member->pid_namespace : 0;
	return row->member && *number;
}

static void context(const struct ps_row *row, char *text)
{
	if (row->member)
		put(text, "%s", row->member->label);
}

static void used(const struct ps_row *row, char *text)
{
	put(text, "%s", row->view->condition == REGTAB_IN_USE ? "yes" : "dead");
}

static bool uid_number(const struct ps_row *row, long *number)
{
	*number = (long)row->view->uid;
	return true;
}

static bool bytes_number(const struct ps_row *row, long *number)
{
	*number = row->member ? (long)row->member->bytes : 0;
	return row->member;
}

static void table(const struct ps_row *row, char *text)
{
	if (row->member)
		put(text, "%s", row->member->path);
}

const struct ps_column ps_columns[] = {
	{ "DEVICE", "device", 8, true, device, NULL },
	{ "QP", "number of the receive QP", 8, true, qp, qp_number },
	{ "KEPT",
	  "what keeps the QP: kernel, or lost (it ended with the last process that was registered)",
	  7, true, kept, NULL },
	{ "PID", "process that is registered", 7, true, NULL, pid_number },
	{ "COMMAND", "its command", 15, true, command, NULL },
	{ "AGE", "time since it opened the domain", 7, true, age, age_number },
	{ "STATE",
	  "live, stale (dead, not yet cleaned up), foreign (live, in another pid namespace)", 7,
	  true, state, NULL },
	{ "DOMAIN", "the domain: device and inode of its file, major:minor:inode", 14, true, domain,
	  NULL },
	{ "REGS", "number of registrations with the QP", 4, false, NULL, registered_number },
	{ "CREATOR", "process that created the QP, while it is there", 7, false, NULL,
	  creator_number },
	{ "CONTEXT", "opened device of the process", 14, false, context, NULL },
	{ "SINCE", "when the process opened the domain, seconds since 1970", 10, false, NULL,
	  since_number },
	{ "PIDNS", "inode of its pid namespace", 10, false, NULL, namespace_number },
	{ "GUID", "node GUID of the device", 16, false, guid, NULL },
	{ "UID", "user whom the file belongs to", 6, false, NULL, uid_number },
	{ "USED", "whether any process of the table lives: yes, dead", 4, false, used, NULL },
	{ "BYTES", "memory that the file takes", 7, false, NULL, bytes_number },
	{ "PATH", "the domain's file, where a process still has it open", 0, true, path, NULL },
	{ "TABLE", "file of the process in the table directory", 0, false, table, NULL },
};

const size_t ps_column_count = sizeof(ps_columns) / sizeof(ps_columns[0]);

const struct ps_column *ps_column_find(const char *name, size_t length)
{
	for (size_t i = 0; i < ps_column_count; i++) {
		if (strlen(ps_columns[i].name) == length &&
		    !strncasecmp(ps_columns[i].name, name, length))
			return &ps_columns[i];
	}
	return NULL;
}
