/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the examinations of `xrc-compat doctor` share. */
#ifndef XRC_COMPAT_TOOLS_DOCTOR_H
#define XRC_COMPAT_TOOLS_DOCTOR_H

#include "tools/common/devices.h"
#include "tools/common/common.h"

#include <stdbool.h>

enum finding {
	FINDING_OK,
	FINDING_NOTE,		/* serves most old programs, not all */
	FINDING_PROBLEM,
};

struct doctor {
	struct device_list devices;
	int devices_error;	/* 0, or -errno of reading them */
	bool as_json;
	struct json json;
	int problems;
};

/* One row of the result. @advice: what to do about it, NULL when all is well. */
void found(struct doctor *doctor, const char *what, enum finding finding, const char *advice,
	   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Devices, their names, and their ports. */
void examine_devices(struct doctor *doctor);

/* The directory of the registration tables. */
void examine_tables(struct doctor *doctor);

#endif
