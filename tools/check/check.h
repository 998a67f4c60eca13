/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The facts that `xrc-compat check` finds about a program, and the verdict that follows. */
#ifndef TOOLS_CHECK_H
#define TOOLS_CHECK_H

#include <tools/aside/devices.h>
#include <tools/program/libraries.h>

/* Exit statuses up to VERDICT_UNSUPPORTED. For the rest, check exits with the status of `run`. */
enum check_verdict {
	VERDICT_READY = 0,
	VERDICT_NOT_NEEDED = 1,
	VERDICT_CANNOT_TELL = 3, /* it starts other programs, or cannot be read */
	VERDICT_NO_DEVICE = 4,
	VERDICT_UNSUPPORTED = 5, /* an interface or a build that our library does not support */
	VERDICT_NOT_PRELOADABLE, /* static, setuid, another class */
	VERDICT_CANNOT_START,	 /* no program, or not one of this machine */
	VERDICT_BROKEN,		 /* libraries are missing, the program's or ours */
};

struct check {
	const char *name; /* as the user typed it */
	const char *wanted_device;
	struct program program;
	const char *broken; /* why our library cannot be preloaded or a plugin be read; or NULL */
	bool starter; /* it starts other programs */
	const char *started; /* the program that it starts; NULL if unknown */
	bool mpi;
	bool platform_mpi; /* HP-MPI or Platform MPI */
	struct closure closure;
	struct string_list needs; /* "FUNCTION, by FILE" for each legacy function */
	bool receive_qps;	  /* one of them is of receive QPs; else XRC QPs receive */
	bool transitional; /* it uses the interface of 2011, never released (IBV_XRC_OPS) */
	struct device_list devices;
	const char *devices_error; /* why they could not be listed, or NULL */
	const char *driver_fault;  /* why the program's libibverbs loads no driver, or NULL */
	struct undriven undriven;
	enum check_verdict verdict;
	int exit_status; /* that of `run` if `run` refuses the program, else the verdict's */
	const char *reason;
	const char *advice; /* what the user can do, or NULL */
	const char *next; /* the command to type now; NULL if there is none */
};

void check_decide(struct check *check);

void check_print(const struct check *check, bool as_json);

#endif
