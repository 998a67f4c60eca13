/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The settings of the emulated machine: one table for parsing and help. */
#include "settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum kind { MODEL, LINK, SWITCH, NUMBER, LIMIT, ADDRESS, PATH, LIST };

struct row {
	const char *name;
	enum kind kind;
	size_t offset;
	int least, most; /* LIMIT rows: most = 0 is the model's limit */
	const char *help;
};

#define AT(member) offsetof(struct settings, member)
#define LIMIT_OF(member, most, help) { #member, LIMIT, AT(limits.member), 1, most, help }

static const struct row rows[] = {
	{ "model", MODEL, AT(model), 0, 0, "which adapter is emulated" },
	{ "devices", NUMBER, AT(devices), 1, SOFTHCA_MAX_DEVICES,
	  "number of adapters on the wire, each a host of its own" },
	{ "ports", NUMBER, AT(ports), 1, SETTINGS_MAX_PORTS, "ports of each adapter" },
	{ "link", LINK, AT(ethernet), 0, 0, "link layer of all ports; ethernet is RoCE" },
	{ "xrc", SWITCH, AT(xrc), 0, 0, "off: devices without XRC, as rxe" },
	{ "open_qp", SWITCH, AT(open_qp), 0, 0,
	  "off: the kernel refuses OPEN_QP, as with qedr before Linux 5.11" },
	{ "open_events", SWITCH, AT(open_events), 0, 0,
	  "on: handles from ibv_open_qp get events, as before Linux 5.8" },
	{ "strict", SWITCH, AT(strict), 0, 0,
	  "on: attribute masks are judged without the removal of bits by uverbs" },
	{ "arena", SWITCH, AT(arena), 0, 0, "off: no memory is shared with the programs" },
	{ "memlock", SWITCH, AT(memlock), 0, 0,
	  "on: registering memory is refused beyond RLIMIT_MEMLOCK" },
	{ "nap", NUMBER, AT(nap), 1, 1000,
	  "microseconds between two looks at the doorbells of busy programs" },
	LIMIT_OF(max_qp, 1 << 17, "QPs per device"),
	LIMIT_OF(max_cq, 1 << 16, "CQs per device"),
	LIMIT_OF(max_srq, 1 << 16, "SRQs per device"),
	LIMIT_OF(max_mr, 1 << 19, "memory regions per device"),
	LIMIT_OF(max_pd, 1 << 15, "protection domains per device"),
	LIMIT_OF(max_qp_wr, 0, "work requests per queue of a QP"),
	LIMIT_OF(max_sge, 0, "pieces of memory per work request"),
	LIMIT_OF(max_cqe, 0, "completions per CQ"),
	LIMIT_OF(max_srq_wr, 0, "work requests per SRQ"),
	LIMIT_OF(max_srq_sge, 0, "pieces of memory per work request of an SRQ"),
	LIMIT_OF(max_qp_rd_atom, 0, "reads and atomics that a QP answers at a time"),
	LIMIT_OF(max_qp_init_rd_atom, 0, "reads and atomics that a QP asks for at a time"),
	{ "address", ADDRESS, AT(address), 0, 0,
	  "of the first adapter for the connection manager; the Nth after it adds N to the third number" },
	{ "cm_timeout", NUMBER, AT(cm_timeout), 10, 600000,
	  "milliseconds that a connection waits for an answer" },
	{ "trace", PATH, AT(trace), 0, 0,
	  "file to which every command is written, with its result" },
	{ "machines", LIST, AT(machines), 0, 0,
	  "file with the host names of machines whose adapters hang on one wire (libfabric)" },
	{ "key", PATH, AT(key), 0, 0,
	  "file by which these machines know each other; none: ~/.softhca-key, made if need be" },
	{ "port", NUMBER, AT(port), 1024, 65534,
	  "TCP port by which they meet; the one after it carries the messages" },
	{ "machines_wait", NUMBER, AT(machines_wait), 1, 3600,
	  "seconds until all machines must have met" },
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == SETTINGS_COUNT, "as settings.h says");

#define DEFAULT_ADDRESS (198u << 24 | 18u << 16 | 0u << 8 | 1u)

const struct settings settings_default = {
	.model = &connectx3,
	.devices = 2,
	.ports = 1,
	.xrc = true,
	.open_qp = true,
	.open_events = false,
	.strict = false,
	.arena = true,
	.nap = 20,
	.address = DEFAULT_ADDRESS,
	.cm_timeout = 60000,
	.port = 18518,
	.machines_wait = 60,
};

const char *settings_name(size_t index)
{
	return index < SETTINGS_COUNT ? rows[index].name : NULL;
}

static const struct row *find_row(const char *text, size_t length)
{
	for (size_t i = 0; i < SETTINGS_COUNT; i++) {
		if (strlen(rows[i].name) == length && !strncmp(rows[i].name, text, length))
			return &rows[i];
	}
	return NULL;
}

static int refuse_unknown(const char *text, int length, char *why, size_t size)
{
	int at = snprintf(why, size, "unknown setting '%.*s'; there are:", length, text);

	for (size_t i = 0; i < SETTINGS_COUNT && at > 0 && (size_t)at < size; i++)
		at += snprintf(why + at, size - (size_t)at, " %s", rows[i].name);
	return -ENOENT;
}

static int take_model(const struct model **target, const char *value, char *why, size_t size)
{
	const struct model *model = model_find(value);
	int at;

	if (model) {
		*target = model;
		return 0;
	}
	at = snprintf(why, size, "model is not '%s'; there are:", value);
	for (size_t i = 0; models[i] && at > 0 && (size_t)at < size; i++)
		at += snprintf(why + at, size - (size_t)at, " %s", models[i]->name);
	return -EINVAL;
}

/* The words for a bool: true, then false. */
static const char
	*const words[][2] = { [LINK] = { "ethernet", "infiniband" }, [SWITCH] = { "on", "off" } };

static int take_switch(bool *target, const struct row *row, const char *value, char *why,
		       size_t size)
{
	const char *const *word = words[row->kind];

	if (strcmp(value, word[0]) && strcmp(value, word[1])) {
		snprintf(why, size, "%s is %s or %s, not '%s'", row->name, word[0], word[1], value);
		return -EINVAL;
	}
	*target = !strcmp(value, word[0]);
	return 0;
}

/* The limit of @model that @row names. */
static int of_model(const struct model *model, const struct row *row)
{
	return *(const int *)((const char *)&model->limits + (row->offset - AT(limits)));
}

/* The most that a setting can be, whatever the model is. */
static int most_of(const struct row *row)
{
	int most = row->most;

	for (size_t i = 0; !row->most && models[i]; i++) {
		if (of_model(models[i], row) > most)
			most = of_model(models[i], row);
	}
	return most;
}

bool settings_number(const char *text, int least, int most, int *number)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most)
		return false;
	*number = (int)value;
	return true;
}

static int take_number(int *target, const struct row *row, const char *value, char *why,
		       size_t size)
{
	const int most = most_of(row);

	if (settings_number(value, row->least, most, target))
		return 0;
	snprintf(why, size, "%s is a number from %d to %d, not '%s'", row->name, row->least, most,
		 value);
	return -EINVAL;
}

/* Each device takes 256 addresses. */
bool settings_addresses_fit(uint32_t first, int devices)
{
	const uint32_t last = (first + (uint32_t)devices * 256 + SETTINGS_MAX_PORTS) >> 24;

	first >>= 24;
	return first >= 1 && first <= last && last < 224 && (last < 127 || first > 127);
}

static int take_address(uint32_t *target, const struct row *row, const char *value, char *why,
			size_t size)
{
	struct in_addr address;

	if (inet_pton(AF_INET, value, &address) == 1 &&
	    settings_addresses_fit(ntohl(address.s_addr), SOFTHCA_MAX_DEVICES)) {
		*target = ntohl(address.s_addr);
		return 0;
	}
	snprintf(why, size, "%s is the IPv4 address of a host, as 198.18.0.1, not '%s'", row->name,
		 value);
	return -EINVAL;
}

/* Only the directory must exist. A link stays, because a key must not be a link. */
static bool resolve_directory(const char *path, char whole[PATH_MAX])
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char directory[SETTINGS_TEXT + 1];
	size_t length;

	errno = EISDIR;
	snprintf(directory, sizeof(directory), "%.*s.", (int)(name - path), path);
	if (!name[0] || !realpath(directory, whole))
		return false;
	length = strlen(whole);
	snprintf(whole + length, PATH_MAX - length, "%s%s", whole[1] ? "/" : "", name);
	return true;
}

/* Takes the absolute path: a run compares it with that of a daemon from another directory. */
static int take_path(char *target, const struct row *row, const char *value, char *why, size_t size)
{
	const bool fits = strlen(value) < SETTINGS_TEXT;
	char whole[PATH_MAX];
	bool found = fits && (row->kind == LIST ? realpath(value, whole) != NULL
						: resolve_directory(value, whole));

	if (found && strlen(whole) < SETTINGS_TEXT) {
		strcpy(target, whole);
		return 0;
	}
	snprintf(why, size, "%s=%.400s: %s", row->name, value,
		 strerror(found || !fits ? ENAMETOOLONG : errno));
	return -EINVAL;
}

int settings_take(struct settings *settings, const char *text, char *why, size_t size)
{
	const char *equals = strchr(text, '=');
	size_t length = (size_t)(equals - text);
	const struct row *row = find_row(text, length);
	void *target;

	if (!row)
		return refuse_unknown(text, (int)length, why, size);
	target = (char *)settings + row->offset;
	switch (row->kind) {
	case MODEL:
		return take_model(target, equals + 1, why, size);
	case LINK:
	case SWITCH:
		return take_switch(target, row, equals + 1, why, size);
	case NUMBER:
	case LIMIT:
		return take_number(target, row, equals + 1, why, size);
	case ADDRESS:
		return take_address(target, row, equals + 1, why, size);
	default:
		return take_path(target, row, equals + 1, why, size);
	}
}

int settings_complete(struct settings *settings, char *why, size_t size)
{
	for (size_t i = 0; i < SETTINGS_COUNT; i++) {
		int *value = (void *)((char *)settings + rows[i].offset);
		int own;

		if (rows[i].kind != LIMIT)
			continue;
		own = of_model(settings->model, &rows[i]);
		if (!*value)
			*value = own;
		if (!rows[i].most && *value > own) {
			snprintf(why, size, "%s is at most %d on a %s, not %d", rows[i].name, own,
				 settings->model->title, *value);
			return -EINVAL;
		}
	}
	return 0;
}

static void print_value(FILE *out, const struct settings *settings, const struct row *row)
{
	const void *value = (const char *)settings + row->offset;

	switch (row->kind) {
	case MODEL:
		fputs(settings->model->name, out);
		break;
	case LINK:
	case SWITCH:
		fputs(words[row->kind][!*(const bool *)value], out);
		break;
	case NUMBER:
	case LIMIT:
		fprintf(out, "%d", *(const int *)value);
		break;
	case ADDRESS:
		fputs(inet_ntoa((struct in_addr){ htonl(*(const uint32_t *)value) }), out);
		break;
	default:
		fputs(*(const char *)value ? value : "none", out);
		break;
	}
}

static void print_default(FILE *out, const struct row *row)
{
	if (row->kind == LIMIT) {
		fprintf(out, "1 to %d, default", most_of(row));
		for (size_t i = 0; models[i]; i++)
			fprintf(out, "%s %d on a %s", i ? "," : "", of_model(models[i], row),
				models[i]->title);
		return;
	}
	if (row->kind == NUMBER)
		fprintf(out, "%d to %d, ", row->least, row->most);
	fputs("default ", out);
	print_value(out, &settings_default, row);
}

static void print_shape(FILE *out, const struct row *row)
{
	static const char *const shape[] = {
		[LINK] = "ethernet|infiniband", [SWITCH] = "on|off", [NUMBER] = "N", [LIMIT] = "N",
		[ADDRESS] = "A.B.C.D", [PATH] = "FILE", [LIST] = "FILE",
	};

	if (row->kind != MODEL) {
		fputs(shape[row->kind], out);
		return;
	}
	for (size_t i = 0; models[i]; i++)
		fprintf(out, "%s%s", i ? "|" : "", models[i]->name);
}

uint32_t settings_address(const struct settings *settings, int device, int port)
{
	return settings->address + (uint32_t)device * 256 + (uint32_t)port - 1;
}

void settings_print(const struct settings *settings, FILE *out)
{
	for (size_t i = 0; i < SETTINGS_COUNT; i++) {
		fprintf(out, "%s%s=", i ? " " : "", rows[i].name);
		print_value(out, settings, &rows[i]);
	}
	fputc('\n', out);
}

void settings_help(FILE *out)
{
	for (size_t i = 0; i < SETTINGS_COUNT; i++) {
		fprintf(out, "  --%s=", rows[i].name);
		print_shape(out, &rows[i]);
		fprintf(out, "\n        %s (", rows[i].help);
		print_default(out, &rows[i]);
		fprintf(out, ")\n");
	}
}
