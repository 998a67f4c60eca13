/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Text of other processes. */
#ifndef TOOLS_TEXT_H
#define TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The length of the printable character that begins here, in the encoding of LC_CTYPE; 0: none. */
size_t text_character(const char *text);

/* Replaces bytes of no printable character by '?', because they may be escape sequences. */
void text_clean(char *text);

/* Whether the text matches the pattern of fnmatch(3), which may have @(one|another). */
bool text_matches(const char *text, const char *pattern);

/* @text as one printable word for sh and, unless @text has a line break, for csh. */
char *text_shell_word(const char *text);

#endif
