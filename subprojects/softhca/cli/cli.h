/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The softhca command: its subcommands, exit statuses and messages. */
#ifndef SOFTHCA_CLI_H
#define SOFTHCA_CLI_H

#include <softhca/machine/settings.h>

#include <stddef.h>

enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	/* `run` leaves the program its own numbers, as env(1) and nohup(1) do. */
	CLI_RUN_FAILED = 125,
	CLI_NOT_EXECUTABLE = 126,
	CLI_NOT_FOUND = 127,
};

/* argv[0] is the subcommand's name. Exit status. */
int cli_run(int argc, char **argv);
int cli_start(int argc, char **argv);
int cli_stop(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_ctl(int argc, char **argv);
int cli_ssh(int argc, char **argv);

/* Enters new namespaces; a new user namespace only if needed, since root loses its rights there. */
int cli_unshare(int namespaces);

/* Enters a network namespace with the adapters' addresses. Exit status, not 0 after a message. */
int cli_net(const struct settings *settings);

/* Prints "softhca: MESSAGE" on stderr. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and returns @status. */
int cli_refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The exit status for the outcome of asking the daemon, after a message if that is -errno. */
int cli_report(int err);

/* Path of libsofthca.so. 0 or -ENOENT. */
int cli_find_preload(char *path, size_t size);

/*
 * The value for LD_PRELOAD: @preload, or a path with $LIB in it if the library of the other word
 * size is installed (or built) beside it. @home: the daemon's directory if it exists as long as the
 * value is used, else NULL. 0 or -errno.
 */
int cli_preload_setting(const char *home, const char *preload, char *setting, size_t size);

#endif
