/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* How a verb that is not passed on begins and ends. */
#include <base/log.h>
#include <base/settings.h>
#include <base/summary.h>
#include <elf/loader.h>
#include <modern/modern.h>
#include <modern/tracer.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

static void print_banner(void)
{
	char *real = settings.verbose ? realpath(modern_library_path, NULL) : NULL;
	const char *path = real ? real : modern_library_path;
	const char *version = strstr(path, ".so.");

	log_line("version %s, libibverbs %s (%s)", XRC_COMPAT_VERSION, version ? version + 4 : "?",
		 path);
	free(real);
}

atomic_bool shim_begun;

/*
 * Signals are not blocked: the loader has its lock anyway, and the program has no signal handler
 * yet, unless a plugin brought this library.
 */
__attribute__((constructor)) static void start_process(void)
{
	if (!modern_find())
		program_search();
}

__attribute__((destructor)) static void end_process(void)
{
	summary_print();
}

static void begin(void)
{
	modern_start_tracer();
	print_banner();
	program_set_kind();
	atomic_store_explicit(&shim_begun, true, memory_order_release);
}

/* The first verb. If no libibverbs was loaded at the start of the process, this asks the loader. */
static __attribute__((noinline, cold)) int find_libibverbs(void)
{
	static pthread_once_t settings_once = PTHREAD_ONCE_INIT, once = PTHREAD_ONCE_INIT;
	static bool warned;
	sigset_t before;
	int err;

	loader_hold_signals(&before);
	pthread_once(&settings_once, settings_read);
	err = modern_load();
	if (!err)
		pthread_once(&once, begin);
	else
		log_once(warned,
			 "no usable libibverbs.so.1: %s not found; install the distribution's libibverbs",
			 modern_missing);
	loader_release_signals(&before);
	return err;
}

/* A thread must not be cancelled inside the loader. */
__attribute__((cold)) bool shim_begin(void)
{
	int saved_errno = errno, err;
	struct cancel_hold hold;

	cancel_hold(&hold);
	err = find_libibverbs();
	cancel_release(&hold);
	errno = saved_errno;
	return !err;
}

int shim_enter(struct entry *entry, enum verb verb, const uintptr_t *arguments)
{
	const struct tracer *tracer;
	int err;

	entry->verb = verb;
	entry->saved_errno = errno;
	cancel_hold(&entry->hold);
	err = atomic_load_explicit(&shim_begun, memory_order_acquire) ? 0 : find_libibverbs();
	tracer = err ? NULL : modern_tracer;
	entry->traced = unlikely(tracer) ? tracer->enter(verb, arguments) : NULL;
	errno = entry->saved_errno;
	return err;
}

/* errmap_return() has set errno, which the tracer may change. */
static void leave(const struct entry *entry, int err, int64_t result)
{
	int error = errno;

	if (unlikely(entry->traced))
		modern_tracer->leave(entry->traced, result, err ? error : 0);
	cancel_release(&entry->hold);
	errno = error;
}

int shim_leave(const struct entry *entry, int err)
{
	int result = errmap_return(entry->verb, err, entry->saved_errno);

	leave(entry, err, result);
	return result;
}

void *shim_leave_made(const struct entry *entry, int err, void *made)
{
	errmap_return(entry->verb, err, entry->saved_errno);
	leave(entry, err, (intptr_t)made);
	return made;
}

void shim_pass(const struct entry *entry)
{
	if (unlikely(entry->traced))
		modern_tracer->drop(entry->traced);
	cancel_release(&entry->hold);
	errno = entry->saved_errno;
}
