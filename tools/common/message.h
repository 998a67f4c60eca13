/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The tools' messages, in which unprintable characters become '?'. */
#ifndef XRC_COMPAT_TOOLS_MESSAGE_H
#define XRC_COMPAT_TOOLS_MESSAGE_H

/* Prints "xrc-compat: MESSAGE" on standard error. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and @status. */
#define refuse(status, ...) (say(__VA_ARGS__), (status))

/* Prints a second line under a refusal, with advice. */
void advise(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says that @what, a file of @package of ours, was not found. TOOL_EXIT_REFUSED. */
int refuse_missing(const char *what, const char *package);

/* One line of a report, on standard output. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
