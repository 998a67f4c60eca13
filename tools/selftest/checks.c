/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The self-test: an old program that uses the whole legacy API and says which lines of the contract
 * hold. In each check several processes carry out a few steps.
 */
#include "selftest.h"
#include "terminal/streams.h"
#include "terminal/style.h"
#include "tools/common/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_FAILED 1
#define EXIT_NO_DEVICE 4	/* as of `xrc-compat check` */
#define EXIT_IMPOSSIBLE 125	/* nothing could be tested */

#define STEPS(...) (const struct step[]){ __VA_ARGS__, { .run = NULL } }
#define PASS(from, to) { from, send_message, 0, 0, to }, { to, receive_message, 0, 0, 0 }
#define TO_ALL PASS(SENDER, CREATOR), PASS(SENDER, SURVIVOR), PASS(SENDER, VICTIM)

const struct check checks[] = {
	{ "1.1", "the eight functions are there, in IBVERBS_1.1", true,
	  STEPS({ CREATOR, find_symbols, 0, 0, 0 }) },
	{ "-", "the device can be opened by several processes", true,
	  STEPS({ CREATOR, open_device, 0, 0, 0 },
		{ SURVIVOR, open_device, 0, 0, 0 },
		{ VICTIM, open_device, 0, 0, 0 },
		{ SENDER, open_device, 0, 0, 0 },
		{ VISITOR, open_device, 0, 0, 0 },
		{ TWO_WAY, open_device, 0, 0, 0 },
		{ TWO_WAY_PEER, open_device, 0, 0, 0 }) },
	{ "5.1", "a domain is made and joined through a file, with the old errors", true,
	  STEPS({ CREATOR, open_domain, EAGAIN, 0, SHARED },
		{ CREATOR, open_domain, EBADF, O_CREAT, CLOSED },
		{ CREATOR, open_domain, 0, O_CREAT, SHARED },
		{ SURVIVOR, open_domain, EINVAL, O_CREAT | O_EXCL, SHARED },
		{ SURVIVOR, open_domain, 0, O_CREAT, SHARED },
		{ VICTIM, open_domain, 0, 0, SHARED },
		{ SENDER, open_domain, 0, O_CREAT, PRIVATE }) },
	{ "5.3", "XRC SRQs of three processes have numbers of their own", true,
	  STEPS({ CREATOR, create_srq, 0, 0, 0 },
		{ SURVIVOR, create_srq, 0, 0, 0 },
		{ VICTIM, create_srq, 0, 0, 0 }) },
	{ "5.4", "a receive QP is created by one process and connected by another", true,
	  STEPS({ CREATOR, create_rcv_qp, 0, 0, 0 },
		{ SENDER, create_xrc_qp, 0, 0, 0 },
		{ SURVIVOR, modify_rcv_qp, EINVAL, NO_SUCH_QP, SENDER },
		{ SURVIVOR, modify_rcv_qp, 0, SHARED_QP, SENDER },
		{ SENDER, connect_xrc_qp, 0, 0, CREATOR }) },
	{ "5.5", "a process that is not registered can query it", false,
	  STEPS({ VICTIM, query_rcv_qp, EINVAL, NO_SUCH_QP, 0 },
		{ VICTIM, query_rcv_qp, 0, SHARED_QP, 0 }) },
	{ "5.6", "others register, more than once without harm", true,
	  STEPS({ SURVIVOR, register_qp, EINVAL, NO_SUCH_QP, 0 },
		{ SURVIVOR, unregister_qp, EINVAL, SHARED_QP, 0 },
		{ SURVIVOR, register_qp, 0, SHARED_QP, 0 },
		{ SURVIVOR, register_qp, 0, SHARED_QP, 0 },
		{ VICTIM, register_qp, 0, SHARED_QP, 0 },
		{ CREATOR, register_qp, 0, SHARED_QP, 0 }) },
	{ "5.3", "one QP delivers to the SRQs of all three, and completions name it", true,
	  STEPS(TO_ALL, TO_ALL, TO_ALL) },
	{ "5.8", "every registered process gets the event, with its flag", false,
	  STEPS({ CREATOR, get_event, 0, 0, 0 },
		{ SURVIVOR, get_event, 0, 0, 0 },
		{ VICTIM, get_event, 0, 0, 0 },
		{ CREATOR, judge_events, 0, 0, 0 }) },
	{ "5.2", "a domain that is in use cannot be closed", false,
	  STEPS({ CREATOR, close_domain, EBUSY, 0, 0 },
		{ CREATOR, destroy_srq, 0, 0, 0 },
		{ CREATOR, close_domain, EBUSY, 0, 0 }) },
	{ "5.6", "the creator leaves first, the others go on receiving", true,
	  STEPS({ CREATOR, unregister_qp, 0, SHARED_QP, 0 },
		{ CREATOR, unregister_qp, EINVAL, SHARED_QP, 0 },
		{ CREATOR, close_domain, 0, 0, 0 },
		{ CREATOR, close_device, 0, 0, 0 },
		PASS(SENDER, SURVIVOR), PASS(SENDER, VICTIM)) },
	{ "5.7", "a registered process is killed, the other goes on receiving", false,
	  STEPS({ VICTIM, die, GONE, 0, 0 }, PASS(SENDER, SURVIVOR)) },
	{ "5.6", "the last one to unregister ends the QP, and messages fail", false,
	  STEPS({ SURVIVOR, unregister_qp, 0, SHARED_QP, 0 },
		{ SURVIVOR, query_rcv_qp, EINVAL, SHARED_QP, 0 },
		{ SENDER, send_message, 0, IBV_WC_RETRY_EXC_ERR, SURVIVOR }) },
	{ "5.7", "in the end everything can be closed, and nothing is left", false,
	  STEPS({ SURVIVOR, destroy_srq, 0, 0, 0 },
		{ SURVIVOR, close_domain, 0, 0, 0 },
		{ SURVIVOR, close_device, 0, 0, 0 },
		{ SENDER, destroy_xrc_qp, 0, 0, 0 },
		{ SENDER, close_domain, 0, 0, 0 },
		{ SENDER, close_device, 0, 0, 0 },
		{ VISITOR, open_domain, EAGAIN, 0, SHARED }) },
#define TWO_WAY_QP(who) { who, open_domain, 0, O_CREAT, PRIVATE }, { who, create_srq, 0, 0, 0 }, \
			{ who, create_xrc_qp, 0, 0, 0 }
	{ "5.3", "an XRC QP that sends and receives (two-way), in both directions", false,
	  STEPS(TWO_WAY_QP(TWO_WAY), TWO_WAY_QP(TWO_WAY_PEER),
		{ TWO_WAY, connect_xrc_qp, 0, 0, TWO_WAY_PEER },
		{ TWO_WAY_PEER, connect_xrc_qp, 0, 0, TWO_WAY },
		PASS(TWO_WAY, TWO_WAY_PEER), PASS(TWO_WAY_PEER, TWO_WAY),
		PASS(TWO_WAY, TWO_WAY_PEER)) },
#define END(who) { who, close_domain, EBUSY, 0, 0 }, { who, destroy_xrc_qp, 0, 0, 0 }, \
		 { who, destroy_srq, 0, 0, 0 }, { who, close_domain, 0, 0, 0 }, \
		 { who, close_device, 0, 0, 0 }
	{ "5.2", "two-way QPs keep their domain busy, and end", false,
	  STEPS(END(TWO_WAY), END(TWO_WAY_PEER)) },
};

const size_t check_count = sizeof(checks) / sizeof(checks[0]);

static struct actor actors[ACTORS];

static const char *const actor_names[ACTORS] = {
	"creator", "survivor", "victim", "sender", "visitor", "two-way", "two-way peer",
};

/* No other fault gives ENOSYS. */
#define NOT_SHARED \
	"this kernel does not share receive QPs between processes of this device's driver; Linux 5.11 and later do"

static struct {
	int passed, failed, untried, limited;
} sums;

static void explain(const struct step *step, char *detail, size_t size)
{
	const char *name = actor_names[step->who];

	if (now.result == ENOSYS)
		snprintf(detail, size, NOT_SHARED);
	else if (now.result == LIMITED)
		snprintf(detail, size, "%s", now.text);
	else if (now.result >= WRONG)
		snprintf(detail, size, "%s: %s", name, now.text);
	else
		snprintf(detail, size, "%s: %s: %s; wanted: %s", name,
			 now.result ? now.text : "a call that should fail",
			 actor_error(now.result), actor_error(step->wanted));
}

/* 0, NO_DATA if that was the case in some steps, or why the check ended, with @detail. */
static int walk(uint32_t check, char *detail, size_t size)
{
	const struct step *step = checks[check].steps;
	int result = 0;

	for (uint32_t i = 0; step->run; i++, step++) {
		now.check = check;
		now.step = i;
		actor_ask(&actors[step->who]);
		if (now.result == NO_DATA)
			result = NO_DATA;
		if (now.result == NO_DATA || now.result == step->wanted)
			continue;
		explain(step, detail, size);
		return now.result > WRONG ? now.result : WRONG;
	}
	return result;
}

static const char *count(int result)
{
	int *sum = result == NO_DATA || result == NO_DEVICE ? &sums.untried
		   : result == LIMITED			    ? &sums.limited
		   : result				    ? &sums.failed
							    : &sums.passed;

	++*sum;
	return result == NO_DATA     ? "no data"
	       : result == NO_DEVICE ? "no device"
	       : result == LIMITED   ? "limited"
	       : result		     ? "FAILED"
				     : "ok";
}

static int run_check(uint32_t number)
{
	const struct check *check = &checks[number];
	char detail[640] = "";
	int result = walk(number, detail, sizeof(detail));
	const char *verdict = count(result);

	if (result == WRONG)
		style_print(stdout, STYLE_PROBLEM, verdict);
	printf("%-*s %-4s %s\n", result == WRONG ? 3 : 9, result == WRONG ? "" : verdict,
	       check->section, check->what);
	if (detail[0])
		printf("%14s %s\n", "", detail);
	fflush(stdout);
	return check->essential ? result : 0;
}

static int run_checks(void)
{
	int end = 0;	/* why nothing more can be tried */

	for (uint32_t i = 0; i < check_count; i++) {
		if (!end || end == NO_DATA) {
			end = run_check(i);
			continue;
		}
		printf("%-9s %-4s %s\n", "not tried", checks[i].section, checks[i].what);
		sums.untried++;
	}
	printf("\n%s%s%d passed, %d failed, %d not tried", now.device, now.device[0] ? ": " : "",
	       sums.passed, sums.failed, sums.untried);
	if (sums.limited)
		printf(", %d limited by the kernel", sums.limited);
	putchar('\n');
	if (now.no_data_path)
		printf("no data path: the device takes messages and never ends them; all else was tried\n");
	if (end == NO_DEVICE) {
		printf("there is no device to test; selftest --softhca does it on an emulated one\n");
		return EXIT_NO_DEVICE;
	}
	return sums.failed || now.no_data_path ? EXIT_FAILED : EXIT_SUCCESS;
}

/* ---- starting ---- */

static int make_domain_file(void)
{
	int fd = temporary_make("xrc-selftest", actor_domain, sizeof(actor_domain), mkstemp);

	if (fd < 0) {
		fprintf(stderr, "xrc-compat-selftest: %s: %s\n", actor_domain, strerror(errno));
		return EXIT_IMPOSSIBLE;
	}
	/*
	 * Unlink the file at once, so that it never stays behind. The actors open it by the
	 * inherited descriptor.
	 */
	unlink(actor_domain);
	snprintf(actor_domain, sizeof(actor_domain), "/proc/self/fd/%d", fd);
	return 0;
}

/* host: of the actors that may be on another one; NULL: all are here. */
static int start_actors(const char *host, const char *port)
{
	for (enum who who = 0; who < ACTORS; who++) {
		bool remote = host && (who == SENDER || who == TWO_WAY_PEER);
		int err = remote ? actor_connect(&actors[who], host, port)
				 : actor_start(&actors[who]);

		if (!err)
			continue;
		fprintf(stderr, "xrc-compat-selftest: %s%s%s: %s\n", actor_names[who],
			remote ? " on the other host, " : "", remote ? host : "",
			actor_error(err));
		return EXIT_IMPOSSIBLE;
	}
	return 0;
}

/* [DEVICE [PORT [listen | connect HOST]]], as command.c gives them. */
static int execute(int argc, char **argv)
{
	const char *port = argc > 2 ? argv[2] : NULL;
	int status;

	actor_device = argc > 1 ? argv[1] : "";
	if (argc == 4)
		return actor_serve(port);
	status = make_domain_file();
	if (!status)
		status = start_actors(argc > 4 ? argv[4] : NULL, port);
	if (!status)
		status = run_checks();
	for (enum who who = 0; who < ACTORS; who++)
		actor_end(&actors[who]);
	return status;
}

int main(int argc, char **argv)
{
	return streams_main("xrc-compat-selftest", EXIT_IMPOSSIBLE, execute, argc, argv);
}
