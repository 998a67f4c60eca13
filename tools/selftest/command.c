/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `xrc-compat selftest`: starts the old program of the self-test as `xrc-compat run` would. */
#include <tools/files/paths.h>
#include <tools/run/run.h>
#include <tools/text/command.h>
#include <tools/text/message.h>

static const char *device = "", *remote;
static bool is_actor, as_json;
static struct launch launch;

static int run_selftest(char **words)
{
	const char *path = paths_helper("selftest/xrc-compat-selftest");
	const char *role = is_actor ? "actor" : as_json ? "json" : "text";
	const char *program[] = { path, device, role, remote, NULL };

	(void)words;
	if (is_actor && (remote || as_json))
		return refuse(TOOL_EXIT_REFUSED,
			      "selftest: --actor goes neither with --json nor with --remote");
	if (!path)
		return refuse_missing("xrc-compat-selftest", "xrc-compat");
	launch.program = (char **)program;
	return launch_program(&launch);
}

static const struct option_row options[] = {
	LAUNCH_OPTIONS(launch),
	{ "--device", "NAME", "test this device; without it, the first one with XRC",
	  .text = &device },
	{ "--remote", "COMMAND",
	  "run one side of the test by this command, as 'ssh HOST xrc-compat selftest --actor'",
	  .text = &remote },
	{ "--actor", NULL, "be that side: obey another self-test on standard input and output",
	  .flag = &is_actor },
	{ "--json", NULL, "print JSON", .flag = &as_json },
	{ 0 },
};

const struct command command_selftest = {
	"selftest", options, "",
	"carry out the whole legacy exchange on a device, and say what works",
	"xrc-compat selftest --device mlx5_0", run_selftest,
};
