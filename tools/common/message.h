/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * How the tools speak to people: one prefix, stderr for what went wrong. Names out of files and of
 * other processes may hold anything: whatever is no printable character comes out as '?'.
 */
#ifndef XRC_COMPAT_TOOLS_MESSAGE_H
#define XRC_COMPAT_TOOLS_MESSAGE_H

/* Prints "xrc-compat: MESSAGE" and returns @status, so that a refusal is one statement. */
int refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a second line under a refusal, with advice. */
void advise(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line of a report, on standard output. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
