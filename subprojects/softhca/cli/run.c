/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca run` and `softhca start`: a daemon for one program, or for all programs of the user. */
#include "cli.h"

#include <server/server.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Path of libsofthca.so as the loader can take it. 0, or CLI_REFUSED after a message. */
static int find_usable_preload(char *path, size_t size)
{
	if (cli_find_preload(path, size))
		return cli_refuse(CLI_REFUSED,
				  "libsofthca.so is missing: neither next to this command nor in %s",
				  SOFTHCA_LIBDIR);
	if (strpbrk(path, ": \t\n$"))
		return cli_refuse(CLI_REFUSED,
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

static int start_for_run(const struct settings *settings, bool net, char *directory)
{
	struct daemon_plan plan = { .settings = *settings,
				    .directory = directory,
				    .net = net,
				    .until = getpid() };
	char why[512];
	int err = home_create(directory, &plan.lock, why, sizeof(why));

	if (!err)
		err = start_daemon(&plan, why, sizeof(why));
	return err ? cli_refuse(CLI_REFUSED, "%s", why) : CLI_OK;
}

int cli_run(int argc, char **argv)
{
	char preload[PATH_MAX], setting[PATH_MAX];
	char directory[DIR_MAX + 1];
	struct settings settings;
	struct run_options options = { 0 };
	int status = cli_options(argc, argv, &settings, &options);

	if (status != CLI_GO_ON)
		return status;
	if (!argv[optind])
		return cli_refuse_usage(argv[0], "no program given");
	status = find_usable_preload(preload, sizeof(preload));
	if (status)
		return status;
	if (options.net)
		status = cli_net();
	if (!status)
		status = start_for_run(&settings, options.net, directory);
	if (status)
		return status;
	status = cli_preload_setting(directory, preload, setting, sizeof(setting));
	if (status)
		return cli_refuse(CLI_REFUSED, "%s: %s", directory, strerror(-status));
	if (set_environment(directory, setting, options.hosts))
		return cli_refuse(CLI_REFUSED, "out of memory");
	return become(argv + optind);
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
	int err, status = cli_options(argc, argv, &plan.settings, NULL);

	if (status != CLI_GO_ON)
		return status;
	if (find_usable_preload(preload, sizeof(preload)))
		return CLI_REFUSED;
	err = dir_default(directory);
	if (err)
		return cli_report(err);
	err = home_claim(directory, &plan.lock, why, sizeof(why));
	if (!err)
		err = start_daemon(&plan, why, sizeof(why));
	if (err)
		return cli_refuse(CLI_REFUSED, "%s", why);
	print_started(directory, preload);
	return CLI_OK;
}
