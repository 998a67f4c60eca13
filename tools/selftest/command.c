/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat selftest`: the whole legacy exchange on a device of this machine. The exchange is in
 * a program of its own, compiled and linked as old programs were; here it is only started, as
 * `xrc-compat run` starts any other.
 */
#include "tools/common/common.h"
#include "tools/program/paths.h"

static const char *device = "", *remote;
static bool is_actor;
static struct launch launch;

static int run_selftest(char **words)
{
	struct string_list places = { 0 };
	const char *path = paths_helper("selftest/xrc-compat-selftest", &places);
	const char *role = is_actor ? "actor" : remote ? "remote" : NULL;
	const char *program[] = { path, device, role, is_actor ? NULL : remote, NULL };

	(void)words;
	if (!path)
		return refuse_missing("xrc-compat-selftest", &places);
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
	{ 0 },
};

const struct command command_selftest = {
	"selftest", options, "",
	"carry out the whole legacy exchange on a device, and say what works",
	"xrc-compat selftest --device mlx5_0", run_selftest,
};
