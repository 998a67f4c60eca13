/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Prints its pid, LD_PRELOAD and arguments; then exits with the status SHOW_START_EXIT, or kills
 * itself by SHOW_START_SIGNAL.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *preload = getenv("LD_PRELOAD");
	const char *status = getenv("SHOW_START_EXIT");
	const char *signal_number = getenv("SHOW_START_SIGNAL");

	printf("pid=%d\npreload=%s\n", (int)getpid(), preload ? preload : "(unset)");
	for (int i = 0; i < argc; i++)
		printf("argv=%s\n", argv[i]);
	fflush(stdout);
	if (signal_number)
		raise(atoi(signal_number));
	return status ? atoi(status) : 0;
}
