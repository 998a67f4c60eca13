/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The checks of the contract, each a few steps that several processes carry out, and the report. */
#include "selftest.h"

#include <tools/text/command.h>
#include <tools/text/json.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>
#include <tools/text/streams.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXIT_FAILED 1
#define EXIT_NO_DEVICE 4	/* as of `xrc-compat check` */

#define CHECK(of, says) { .section = of, .what = says }
/* If a basic check fails, the checks that follow are not tried. */
#define BASIC_CHECK(of, says) { .section = of, .what = says, .is_basic = true }

const struct step steps[] = {
#define MESSAGE(from, to) { from, send_message, .peer = to }, { to, receive_message }
	BASIC_CHECK("1.1", "the eight functions are there, in IBVERBS_1.1"),
	{ CREATOR, find_symbols },

	BASIC_CHECK("-", "the device can be opened by several processes"),
	{ CREATOR, open_device },
	{ SURVIVOR, open_device }, { VICTIM, open_device }, { SENDER, open_device },
	{ VISITOR, open_device }, { TWO_WAY, open_device }, { TWO_WAY_PEER, open_device },

	BASIC_CHECK("5.1", "a domain is made and joined through a file, with the old errors"),
	{ CREATOR, open_domain, EAGAIN, .file = SHARED },
	{ CREATOR, open_domain, EBADF, .oflag = O_CREAT, .file = CLOSED },
	{ CREATOR, open_domain, .oflag = O_CREAT, .file = SHARED },
	{ SURVIVOR, open_domain, EINVAL, .oflag = O_CREAT | O_EXCL, .file = SHARED },
	{ SURVIVOR, open_domain, .oflag = O_CREAT, .file = SHARED },
	{ VICTIM, open_domain, .file = SHARED },
	{ SENDER, open_domain, .oflag = O_CREAT, .file = PRIVATE },

	BASIC_CHECK("5.3", "XRC SRQs of three processes have numbers of their own"),
	{ CREATOR, create_srq }, { SURVIVOR, create_srq }, { VICTIM, create_srq },

	BASIC_CHECK("5.4", "a receive QP is created by one process and connected by another"),
	{ CREATOR, create_rcv_qp },
	{ SENDER, create_xrc_qp },
	{ SURVIVOR, modify_rcv_qp, EINVAL, .no_such_qp = true, .peer = SENDER },
	{ SURVIVOR, modify_rcv_qp, .peer = SENDER },
	{ SENDER, connect_xrc_qp, .peer = CREATOR },

	CHECK("5.5", "a process that is not registered can query it"),
	{ VICTIM, query_rcv_qp, EINVAL, .no_such_qp = true },
	{ VICTIM, query_rcv_qp },

	BASIC_CHECK("5.6", "others register, more than once without harm"),
	{ SURVIVOR, register_qp, EINVAL, .no_such_qp = true },
	{ SURVIVOR, unregister_qp, EINVAL },
	{ SURVIVOR, register_qp }, { SURVIVOR, register_qp },
	{ VICTIM, register_qp }, { CREATOR, register_qp },

	BASIC_CHECK("5.3", "one QP delivers to the SRQs of all three, and completions name it"),
#define ROUND MESSAGE(SENDER, CREATOR), MESSAGE(SENDER, SURVIVOR), MESSAGE(SENDER, VICTIM)
	ROUND, ROUND, ROUND,

	CHECK("5.8", "every registered process gets the event, with its flag"),
	{ CREATOR, get_event }, { SURVIVOR, get_event }, { VICTIM, get_event },
	{ CREATOR, judge_events },

	CHECK("5.2", "a domain that is in use cannot be closed"),
	{ CREATOR, destroy_srq },
	{ CREATOR, close_domain, EBUSY },

	BASIC_CHECK("5.6", "the creator leaves first, the others go on receiving"),
	{ CREATOR, unregister_qp }, { CREATOR, unregister_qp, EINVAL },
	{ CREATOR, close_domain }, { CREATOR, close_device },
	MESSAGE(SENDER, SURVIVOR), MESSAGE(SENDER, VICTIM),

	CHECK("5.7", "a registered process is killed, the other goes on receiving"),
	{ VICTIM, die, GONE },
	MESSAGE(SENDER, SURVIVOR),

	CHECK("5.6", "the last one to unregister ends the QP, and messages fail"),
	{ SURVIVOR, unregister_qp },
	{ SURVIVOR, query_rcv_qp, EINVAL },
	{ SENDER, send_message, .status = IBV_WC_RETRY_EXC_ERR, .peer = SURVIVOR },

	CHECK("5.7", "in the end everything can be closed, and nothing is left"),
	{ SURVIVOR, close_domain, EBUSY }, { SURVIVOR, destroy_srq },
	{ SURVIVOR, close_domain }, { SURVIVOR, close_device },
	{ SENDER, destroy_xrc_qp }, { SENDER, close_domain }, { SENDER, close_device },
	{ VISITOR, open_domain, EAGAIN, .file = SHARED },

#define OPEN(role) \
	{ role, open_domain, .oflag = O_CREAT, .file = PRIVATE }, \
	{ role, create_srq }, { role, create_xrc_qp }
	CHECK("5.3", "an XRC QP that sends and receives (two-way), in both directions"),
	OPEN(TWO_WAY), OPEN(TWO_WAY_PEER),
	{ TWO_WAY, connect_xrc_qp, .peer = TWO_WAY_PEER },
	{ TWO_WAY_PEER, connect_xrc_qp, .peer = TWO_WAY },
	MESSAGE(TWO_WAY, TWO_WAY_PEER), MESSAGE(TWO_WAY_PEER, TWO_WAY),
	MESSAGE(TWO_WAY, TWO_WAY_PEER),

#define CLOSE(role) \
	{ role, close_domain, EBUSY }, { role, destroy_xrc_qp }, { role, destroy_srq }, \
	{ role, close_domain }, { role, close_device }
	CHECK("5.2", "two-way QPs keep their domain busy, and end"),
	CLOSE(TWO_WAY), CLOSE(TWO_WAY_PEER),
};

const uint32_t step_count = sizeof(steps) / sizeof(steps[0]);

static struct actor actors[ACTORS];

static const char *const actor_names[ACTORS] = {
	"creator", "survivor", "victim", "sender", "visitor", "two-way", "two-way peer",
};

static struct json json;	/* writes nothing if the report is text */
static int passed, failed, untried, limited;

static const struct verdict {
	int result;		/* of a check */
	const char *word;
	int *count;
} verdicts[] = {
	{ 0, "ok", &passed },
	{ LIMITED, "limited", &limited },
	{ NO_DEVICE, "no device", &untried },
	{ UNTRIED, "not tried", &untried },
	{ WRONG, "FAILED", &failed },	/* or any other result */
};

/* Why the check did not pass, or "". */
static const char *detail = "";

/* The text for a result of actor_start() or of a step. */
static const char *actor_error(int err)
{
	if (err == SILENT)
		return "no answer in time";
	if (err == GONE)
		return "the process ended";
	if (err == GREETED)
		return "the shell printed something before the answer";
	return err ? strerror(err) : "success";
}

static void explain(const struct step *step)
{
	const char *name = actor_names[step->role];

	if (task.result == ENOSYS && step->run == modify_rcv_qp) /* of another process's QP */
		detail = "this kernel does not share receive QPs between processes of this device's driver; Linux 5.11 "
			 "and later do";
	else if (task.result == LIMITED)
		detail = copy_string(task.text);
	else if (task.result >= SILENT)
		detail = format_string("%s: %s", name, task.result < WRONG
							       ? actor_error(task.result)
							       : task.text);
	else
		detail = format_string("%s: %s: %s; wanted: %s", name,
				       task.result ? task.text : "a call that should fail",
				       actor_error(task.result), actor_error(step->wanted));
}

/* Carries out the steps from @first on, up to the end of the check or to one that fails. */
static int carry_out(uint32_t first)
{
	for (uint32_t i = first; i < step_count && steps[i].run; i++) {
		task.step = i;
		actor_ask(&actors[steps[i].role]);
		if (task.result != steps[i].wanted) {
			explain(&steps[i]);
			return task.result > WRONG ? task.result : WRONG;
		}
	}
	return 0;
}

static void print_row(const struct step *check, const struct verdict *verdict)
{
	print_styled(verdict->result == WRONG ? STYLE_PROBLEM : "", verdict->word);
	print_text(stdout, "%*s %-4s %s\n", 9 - (int)strlen(verdict->word), "", check->section,
		   check->what);
	if (detail[0])
		print_text(stdout, "%14s %s\n", "", detail);
	fflush(stdout);
}

static void report(const struct step *check, int result)
{
	const struct verdict *verdict = verdicts;

	while (verdict->result != result && verdict->result != WRONG)
		verdict++;
	++*verdict->count;
	json_open(&json, NULL, '{');
	json_string(&json, "section", check->section);
	json_string(&json, "check", check->what);
	json_string(&json, "verdict", verdict->word);
	json_string(&json, "detail", detail);
	json_close(&json, '}');
	/* Rows of what was not tried would only hide the reason. */
	if (!json.out && result != UNTRIED)
		print_row(check, verdict);
	detail = "";
}

static void print_counts(int fault)
{
	print_text(stdout, "\n%s%s%d passed, %d failed, %d not tried", task.device,
		   task.device[0] ? ": " : "", passed, failed, untried);
	if (limited)
		print_text(stdout, ", %d limited by the kernel", limited);
	putchar('\n');
	if (fault == NO_DEVICE && !actor_device[0])
		puts("there is no device to test: xrc-compat doctor says why; selftest --softhca tests an emulated one");
}

static int run_checks(void)
{
	int fault = 0;	/* the result of a basic check that did not pass */

	json_open(&json, NULL, '{');
	json_open(&json, "checks", '[');
	for (uint32_t i = 0; i < step_count; i++) {
		int result;

		if (steps[i].run)
			continue;
		result = fault ? UNTRIED : carry_out(i + 1);
		report(&steps[i], result);
		if (!fault && steps[i].is_basic)
			fault = result;
	}
	json_close(&json, ']');
	json_string(&json, "device", task.device);
	json_number(&json, "passed", passed);
	json_number(&json, "failed", failed);
	json_number(&json, "not_tried", untried);
	json_number(&json, "limited", limited);
	json_close(&json, '}');
	if (!json.out)
		print_counts(fault);
	return fault == NO_DEVICE ? EXIT_NO_DEVICE : failed ? EXIT_FAILED : EXIT_SUCCESS;
}

/* ---- starting ---- */

/* [DEVICE actor|text|json [COMMAND]], as command.c gives them. */
static int execute(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "text", *command = argc > 3 ? argv[3] : NULL;
	int status;

	actor_device = argc > 1 ? argv[1] : "";
	if (!strcmp(mode, "actor"))
		actor_serve(STDIN_FILENO, STDOUT_FILENO);
	json.out = strcmp(mode, "json") ? NULL : stdout;
	actor_domain = memfd_create("xrc-selftest", MFD_CLOEXEC);
	if (actor_domain < 0)
		return refuse(TOOL_EXIT_REFUSED, "memfd_create: %s", strerror(errno));
	for (enum role role = 0; role < ACTORS; role++) {
		/* The command starts the actors that may be on another host. */
		bool elsewhere = role == SENDER || role == TWO_WAY_PEER;
		int fault = actor_start(&actors[role], elsewhere ? command : NULL);

		if (fault)
			return refuse(TOOL_EXIT_REFUSED, "%s: %s", actor_names[role],
				      actor_error(fault));
	}
	status = run_checks();
	for (enum role role = 0; role < ACTORS; role++)
		actor_end(&actors[role]);
	return status;
}

int main(int argc, char **argv)
{
	return streams_main("xrc-compat-selftest", execute, argc, argv);
}
