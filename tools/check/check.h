/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The facts that `xrc-compat check` finds about a program, and the verdict that follows. */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include <tools/devices/devices.h>
#include <tools/program/needs.h>
#include <tools/program/providers.h>

/* rules[] in check_decide.c says when each is given. */
enum check_verdict {
	VERDICT_READY, VERDICT_NOT_NEEDED,
	VERDICT_CANNOT_TELL, VERDICT_NO_DEVICE, VERDICT_UNSUPPORTED,
	VERDICT_NOT_PRELOADABLE, VERDICT_CANNOT_START, VERDICT_BROKEN,
};

#define STATUS_OF_RUN (-1) /* `check` exits with the status with which `run` refuses */

struct verdict {
	const char *name;
	int status; /* the exit status of `check`, or STATUS_OF_RUN */
};
extern const struct verdict verdicts[];

struct decision {
	enum check_verdict verdict;
	int exit_status; /* for STATUS_OF_RUN that of `run`, or what the rule sets */
	const char *reason;
	const char *advice; /* what the user can do, or NULL */
	const char *next; /* the command to type now; NULL if there is none */
};

struct check {
	const char *name; /* as the user typed it */
	const char *wanted_device;
	struct program program;
	int run_status; /* the status with which `run` refuses the program; 0 if it does not */
	const char *broken; /* why our library cannot be preloaded or a plugin be read; or NULL */
	bool starter; /* it starts other programs */
	const char *started; /* the program that it starts; NULL if unknown */
	bool mpi;
	bool platform_mpi; /* HP-MPI or Platform MPI */
	struct closure closure;
	struct string_list needs; /* "FUNCTION, by FILE" for each legacy function */
	bool receive_qps; /* guessed by names; else XRC QPs receive */
	bool transitional; /* it uses the interface of 2011, never released (IBV_XRC_OPS) */
	struct device_list devices;
	const char *devices_error; /* why they could not be listed, or NULL */
	const char *load_advice; /* what to do about a libibverbs that cannot be loaded, or NULL */
	struct driver_fault driver_fault; /* of the program's libibverbs */
	struct driver_fault missing_device; /* of the libibverbs that this command loads */
};

void check_decide(const struct check *check, struct decision *decision);

void check_print(const struct check *check, const struct decision *decision, bool as_json);

#endif
