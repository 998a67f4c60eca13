/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Has the emulated adapter raise events and refuse commands. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <harness/emulated.h>
#include "side.h"
#include <harness/row.h>

static void run_softhca(const char *const words[])
{
	const char *softhca = getenv("SOFTHCA_TEST_COMMAND");
	const char *directory = getenv("SOFTHCA_DIR");
	const char *options = getenv("ASAN_OPTIONS");
	char home[256], sanitizer[256];
	/*
	 * softhca runs without this program's preloads. A sanitizer in softhca still needs its
	 * options.
	 */
	char *const environment[] = { home, sanitizer, NULL };
	pid_t pid;

	must(softhca && directory);
	snprintf(home, sizeof(home), "SOFTHCA_DIR=%s", directory);
	snprintf(sanitizer, sizeof(sanitizer), "ASAN_OPTIONS=%s", options ? options : "");
	fflush(stdout);
	pid = vfork();
	if (!pid) {
		execve(softhca, (char *const *)words, environment);
		_exit(127);
	}
	must_end(pid, 0);
}

void softhca_ctl(const char *what, int device, ...)
{
	struct emulated_name name = emulated_name(device);
	const char *words[10] = { "softhca", "ctl", what, name.text };
	va_list args;

	va_start(args, device);
	for (int i = 4; i < 9 && (words[i] = va_arg(args, const char *)); i++)
		;
	va_end(args);
	run_softhca(words);
}

void inject_event(int device, const char *event, uint32_t number)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", number);
	softhca_ctl("event", device, event, digits, NULL);
}

uint32_t hidden_target_number(uint32_t qp_num)
{
	/* The emulated adapter numbers the target right after its initiator. */
	return (qp_num + 1) | emulated_target_tag();
}
