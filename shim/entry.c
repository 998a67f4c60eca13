/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The way into every exported function and out of it. */

#include <stdio.h>
#include <string.h>

#include <compat/fork.h>
#include <compat/log.h>
#include <modern/modern.h>

#include "shim.h"

static void banner(void)
{
	const char *path = modern_library_path();
	const char *version = strstr(path, ".so.");

	log_line("version %s, libibverbs %s (%s), doors: preload", XRC_COMPAT_VERSION, version ? version + 4 : "?", path);
}

static void tell(int err)
{
	static bool told, told_of_failure;

	if (err)
		log_once(told_of_failure, "no usable libibverbs.so.1: %s not found; install the distribution's libibverbs",
			 modern_missing());
	else if (!__atomic_load_n(&told, __ATOMIC_RELAXED) && !__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		banner();
}

int shim_enter(struct entry *entry, enum verb verb)
{
	int err;

	entry->verb = verb;
	entry->saved_errno = errno;
	cancel_hold(&entry->hold);
	fork_watch();
	err = modern_load();
	tell(err);
	errno = entry->saved_errno;
	return err;
}

int shim_leave(const struct entry *entry, int err)
{
	cancel_release(&entry->hold);
	return errmap_return(entry->verb, err, entry->saved_errno);
}

int shim_leave_with(const struct entry *entry, int result)
{
	int error = errno;

	cancel_release(&entry->hold);
	errno = error;
	return result;
}

void shim_pass(const struct entry *entry)
{
	cancel_release(&entry->hold);
	errno = entry->saved_errno;
}
