/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What another of these commands says, for a document. */
#ifndef XRC_COMPAT_TOOLS_CAPTURE_H
#define XRC_COMPAT_TOOLS_CAPTURE_H

#include <stddef.h>

struct capture {
	char *text;    /* standard output and error as they came; "" at least */
	size_t length;
	int status;    /* exit status, 128 and the signal, or -ETIMEDOUT */
};

/* Runs xrc-compat with these arguments (NULL-terminated), so many seconds at most. 0, or -errno when it cannot be started. */
int capture_command(char *const *arguments, int seconds, struct capture *capture);
void capture_free(struct capture *capture);

#endif
