/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The self-test: an old program that uses the whole legacy API and says which lines of the contract
 * hold.
 */
#include "checks.h"
#include "terminal/streams.h"
#include "terminal/style.h"
#include "tools/common/temporary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_FAILED 1
#define EXIT_NO_DEVICE 4	/* as of `xrc-compat check` */
#define EXIT_IMPOSSIBLE 125	/* nothing could be tested */
#define LISTEN_SECONDS 600

struct result {
	int passed, failed, untried, limited;
};

static const char *const actor_names[ACTORS] = {
	"creator", "survivor", "victim", "sender", "visitor", "two-way", "two-way peer",
};

static bool may_be_remote(enum who who)
{
	return who == SENDER || who == TWO_WAY_PEER;
}

static int start_actors(struct job *job)
{
	for (enum who who = 0; who < ACTORS; who++) {
		struct actor *actor = &job->actors[who];
		bool remote = job->remote_host && may_be_remote(who);
		int err = remote ? actor_connect(actor, actor_names[who], job->remote_host,
						 job->remote_port)
				 : actor_start(actor, actor_names[who]);

		if (!err)
			continue;
		fprintf(stderr, "xrc-compat-selftest: %s%s%s: %s\n", actor_names[who],
			remote ? " on the other host, " : "", remote ? job->remote_host : "",
			actor_error(err));
		return EXIT_IMPOSSIBLE;
	}
	return 0;
}

static int make_domain_file(struct job *job)
{
	int fd =
		temporary_make("xrc-selftest", job->domain_path, sizeof(job->domain_path), mkstemp);

	if (fd < 0) {
		fprintf(stderr, "xrc-compat-selftest: %s: %s\n", job->domain_path, strerror(errno));
		return EXIT_IMPOSSIBLE;
	}
	/*
	 * Unlink the file at once, so that it never stays behind. The actors open it by the
	 * inherited descriptor.
	 */
	unlink(job->domain_path);
	snprintf(job->domain_path, sizeof(job->domain_path), "/proc/self/fd/%d", fd);
	return 0;
}

static const char *count_verdict(const struct job *job, bool passed, struct result *result)
{
	if (job->no_device) {
		result->untried++;
		return "no device";
	}
	if (!passed) {
		result->failed++;
		return "FAILED";
	}
	if (job->limit) {
		result->limited++;
		return "limited";
	}
	if (job->without_data) {
		result->untried++;
		return "no data";
	}
	result->passed++;
	return "ok";
}

/* Returns whether the following checks can be tried. */
static bool run_check(struct job *job, const struct check *check, struct result *result)
{
	const char *verdict;
	bool passed, failed;

	job->detail[0] = '\0';
	job->limit = NULL;
	job->without_data = false;
	passed = check->run(job);
	verdict = count_verdict(job, passed, result);
	failed = !strcmp(verdict, "FAILED");
	if (failed)
		style_print(stdout, STYLE_PROBLEM, verdict);
	printf("%-*s %-4s %s\n", failed ? 3 : 9, failed ? "" : verdict, check->section,
	       check->what);
	if (!passed || job->limit)
		printf("%14s %s\n", "", passed ? job->limit : job->detail);
	fflush(stdout);
	return passed || !check->essential;
}

static int run_checks(struct job *job)
{
	struct result result = { 0 };
	bool going = true;

	for (size_t i = 0; i < check_count; i++) {
		if (going) {
			going = run_check(job, &checks[i], &result);
			continue;
		}
		printf("%-9s %-4s %s\n", "not tried", checks[i].section, checks[i].what);
		result.untried++;
	}
	printf("\n%s%s%d passed, %d failed, %d not tried", job->found_device,
	       job->found_device[0] ? ": " : "", result.passed, result.failed, result.untried);
	if (result.limited)
		printf(", %d limited by the kernel", result.limited);
	putchar('\n');
	if (job->no_data_path)
		printf("no data path: the device takes messages and never ends them; all else was tried\n");
	if (job->no_device) {
		printf("there is no device to test; selftest --softhca does it on an emulated one\n");
		return EXIT_NO_DEVICE;
	}
	return result.failed || job->no_data_path ? EXIT_FAILED : EXIT_SUCCESS;
}

static int test(const char *device, const char *host, const char *port)
{
	struct job job = { .device = device, .remote_host = host, .remote_port = port };
	int status = make_domain_file(&job);

	if (status)
		return status;
	status = start_actors(&job);
	if (!status)
		status = run_checks(&job);
	for (enum who who = 0; who < ACTORS; who++)
		actor_kill(&job.actors[who]);
	return status;
}

/* [DEVICE [PORT [listen | connect HOST]]], as command.c gives them. */
static int execute(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[1] : "", *port = argc > 2 ? argv[2] : NULL;

	if (argc == 4)
		return actor_serve(port, device, LISTEN_SECONDS);
	return test(device, argc > 4 ? argv[4] : NULL, port);
}

int main(int argc, char **argv)
{
	return streams_main("xrc-compat-selftest", EXIT_IMPOSSIBLE, execute, argc, argv);
}
