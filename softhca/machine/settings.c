// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* What can be set about the emulated machine: one table for parsing and help. */
#include "settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum kind { SWITCH, NUMBER, ADDRESS, TEXT };

struct row {
	const char *name;
	enum kind kind;
	size_t offset;
	int least, most;
	const char *help;
};

#define AT(member) offsetof(struct settings, member)

static const struct row rows[] = {
	{ "devices", NUMBER, AT(devices), 1, SETTINGS_MAX_DEVICES, "number of HCAs on the wire, each a host of its own" },
	{ "ports", NUMBER, AT(ports), 1, SETTINGS_MAX_PORTS, "ports of each HCA" },
	{ "xrc", SWITCH, AT(xrc), 0, 0, "off: devices without XRC, as rxe" },
	{ "open_qp", SWITCH, AT(open_qp), 0, 0, "off: devices without ibv_open_qp, as qedr" },
	{ "strict", SWITCH, AT(strict), 0, 0, "on: attribute masks are judged without the removal of bits by uverbs" },
	{ "arena", SWITCH, AT(arena), 0, 0, "off: no memory is shared with the programs" },
	{ "nap", NUMBER, AT(nap), 1, 1000, "microseconds between two looks at the doorbells of busy programs" },
	{ "max_qp", NUMBER, AT(max_qp), 1, 1 << 17, "QPs per device" },
	{ "max_cq", NUMBER, AT(max_cq), 1, 1 << 16, "CQs per device" },
	{ "max_srq", NUMBER, AT(max_srq), 1, 1 << 16, "SRQs per device" },
	{ "max_mr", NUMBER, AT(max_mr), 1, 1 << 19, "memory regions per device" },
	{ "max_pd", NUMBER, AT(max_pd), 1, 1 << 15, "protection domains per device" },
	{ "max_qp_wr", NUMBER, AT(max_qp_wr), 1, 16351, "work requests per queue of a QP" },
	{ "max_sge", NUMBER, AT(max_sge), 1, 32, "pieces of memory per work request" },
	{ "max_cqe", NUMBER, AT(max_cqe), 1, 4194303, "completions per CQ" },
	{ "max_srq_wr", NUMBER, AT(max_srq_wr), 1, 16383, "work requests per SRQ" },
	{ "max_srq_sge", NUMBER, AT(max_srq_sge), 1, 31, "pieces of memory per work request of an SRQ" },
	{ "max_qp_rd_atom", NUMBER, AT(max_qp_rd_atom), 1, 16, "reads and atomics that a QP answers at a time" },
	{ "max_qp_init_rd_atom", NUMBER, AT(max_qp_init_rd_atom), 1, 128, "reads and atomics that a QP asks for at a time" },
	{ "address", ADDRESS, AT(address), 0, 0, "of mlx4_0 for the connection manager; mlx4_N adds N to the third number" },
	{ "cm_timeout", NUMBER, AT(cm_timeout), 10, 600000, "milliseconds that a connection waits for an answer" },
	{ "trace", TEXT, AT(trace), 0, 0, "file to which every command is written, with its result" },
};

#define DEFAULT_ADDRESS (198u << 24 | 18u << 16 | 0u << 8 | 1u)

const struct settings settings_default = {
	.devices = 2, .ports = 1, .xrc = true, .open_qp = true, .strict = false, .arena = true, .nap = 20,
	.max_qp = 65472, .max_cq = 65408, .max_srq = 65472, .max_mr = 524032, .max_pd = 32764,
	.max_qp_wr = 16351, .max_sge = 32, .max_cqe = 4194303, .max_srq_wr = 16383, .max_srq_sge = 31,
	.max_qp_rd_atom = 16, .max_qp_init_rd_atom = 128, .address = DEFAULT_ADDRESS, .cm_timeout = 60000,
};

static const struct row *find(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strlen(rows[i].name) == length && !strncmp(rows[i].name, text, length))
			return &rows[i];
	}
	return NULL;
}

static int refuse_unknown(const char *text, int length, char *why, size_t size)
{
	int at = snprintf(why, size, "unknown setting '%.*s'; there are:", length, text);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && at > 0 && (size_t)at < size; i++)
		at += snprintf(why + at, size - (size_t)at, " %s", rows[i].name);
	return -ENOENT;
}

static int take_switch(bool *target, const struct row *row, const char *value, char *why, size_t size)
{
	if (strcmp(value, "on") && strcmp(value, "off")) {
		snprintf(why, size, "%s is on or off, not '%s'", row->name, value);
		return -EINVAL;
	}
	*target = !strcmp(value, "on");
	return 0;
}

static int take_number(int *target, const struct row *row, const char *value, char *why, size_t size)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(value, &end, 10);
	if (errno || end == value || *end || number < row->least || number > row->most) {
		snprintf(why, size, "%s is a number from %d to %d, not '%s'", row->name, row->least, row->most, value);
		return -EINVAL;
	}
	*target = (int)number;
	return 0;
}

/* One that a host could have, and so that those of all other devices follow it. */
static int take_address(uint32_t *target, const struct row *row, const char *value, char *why, size_t size)
{
	const uint32_t span = SETTINGS_MAX_DEVICES * 256 + SETTINGS_MAX_PORTS;
	struct in_addr address;
	uint32_t first, last;

	if (inet_pton(AF_INET, value, &address) == 1) {
		first = ntohl(address.s_addr);
		last = first + span;
		if (first >> 24 >= 1 && last >> 24 < 224 && first >> 24 != 127 && last >> 24 != 127) {
			*target = first;
			return 0;
		}
	}
	snprintf(why, size, "%s is the IPv4 address of a host, as 198.18.0.1, not '%s'", row->name, value);
	return -EINVAL;
}

static int take_text(char *target, size_t room, const struct row *row, const char *value, char *why, size_t size)
{
	if (!value[0] || strlen(value) >= room) {
		snprintf(why, size, "%s takes a text of 1 to %zu bytes", row->name, room - 1);
		return -EINVAL;
	}
	strcpy(target, value);
	return 0;
}

int settings_take(struct settings *settings, const char *text, char *why, size_t size)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : strlen(text);
	const struct row *row = find(text, length);
	void *target;

	if (!row)
		return refuse_unknown(text, (int)length, why, size);
	if (!equals) {
		snprintf(why, size, "--%s needs a value: --%s=VALUE", row->name, row->name);
		return -EINVAL;
	}
	target = (char *)settings + row->offset;
	switch (row->kind) {
	case SWITCH:
		return take_switch(target, row, equals + 1, why, size);
	case NUMBER:
		return take_number(target, row, equals + 1, why, size);
	case ADDRESS:
		return take_address(target, row, equals + 1, why, size);
	default:
		return take_text(target, sizeof(settings->trace), row, equals + 1, why, size);
	}
}

static void print_default(FILE *out, const struct row *row)
{
	const void *value = (const char *)&settings_default + row->offset;

	if (row->kind == SWITCH)
		fprintf(out, "default %s", *(const bool *)value ? "on" : "off");
	else if (row->kind == NUMBER)
		fprintf(out, "%d to %d, default %d", row->least, row->most, *(const int *)value);
	else if (row->kind == ADDRESS)
		fprintf(out, "default %s", inet_ntoa((struct in_addr){ htonl(*(const uint32_t *)value) }));
	else
		fprintf(out, "default none");
}

void settings_help(FILE *out)
{
	static const char *const shape[] = { [SWITCH] = "on|off", [NUMBER] = "N", [ADDRESS] = "A.B.C.D", [TEXT] = "FILE" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fprintf(out, "  --%s=%s\n        %s (", rows[i].name, shape[rows[i].kind], rows[i].help);
		print_default(out, &rows[i]);
		fprintf(out, ")\n");
	}
}
