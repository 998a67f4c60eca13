/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The softhca command: its subcommands, exit statuses and messages. */
#ifndef SOFTHCA_CLI_H
#define SOFTHCA_CLI_H

#include <dir.h>
#include <machine/settings.h>
#include <proto.h>

#include <stdbool.h>
#include <stddef.h>

struct option;

/* The second line of a message about wrong usage; the words follow. */
#define CLI_TRY "\n         try: softhca "

/* `run` shares its exit status with the program, so its own statuses are env(1)'s, 125 to 127. */
enum cli_exit {
	CLI_OK = 0,
	CLI_FAILED = 1, /* the daemon refuses, there is none, or SOFTHCA_DIR is wrong */
	CLI_REFUSED = 125,
	CLI_NOT_EXECUTABLE = 126,
	CLI_NOT_FOUND = 127,
};

/* No exit status: the command goes on, or main() prints its help. */
enum { CLI_GO_ON = -1, CLI_HELP = -2 };

/* The options of `run` that are no settings. */
struct run_options {
	bool net;
	int hosts; /* 0: the program sees all; -1: the word is not such a number */
};

/*
 * Reads the options of the command that argv[0] names, up to argv[optind]. Without @settings it has
 * none but --help; only run has @options, and operands. CLI_GO_ON, CLI_HELP or the exit status.
 */
int cli_options(int argc, char **argv, struct settings *settings, struct run_options *options);

/* The result of getopt_long_only() for the next word. An abbreviation is no option: '?'. */
int cli_next_option(int argc, char **argv, const struct option *known);

/* Says why the command line is refused, and how to get help. CLI_REFUSED. */
int cli_refuse_usage(const char *command, const char *why);

/*
 * The body of main(): executes the command and returns its exit status, or CLI_REFUSED after a
 * message if not all of standard output was written: a full disk is no success. While the command
 * executes, the number of every closed standard descriptor is taken, so that no file, lock or
 * socket gets it. Reading and writing there still fail, and a program that is executed finds it
 * closed.
 */
int cli_main(int (*execute)(int argc, char **argv), int argc, char **argv);

/* argv[0] is the subcommand's name. Exit status, or CLI_HELP. */
int cli_run(int argc, char **argv);
int cli_start(int argc, char **argv);
int cli_stop(int argc, char **argv);
int cli_status(int argc, char **argv);
int cli_ctl(int argc, char **argv);
int cli_capture(int argc, char **argv);
int cli_ssh(int argc, char **argv);

/*
 * Enters new namespaces; a new user namespace only if needed, since root loses its rights there.
 * 0, or -errno and nothing has changed.
 */
int cli_unshare(int namespaces);

/* Enters a network namespace for `run --net`. Exit status, not 0 after a message. */
int cli_net(void);

/* Prints "softhca: MESSAGE" on stderr. Returns @status. */
int cli_refuse(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Connects to the daemon of dir_find(), whose directory is filled in. The socket or -errno. */
int cli_connect(char directory[DIR_MAX + 1]);

/* Waits for the daemon's answer. *fd = the descriptor with it, or -1. 0 or -errno. */
int cli_receive(int sock, struct softhca_welcome *reply, int *fd);

/* Says that the daemon does not answer, or refuses without a text. @status; CLI_FAILED. */
int cli_daemon_is_silent(int status, const char *directory);
int cli_daemon_refuses(const char *directory, int err);

/* Prints the daemon's answer to @words. 0, ASK_REFUSED, or -errno; -EINPROGRESS: ask again. */
#define ASK_REFUSED 1 /* the reason has been printed */
int cli_ask(int count, char **words);

/* The exit status for a result of cli_ask() or dir_find(), after a message if that is -errno. */
int cli_report(int err);

/* Whether LD_PRELOAD can hold the path: it has no colon, blank or '$'. */
bool cli_preload_holds(const char *path);

/* Path of libsofthca.so. 0 or -ENOENT. */
int cli_find_preload(char *path, size_t size);

/*
 * The value for LD_PRELOAD: @preload, or a path with $LIB in it if the library of the other word
 * size is installed (or built) beside it. @home: the daemon's directory if it exists as long as the
 * value is used, else NULL. 0 or -errno.
 */
int cli_preload_setting(const char *home, const char *preload, char *setting, size_t size);

#endif
