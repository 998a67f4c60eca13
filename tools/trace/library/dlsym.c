/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For programs that dlopen libibverbs and look its functions up (MVAPICH2 2.3, closed MPIs): where the shim answers with
 * a function of its own, they get the one in front of it. Everything else goes on by a tail call, because dlsym takes
 * its caller's return address to know whose RTLD_NEXT is meant.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include <abi/export.h>
#include <elf/early.h>
#include <elf/loader.h>

#ifdef __clang__
#define TAIL_CALL __attribute__((musttail))
#define TAIL_CALLER
#else
#define TAIL_CALL
#define TAIL_CALLER __attribute__((optimize("O2"), no_sanitize("address", "undefined", "thread")))
#endif

#define NODE "IBVERBS_1.1"

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

/* What the shim has under this name, and the traced function in front of it; NULL where none is. */
static __attribute__((noinline)) void *in_front_of(const void *found, const char *name)
{
	for (size_t i = 0; i < sizeof(traced) / sizeof(traced[0]); i++)
		if (!strcmp(name, traced[i].name))
			return found == loader_dlvsym()(RTLD_NEXT, name, NODE) ? traced[i].function : NULL;
	return NULL;
}

/* As in the shim: what is asked before this library is relocated, or by a sanitizer's runtime, is none of these names. */
static bool may_be_traced(const void *handle, const char *name)
{
	return handle != RTLD_NEXT && handle != RTLD_DEFAULT && name[0] == 'i' && name[1] == 'b' && name[2] == 'v' &&
	       name[3] == '_' && !early();
}

static __attribute__((noinline)) void *find_traced(void *handle, const char *name)
{
	void *found = may_be_traced(handle, name) ? loader_dlsym()(handle, name) : NULL;

	return found ? in_front_of(found, name) : NULL;
}

static __attribute__((noinline)) void *find_traced_versioned(void *handle, const char *name, const char *version)
{
	void *found = may_be_traced(handle, name) ? loader_dlvsym()(handle, name, version) : NULL;

	return found ? in_front_of(found, name) : NULL;
}

SHIM_EXPORT(dlsym)
TAIL_CALLER void *shim_dlsym(void *handle, const char *name)
{
	void *found = find_traced(handle, name);

	if (found)
		return found;
	TAIL_CALL return loader_dlsym()(handle, name);
}

SHIM_EXPORT(dlvsym)
TAIL_CALLER void *shim_dlvsym(void *handle, const char *name, const char *version)
{
	void *found = find_traced_versioned(handle, name, version);

	if (found)
		return found;
	TAIL_CALL return loader_dlvsym()(handle, name, version);
}
