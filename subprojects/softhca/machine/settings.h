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
#define SETTINGS_MAX_PLACES 512 /* devices of all machines */
#define SETTINGS_TEXT 256 /* bytes of the absolute path of a file */

struct settings {
	const struct model *model;
	int devices;
	int ports;	/* of each device */
	bool ethernet;	/* link layer of all ports; otherwise InfiniBand */
	bool xrc;	/* off: a device without XRC */
	bool open_qp;	/* off: the kernel refuses the command, as with qedr before Linux 5.11 */
	bool open_events; /* off: only the creator's handle of a target QP gets its events */
	bool strict;	/* on: uverbs removes no bits from attribute masks */
	bool arena;	/* off: rings are reached through process_vm_readv() */
	bool memlock;	/* on: registered memory counts as locked */
	int nap;	/* microseconds between two looks at the doorbells of busy clients */
	struct limits limits;
	uint32_t address; /* of the first port of the first device, IPv4, host byte order */
	int cm_timeout;	  /* milliseconds that a connection waits for an answer */
	char trace[SETTINGS_TEXT]; /* file, or "" */
	char machines[SETTINGS_TEXT]; /* file with the names of machines, or "" */
	char key[SETTINGS_TEXT]; /* file that all machines of the user share, or "" */
	int port; /* of TCP; the next one is libfabric's */
	int machines_wait; /* seconds until all machines of the list must have met */
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

/* The IPv4 address of a port; adapters and ports are counted from 0 and 1. */
uint32_t settings_address(const struct settings *settings, int device, int port);

/* All settings on one line as name=value. A file that is not set is "none". */
void settings_print(const struct settings *settings, FILE *out);

/* Two lines per setting with its range, default and meaning. */
void settings_help(FILE *out);

#endif
