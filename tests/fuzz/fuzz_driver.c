/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Runs a fuzz target on random inputs, where the compiler has no fuzzer of its own: a bounded run for every test suite.
 *
 * XRC_COMPAT_FUZZ_RUNS: how many inputs (default 1500). XRC_COMPAT_FUZZ_SEED: to repeat a failure.
 */

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char failure[80];

static void report(int signal_number)
{
	if (write(2, failure, strlen(failure)) < 0)
		_exit(1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

int main(void)
{
	const char *runs_text = getenv("XRC_COMPAT_FUZZ_RUNS"), *seed_text = getenv("XRC_COMPAT_FUZZ_SEED");
	unsigned long runs = runs_text ? strtoul(runs_text, NULL, 10) : 1500;
	uint32_t seed = seed_text ? (uint32_t)strtoul(seed_text, NULL, 10) : (uint32_t)time(NULL);
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
		/* Few changes as often as many: many are refused at the first look. */
		size = 3 + 7 * ((random >> 8) % (run % 2 ? 64 : 4));
		snprintf(failure, sizeof(failure), "failed or hung with XRC_COMPAT_FUZZ_SEED=%u\n", seed);
		alarm(20);
		LLVMFuzzerTestOneInput(data, size);
	}
	printf("%lu inputs, last seed %u\n", runs, seed - 1);
	return 0;
}
