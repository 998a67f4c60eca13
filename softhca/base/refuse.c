/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Why a command is refused. The daemon has one thread, and does one command after the other. */
#include "refuse.h"

#include <stdio.h>

static char reason[REFUSE_MAX];

int refuse(int err, const char *check)
{
	snprintf(reason, sizeof(reason), "%s", check);
	return err;
}

int refuse_one(int err, const char *check, const char *what)
{
	snprintf(reason, sizeof(reason), "%s: %s", check, what);
	return err;
}

const char *refuse_reason(void)
{
	return reason;
}

void refuse_begin(void)
{
	reason[0] = '\0';
}
