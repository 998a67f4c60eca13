/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Text of other processes, made fit for a terminal and for JSON. */
#ifndef XRC_COMPAT_TOOLS_TEXT_H
#define XRC_COMPAT_TOOLS_TEXT_H

/*
 * Puts '?' in the place of control characters and of bytes that are no UTF-8. A process may call itself what it likes:
 * an escape sequence must not reach a terminal, and JSON with other bytes cannot be read.
 */
void text_clean(char *text);

#endif
