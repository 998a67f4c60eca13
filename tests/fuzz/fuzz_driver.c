/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Runs a fuzz target on random inputs. The seed alone determines an input; the next input has the
 * next seed. When a process changes the table meanwhile (fuzz_regtab.c) depends on the scheduler,
 * so not every failure of such an input repeats.
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

#include "fuzz.h"

#ifndef FUZZ_RUNS
#define FUZZ_RUNS 1500
#endif

#define LONGEST	 512
#define SHORT	 24

const char *__asan_default_options(void);

static uint8_t input[LONGEST];
static char failure[512];

/* The address sanitizer keeps its handlers, and ends by SIGABRT, so that report() runs. */
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "abort_on_error=1:handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2";
}

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
	unsigned long seed;
	char *end;

	if (!text)
		return 1;
	if (!strcmp(text, "fresh"))
		return (uint32_t)time(NULL);
	seed = strtoul(text, &end, 10);
	if (end == text || *end) {
		fprintf(stderr, "XRC_COMPAT_FUZZ_SEED=%s: not a number, and not fresh\n", text);
		exit(2);
	}
	return (uint32_t)seed;
}

/* The mixing matters: a plain generator gives neighbouring seeds nearly the same first byte. */
static uint32_t next_random(uint32_t *state)
{
	uint32_t random = *state += 0x9e3779b9u;

	random = (random ^ random >> 16) * 0x85ebca6bu;
	random = (random ^ random >> 13) * 0xc2b2ae35u;
	return random ^ random >> 16;
}

/* Returns the size. Every other input is short: a target refuses most long ones early. */
static size_t make_input(uint32_t seed, uint8_t data[LONGEST])
{
	uint32_t state = seed;
	size_t size = next_random(&state) % (seed % 2 ? LONGEST + 1 : SHORT + 1);

	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)next_random(&state);
	return size;
}

static void watch_for_failures(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGALRM, SIGFPE, SIGILL };

	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], report);
}

int main(int argc, char **argv)
{
	const char *runs_text = getenv("XRC_COMPAT_FUZZ_RUNS");
	unsigned long runs = runs_text ? strtoul(runs_text, NULL, 10) : FUZZ_RUNS;
	uint32_t seed = first_seed();

	if (!runs) {
		fprintf(stderr, "fuzz: XRC_COMPAT_FUZZ_RUNS is no number above 0\n");
		return 2;
	}
	watch_for_failures();
	for (unsigned long run = 0; run < runs; run++, seed++) {
		size_t size = make_input(seed, input);

		snprintf(failure, sizeof(failure),
			 "failed or hung; to repeat it: XRC_COMPAT_FUZZ_SEED=%u XRC_COMPAT_FUZZ_RUNS=1 %s\n",
			 seed, argc ? argv[0] : "the fuzzer");
		alarm(60);
		LLVMFuzzerTestOneInput(input, size);
	}
	printf("%lu inputs, last seed %u\n", runs, seed - 1);
	return 0;
}
