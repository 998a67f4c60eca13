/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl`. */
#include "cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CAPTURE_TRIES 1000 /* 10 milliseconds apart, until the file of a capture is complete */

int cli_ctl(int argc, char **argv)
{
	int err;

	if (argc < 2)
		return cli_refuse_usage(argv[0], "no command given");
	if (!strcmp(argv[argc - 1], "--help"))
		return CLI_HELP;
	if (argc > 2 && !strcmp(argv[1], "capture") && strcmp(argv[2], "--stop"))
		return cli_capture(argc - 1, argv + 1);
	err = cli_ask(argc - 1, argv + 1);
	/* A capture has been stopped, and its file is being completed. */
	for (int i = 0; err == -EINPROGRESS && i < CAPTURE_TRIES; i++) {
		usleep(10000);
		err = cli_ask(argc - 1, argv + 1);
	}
	return err == -EINPROGRESS ? cli_refuse(CLI_FAILED, "the file is still being written")
				   : cli_report(err);
}
