/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Runs a fuzz target on random inputs. The seed alone determines an input; the next input has the
 * next seed.
 *
 * XRC_COMPAT_FUZZ_RUNS: how many inputs (default FUZZ_RUNS). XRC_COMPAT_FUZZ_SEED: the first seed
 * (default 1), or "fresh" for one from the clock.
 */

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef FUZZ_RUNS
#define FUZZ_RUNS 1500
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char failure[512];

static void report(int signal_number)
{
	if (write(2, failure, strlen(failure)) < 0)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static uint32_t first_seed(void)
{
	const char *text = getenv("XRC_COMPAT_FUZZ_SEED");

	if (!text)
		return 1;
	return strcmp(text, "fresh") ? (uint32_t)strtoul(text, NULL, 10) : (uint32_t)time(NULL);
}

int main(int argc, char **argv)
{
	const char *runs_text = getenv("XRC_COMPAT_FUZZ_RUNS");
	unsigned long runs = runs_text ? strtoul(runs_text, NULL, 10) : FUZZ_RUNS;
	uint32_t seed = first_seed();
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGALRM, SIGFPE, SIGILL };
	uint8_t data[512];

	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], report);
	for (unsigned long run = 0; run < runs; run++, seed++) {
		uint32_t random = seed;
		size_t size;

		for (size_t i = 0; i < sizeof(data); i++) {
			random = random * 1664525u + 1013904223u;
			data[i] = (uint8_t)(random >> 24);
		}
		/*
		 * 3 bytes and the changes of fuzz_regtab.c. Every other input has at most three
		 * changes: a table with more of them is refused early.
		 */
		size = 3 + 7 * ((random >> 8) % (seed % 2 ? 64 : 4));
		snprintf(failure, sizeof(failure),
			 "failed or hung; to repeat it: XRC_COMPAT_FUZZ_SEED=%u XRC_COMPAT_FUZZ_RUNS=1 %s\n",
			 seed, argc ? argv[0] : "fuzz_regtab");
		alarm(60);
		LLVMFuzzerTestOneInput(data, size);
	}
	printf("%lu inputs, last seed %u\n", runs, seed - 1);
	return 0;
}
