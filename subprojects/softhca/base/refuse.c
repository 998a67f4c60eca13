/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Why a command is refused. One thread does one command after the other. */
#include "refuse.h"

#include <stdarg.h>
#include <stdio.h>

static char reason[REFUSE_MAX];

int refuse(int err, const char *check, ...)
{
	va_list args;

	va_start(args, check);
	vsnprintf(reason, sizeof(reason), check, args);
	va_end(args);
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
