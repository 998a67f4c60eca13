/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Hides who made a report and where. */
#ifndef XRC_COMPAT_TOOLS_SECRET_H
#define XRC_COMPAT_TOOLS_SECRET_H

#include <stdio.h>

/*
 * Prints @text with the home directory as "~", the user's name as USER, the host's as HOST, and
 * GUIDs as GUID; characters that are not printable as '?'. Lines stay lines.
 */
void secret_print(FILE *out, const char *text);

#endif
