/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca run` and `softhca start`: a daemon for one program, or for all programs of the user. */
#include "cli.h"

#include <softhca/server/server.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes the value of @setting from the environment variable @name, if it is set. */
static int take_variable(struct settings *settings, const char *name, const char *setting)
{
	const char *value = getenv(name);
	char text[64], why[512];

	if (!value || !value[0])
		return 0;
	snprintf(text, sizeof(text), "%s=%s", setting, value);
	if (!settings_take(settings, text, why, sizeof(why)))
		return 0;
	cli_say("%s=%s: %s", name, value, why);
	return -EINVAL;
}

/* What only run takes. */
struct run_options {
	bool net;
	int hosts; /* 0: the program sees all */
};

/* True if the word was one of these. A wrong number of hosts is refused by complete(). */
static bool take_option(struct run_options *options, const char *word)
{
	if (!strcmp(word, "--net")) {
		options->net = true;
		return true;
	}
	if (strncmp(word, "--hosts=", 8))
		return false;
	if (!settings_number(word + 8, 1, SETTINGS_MAX_DEVICES, &options->hosts))
		options->hosts = -1;
	return true;
}

static int take_setting(struct settings *settings, const char *word)
{
	char why[512];

	if (word[1] != '-')
		cli_say("%s: unknown option; a setting is --NAME=VALUE, and '--' stands before a program of such a name",
			word);
	else if (settings_take(settings, word + 2, why, sizeof(why)))
		cli_say("%s: %s", word, why);
	else
		return 0;
	return -EINVAL;
}

/* What can be judged only when all words are known. */
static int complete(struct settings *settings, const struct run_options *options)
{
	char why[512];

	if (settings_complete(settings, why, sizeof(why)))
		cli_say("%s", why);
	else if (options && (options->hosts < 0 || options->hosts > settings->devices))
		cli_say("--hosts is 1 to %d, as many as there are devices", settings->devices);
	else
		return 0;
	return -EINVAL;
}

/*
 * Takes the words that begin with '-', up to "--". *next = index of the first word behind them.
 * @options is NULL for `start`. 0, or -EINVAL after a message.
 */
static int take_settings(int argc, char **argv, struct settings *settings,
			 struct run_options *options, int *next)
{
	int i = 1;

	*settings = settings_default;
	if (take_variable(settings, "SOFTHCA_MODEL", "model") ||
	    take_variable(settings, "SOFTHCA_LINK", "link"))
		return -EINVAL;
	for (; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
		if (options && take_option(options, argv[i]))
			continue;
		if (take_setting(settings, argv[i]))
			return -EINVAL;
	}
	*next = i < argc && !strcmp(argv[i], "--") ? i + 1 : i;
	return complete(settings, options);
}

/* Path of libsofthca.so as the loader can take it. 0, or @failed after a message. */
static int find_usable_preload(char *path, size_t size, int failed)
{
	if (cli_find_preload(path, size))
		return cli_refuse(failed,
				  "libsofthca.so is missing: neither next to this command nor in %s",
				  SOFTHCA_LIBDIR);
	if (strpbrk(path, ": \t\n$"))
		return cli_refuse(failed,
				  "%s: LD_PRELOAD cannot hold a path with a colon, a blank or a '$'",
				  path);
	return CLI_OK;
}

/* Starts the daemon, which has the lock from now on. 0, or -errno with a sentence in @why. */
static int start_daemon(struct daemon_plan *plan, char *why, size_t size)
{
	int err = daemon_spawn(plan, why, size);

	close(plan->lock);
	return err;
}

/* ---- run ---- */

static int set_environment(const char *directory, const char *preload, int hosts)
{
	const char *others = getenv("LD_PRELOAD");
	char *value, text[16];
	int result;

	snprintf(text, sizeof(text), "%d", hosts);
	if (setenv("SOFTHCA_DIR", directory, 1) ||
	    (hosts ? setenv("SOFTHCA_HOSTS", text, 1) : unsetenv("SOFTHCA_HOSTS")))
		return -1;
	if (!others || !others[0])
		return setenv("LD_PRELOAD", preload, 1);
	if (asprintf(&value, "%s:%s", preload, others) < 0)
		return -1;
	result = setenv("LD_PRELOAD", value, 1);
	free(value);
	return result;
}

static int become(char **program)
{
	int err;

	execvp(program[0], program);
	err = errno;
	return cli_refuse(err == ENOENT ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE, "%s: %s", program[0],
			  strerror(err));
}

static int start_for_run(struct settings *settings, char *directory)
{
	struct daemon_plan plan = { .settings = *settings,
				    .directory = directory,
				    .until = getpid() };
	char why[512];
	int err = home_create(directory, &plan.lock, why, sizeof(why));

	if (!err)
		err = start_daemon(&plan, why, sizeof(why));
	return err ? cli_refuse(CLI_RUN_FAILED, "%s", why) : CLI_OK;
}

int cli_run(int argc, char **argv)
{
	char preload[PATH_MAX], setting[PATH_MAX];
	char directory[DIR_MAX + 1];
	struct settings settings;
	struct run_options options = { 0 };
	int status, first;

	if (take_settings(argc, argv, &settings, &options, &first))
		return CLI_RUN_FAILED;
	if (first == argc)
		return cli_refuse(CLI_RUN_FAILED, "run: no program given");
	status = find_usable_preload(preload, sizeof(preload), CLI_RUN_FAILED);
	if (status)
		return status;
	status = start_for_run(&settings, directory);
	if (!status && options.net)
		status = cli_net(&settings);
	if (status)
		return status;
	status = cli_preload_setting(directory, preload, setting, sizeof(setting));
	if (status)
		return cli_refuse(CLI_RUN_FAILED, "%s: %s", directory, strerror(-status));
	if (set_environment(directory, setting, options.hosts))
		return cli_refuse(CLI_RUN_FAILED, "out of memory");
	return become(argv + first);
}

/* ---- start ---- */

static void print_started(const char *directory, const char *preload)
{
	char setting[PATH_MAX];
	const char *quote;

	cli_preload_setting(NULL, preload, setting, sizeof(setting));
	/* The loader is to replace $LIB, not the shell. */
	quote = strchr(setting, '$') ? "'" : "";
	printf("softhca: started in %s; programs use it with LD_PRELOAD=%s%s%s\n", directory, quote,
	       setting, quote);
}

int cli_start(int argc, char **argv)
{
	char directory[DIR_MAX + 1];
	struct daemon_plan plan = { .directory = directory };
	char preload[PATH_MAX], why[512];
	int err, first;

	if (take_settings(argc, argv, &plan.settings, NULL, &first))
		return CLI_USAGE;
	if (first < argc)
		return cli_refuse(CLI_USAGE, "start takes only settings, not '%s'", argv[first]);
	if (find_usable_preload(preload, sizeof(preload), CLI_FAILED))
		return CLI_FAILED;
	err = dir_default(directory);
	if (err)
		return cli_report(err);
	err = home_claim(directory, &plan.lock, why, sizeof(why));
	if (!err)
		err = start_daemon(&plan, why, sizeof(why));
	if (err)
		return cli_refuse(CLI_FAILED, "%s", why);
	print_started(directory, preload);
	return CLI_OK;
}
