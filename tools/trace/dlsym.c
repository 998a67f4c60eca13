/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For programs that dlopen libibverbs and look its functions up (MVAPICH2 2.3, closed MPIs): where the shim answers with
 * a function of its own, they get the one in front of it. Everything else goes on by a tail call, because dlsym takes
 * its caller's return address to know whose RTLD_NEXT is meant.
 */
#include "internal.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <export.h>

#ifdef __clang__
#define TAIL_CALL __attribute__((musttail))
#define TAIL_CALLER
#else
#define TAIL_CALL
#define TAIL_CALLER __attribute__((optimize("O2"), no_sanitize("address", "undefined", "thread")))
#endif

#define NODE "IBVERBS_1.1"

typedef void *(*dlsym_fn)(void *handle, const char *name);

/* Only their addresses are wanted here. */
#define TRACED(X) X(ibv_open_xrc_domain) X(ibv_close_xrc_domain) X(ibv_create_xrc_srq) X(ibv_create_xrc_rcv_qp) \
	X(ibv_modify_xrc_rcv_qp) X(ibv_query_xrc_rcv_qp) X(ibv_reg_xrc_rcv_qp) X(ibv_unreg_xrc_rcv_qp) X(ibv_create_qp)
#define X(symbol) extern void shim_##symbol(void);
TRACED(X)
#undef X

static const struct {
	const char *name;
	void *function;
} traced[] = {
#define X(symbol) { #symbol, (void *)shim_##symbol },
	TRACED(X)
#undef X
};

/* The shim's, which knows what to answer for libibverbs. Versions: today's, then that of libc before 2.34. */
static __attribute__((noinline)) dlsym_fn next_dlsym(void)
{
	static void *_Atomic cache;
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.0" };
	void *found = atomic_load_explicit(&cache, memory_order_relaxed);

	for (size_t i = 0; !found && i < sizeof(versions) / sizeof(versions[0]); i++)
		found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	atomic_store_explicit(&cache, found, memory_order_relaxed);
	return (dlsym_fn)found;
}

static __attribute__((noinline)) void *find_traced(void *handle, const char *name, dlsym_fn next)
{
	void *found;

	if (!next || handle == RTLD_NEXT || handle == RTLD_DEFAULT || strncmp(name, "ibv_", 4))
		return NULL;
	for (size_t i = 0; i < sizeof(traced) / sizeof(traced[0]); i++) {
		if (strcmp(name, traced[i].name))
			continue;
		found = next(handle, name);
		return found && found == dlvsym(RTLD_NEXT, name, NODE) ? traced[i].function : NULL;
	}
	return NULL;
}

SHIM_EXPORT(dlsym)
TAIL_CALLER void *shim_dlsym(void *handle, const char *name)
{
	dlsym_fn next = next_dlsym();
	void *found = find_traced(handle, name, next);

	if (found || !next)
		return found;
	TAIL_CALL return next(handle, name);
}
