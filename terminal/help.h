/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* --help at any place among a command's words. */
#ifndef TERMINAL_HELP_H
#define TERMINAL_HELP_H

#include <stdbool.h>

/*
 * Whether --help is among the words (up to NULL) that follow a command's name and are its own: none
 * behind "--" is, nor, if the command launches a program, that one's name and what follows it.
 */
bool help_wanted(char *const *words, bool launches);

#endif
