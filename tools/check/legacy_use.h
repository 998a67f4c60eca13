/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a program and its libraries use of the legacy XRC interface, and how they bind to it. */
#ifndef XRC_COMPAT_TOOLS_LEGACY_USE_H
#define XRC_COMPAT_TOOLS_LEGACY_USE_H

#include "tools/program/closure.h"

enum legacy_dialect {
	DIALECT_NONE,
	DIALECT_OFED,	      /* OFED 1.3 to 1.5, or nothing that tells it from MLNX_OFED */
	/* MLNX_OFED 2 to 4: uses or was compiled with what OFED 1.5 did not have */
	DIALECT_MLNX,
	/* the interface between the two, which was never released (IBV_XRC_OPS) */
	DIALECT_TRANSITIONAL,
};

enum legacy_direction {
	DIRECTION_NONE,
	DIRECTION_ONE_WAY, /* receives through receive QPs */
	DIRECTION_TWO_WAY, /* XRC QPs that both send and receive */
};

struct legacy_symbol {
	const struct elf_import *import;
	const struct loaded_object *object; /* which imports it */
};

struct legacy_use {
	struct legacy_symbol *symbol;
	size_t count;
	/* the object that looks the functions up by dlsym(), or NULL */
	const struct loaded_object *run_time;
	/* the object that opens devices by IBVERBS_1.0, or NULL */
	const struct loaded_object *unversioned;
	enum legacy_dialect dialect;
	/*
	 * the evidence for DIALECT_MLNX: a function or header that OFED 1.5 lacks; memory of the
	 * closure
	 */
	const char *later;
	enum legacy_direction direction;
};

/* True for the names of the eight functions. */
bool legacy_name(const char *name);

void legacy_use_read(const struct closure *closure, struct legacy_use *use);
void legacy_use_free(struct legacy_use *use);

/* True if the file @path has a libibverbs linked into it, of which no symbol needs to be left. */
bool legacy_is_in_file(const char *path);

/* "ofed", "mlnx-ofed", "transitional" or NULL; "one-way", "two-way" or NULL. */
const char *legacy_dialect_name(enum legacy_dialect dialect);
const char *legacy_direction_name(enum legacy_direction direction);

#endif
