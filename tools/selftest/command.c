/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * `xrc-compat selftest`: the whole legacy exchange on a device of this machine. The exchange is in
 * a program of its own, compiled and linked as old programs were; here it is only started, as
 * `xrc-compat run` starts any other.
 */
#include "tools/common/common.h"
#include "tools/program/paths.h"

static const char *device = "", *port = "18515", *host;
static bool listens;
static struct launch launch;

static int run_selftest(char **words)
{
	struct string_list places = { 0 };
	const char *path = paths_helper("selftest/xrc-compat-selftest", &places);
	const char *role = listens ? "listen" : host ? "connect" : NULL;
	const char *program[] = { path, device, port, role, host, NULL };

	(void)words;
	if (!path)
		return refuse_missing("xrc-compat-selftest", &places);
	if (listens && host) {
		refuse(0, "selftest: --listen and --connect exclude each other");
		return advise_usage(&command_selftest);
	}
	launch.program = (char **)program;
	return launch_program(&launch);
}

static const struct option_row options[] = {
	LAUNCH_OPTIONS(launch),
	{ "--device", "NAME", "test this device; without it, the first one with XRC",
	  .text = &device },
	{ "--listen", NULL,
	  "be the second host of a test between two hosts: wait for --connect", .flag = &listens },
	{ "--connect", "HOST", "run one side of the test on this host, where selftest --listen runs",
	  .text = &host },
	{ "--port", "PORT", "the TCP port of both, 18515 if not given", .text = &port },
	{ 0 },
};

const struct command command_selftest = {
	"selftest", options, "",
	"carry out the whole legacy exchange on a device, and say what works",
	"xrc-compat selftest --device mlx5_0", run_selftest,
};
