/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The settings of the emulated machine, as --NAME=VALUE. */
#ifndef SOFTHCA_SETTINGS_H
#define SOFTHCA_SETTINGS_H

#include <model/model.h>
#include <proto.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SETTINGS_MAX_PORTS   2
#define SETTINGS_WIRE_DEVICES 512 /* devices of all machines */
#define SETTINGS_TEXT 256 /* bytes of the absolute path of a file */

/* The table in settings.c says what each is. */
struct settings {
	const struct model *model;
	int devices;
	int ports;
	bool ethernet;
	bool xrc;
	bool open_qp;
	bool open_events;
	bool strict;
	bool arena;
	bool memlock;
	int nap; /* microseconds */
	struct limits limits;
	uint32_t address; /* IPv4, host byte order */
	int cm_timeout; /* milliseconds */
	/* paths, or "" */
	char trace[SETTINGS_TEXT], machines[SETTINGS_TEXT], key[SETTINGS_TEXT];
	int port;
	int machines_wait; /* seconds */
};

extern const struct settings settings_default;

#define SETTINGS_COUNT 30

/* The names in their order; NULL behind the last. */
const char *settings_name(size_t index);

/* Takes "name=value". 0, or -ENOENT (name) or -EINVAL (value) with a sentence in @why. */
int settings_take(struct settings *settings, const char *text, char *why, size_t size);

/* Takes a decimal number. False for other text, and for one out of range. */
bool settings_number(const char *text, int least, int most, int *number);

/*
 * Fills in the model's own limits. 0, or -EINVAL for one beyond, with a sentence in @why, which may
 * be NULL, with @size 0.
 */
int settings_complete(struct settings *settings, char *why, size_t size);

/* Whether @first, and the addresses of so many devices behind it, can be addresses of hosts. */
bool settings_addresses_fit(uint32_t first, int devices);

/* The IPv4 address of a port; adapters and ports are counted from 0 and 1. */
uint32_t settings_address(const struct settings *settings, int device, int port);

/* All settings on one line as name=value. A file that is not set is "none". */
void settings_print(const struct settings *settings, FILE *out);

/* Two lines per setting with its range, default and meaning. */
void settings_help(FILE *out);

#endif
