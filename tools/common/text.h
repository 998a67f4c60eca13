/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Text of other processes, made fit for a terminal and for JSON. */
#ifndef XRC_COMPAT_TOOLS_TEXT_H
#define XRC_COMPAT_TOOLS_TEXT_H

#include <stddef.h>

/*
 * The length of the printable UTF-8 character that begins here; 0 if there is none. C1 controls and
 * surrogates are none.
 */
size_t text_character(const char *text);

/*
 * Puts '?' in the place of control characters and of bytes that are no UTF-8. A process may call
 * itself what it likes: an escape sequence must not reach a terminal, and JSON with other bytes
 * cannot be read.
 */
void text_clean(char *text);

/*
 * @text quoted as one shell word. Unprintable characters need $'...' of bash, ksh and zsh.
 */
char *text_shell_word(const char *text);

#endif
