/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the examinations of `xrc-compat doctor` share. */
#ifndef XRC_COMPAT_TOOLS_DOCTOR_H
#define XRC_COMPAT_TOOLS_DOCTOR_H

#include "tools/common/common.h"

enum finding {
	FINDING_OK,
	FINDING_NOTE,		/* serves most old programs, not all */
	FINDING_PROBLEM,
};

/* One row of the result. @advice: what to do about it, NULL when all is well. */
void found(const char *what, enum finding finding, const char *advice, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Devices, their names, and their ports. */
void examine_devices(void);

/* All that is known of the devices. */
void print_devices(struct json *json);

/* The directory of the registration tables. */
void examine_tables(void);

#endif
