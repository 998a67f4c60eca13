/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca run` and `softhca start`: a daemon for one program, or for all programs of the user. */
#include "cli.h"

#include <message.h>
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
	if (!cli_preload_holds(path))
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

/* The time until which a run or start waits for the other machines. */
static uint64_t end_of_wait(const struct settings *settings)
{
	return hca_now() + (uint64_t)settings->machines_wait * 1000000000u;
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

/* Becomes the program, with the variables by which it finds the daemon. Returns after a message. */
static int run_program(const char *directory, const char *preload, int hosts, char **program)
{
	char setting[PATH_MAX];
	int err = cli_preload_setting(directory, preload, setting, sizeof(setting));

	if (err)
		return cli_refuse(CLI_REFUSED, "%s: %s", directory, strerror(-err));
	if (set_environment(directory, setting, hosts))
		return cli_refuse(CLI_REFUSED, "out of memory");
	return become(program);
}

static int start_for_run(struct daemon_plan *plan, char *directory)
{
	char why[512];
	int err = home_create(directory, &plan->lock, why, sizeof(why));

	if (!err)
		err = start_daemon(plan, why, sizeof(why));
	return err ? cli_refuse(CLI_REFUSED, "%s", why) : CLI_OK;
}

/* ---- runs of one machine of several share a daemon: the first starts it, the last ends it ---- */

/* Seconds for the answer of a shared daemon, and for the end of one that is ending. */
#define JOIN_SECONDS 20

/* Asks the daemon for a place for a run with these settings. The daemon's answer, or -errno. */
static int ask_to_join(const char *directory, const struct settings *settings)
{
	struct softhca_welcome reply = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int sock = message_connect(directory, JOIN_SECONDS), fd = -1;
	int err = sock < 0 ? sock : out ? 0 : -ENOMEM;
	ssize_t got;

	if (out) {
		settings_print(settings, out);
		fclose(out);
	}
	if (!err)
		err = message_ask(sock, SOFTHCA_RUN, text, size);
	if (!err) {
		got = message_receive(sock, &reply, sizeof(reply), &fd, 0);
		err = got == sizeof(reply) ? reply.status : got < 0 ? (int)got : -ECONNRESET;
	}
	if (sock >= 0)
		close(sock);
	free(text);
	return err;
}

/* CLI_OK; CLI_GO_ON when the daemon has ended meanwhile; CLI_REFUSED after a message. */
static int join(const char *directory, const struct daemon_plan *plan)
{
	int err;

	while ((err = ask_to_join(directory, &plan->settings)) == -EINPROGRESS &&
	       hca_now() < plan->end)
		usleep(50000);
	if (err == -EINPROGRESS)
		return cli_refuse(CLI_REFUSED,
				  "machines are missing; SOFTHCA_DIR=%s softhca status says which",
				  directory);
	if (err == -EEXIST)
		return cli_refuse(
			CLI_REFUSED,
			"%s: the daemon there has other settings; --port takes another wire",
			directory);
	if (err == -EAGAIN)
		return cli_daemon_is_silent(CLI_REFUSED, directory);
	if (err == -ECONNREFUSED || err == -ECONNRESET || err == -ENOENT || err == -EPIPE)
		return CLI_GO_ON;
	return err ? cli_refuse(CLI_REFUSED, "%s: %s", directory, strerror(-err)) : CLI_OK;
}

static int directory_of_machines(char *directory, int port)
{
	if (dir_is_chosen())
		return dir_default(directory);
	snprintf(directory, DIR_MAX + 1, "/tmp/softhca-%u-%d", (unsigned int)dir_user(), port);
	return 0;
}

static int share_daemon(struct daemon_plan *plan, char *directory)
{
	char why[512];
	int err, status = CLI_GO_ON;

	if (cli_report(directory_of_machines(directory, plan->settings.port)))
		return CLI_REFUSED;
	while (status == CLI_GO_ON) {
		err = home_claim(directory, &plan->lock, why, sizeof(why));
		if (err == -EBUSY && hca_now() < plan->end + JOIN_SECONDS * 1000000000ull) {
			status = join(directory, plan);
			continue;
		}
		if (!err)
			err = start_daemon(plan, why, sizeof(why));
		status = err ? cli_refuse(CLI_REFUSED, "%s", why) : CLI_OK;
	}
	return status;
}

int cli_run(int argc, char **argv)
{
	char preload[PATH_MAX];
	char directory[DIR_MAX + 1];
	struct daemon_plan plan = { .directory = directory, .until = getpid() };
	const struct settings *settings = &plan.settings;
	struct run_options options = { 0 };
	int status = cli_options(argc, argv, &plan.settings, &options);

	if (status != CLI_GO_ON)
		return status;
	if (!argv[optind])
		return cli_refuse_usage(argv[0], "no program given");
	status = find_usable_preload(preload, sizeof(preload));
	if (status)
		return status;
	if (options.net && settings->machines[0])
		return cli_refuse(CLI_REFUSED,
				  "--net: adapters of several machines get no addresses here");
	if (options.net)
		status = cli_net();
	plan.net = options.net;
	plan.end = end_of_wait(settings);
	if (!status)
		status = settings->machines[0] ? share_daemon(&plan, directory)
					       : start_for_run(&plan, directory);
	return status ? status : run_program(directory, preload, options.hosts, argv + optind);
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
	plan.end = end_of_wait(&plan.settings);
	err = home_claim(directory, &plan.lock, why, sizeof(why));
	if (!err)
		err = start_daemon(&plan, why, sizeof(why));
	if (err)
		return cli_refuse(CLI_REFUSED, "%s", why);
	print_started(directory, preload);
	return CLI_OK;
}
