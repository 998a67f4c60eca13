/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the program's own libibverbs.so.1 and fills the table of its functions. */
#include "table.h"
#include "kernel.h"
#include "modern.h"
#include "tracer.h"

#include <abi/verb.h>
#include <elf/loader.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define LIBRARY "libibverbs.so.1"

/* ---- verbs that are inline today ---- */

/*
 * The inline ibv_create_srq_ex also refers to the symbol ibv_create_srq, for ordinary SRQs. The
 * library must not have undefined symbols of libibverbs, so it calls the provider itself.
 */
static struct ibv_srq *create_srq_ex(struct ibv_context *context,
				     struct ibv_srq_init_attr_ex *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_srq_ex);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_srq_ex(context, attr);
}

/* The inline ibv_create_qp_ex is not called for the same reason. */
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_qp_ex);

	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_qp_ex(context, attr);
}

/* ---- searching ---- */

struct modern_table modern_table;
const struct tracer *modern_tracer;

/* The functions that need no search. */
static const struct modern_table own = {
	.open_xrcd = ibv_open_xrcd,
	.close_xrcd = ibv_close_xrcd,
	.create_srq_ex = create_srq_ex,
	.get_srq_num = ibv_get_srq_num,
	.create_qp_ex = create_qp_ex,
#define X(name, ret, params, args) .name = kernel_##name,
	MODERN_COMMANDS(X)
#undef X
};

/* The result of a search. Threads may search at once, and find the same: see modern_load(). */
struct found {
	struct modern_table table;
	const char *path;	/* the loader's, for as long as the library is loaded */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread const struct found *to_publish __attribute__((tls_model("initial-exec")));
static atomic_bool loaded;
const char *_Atomic modern_missing = "";
const char *modern_library_path = "";
static tracer_start_fn start_tracer;

/* The name of a missing function, or NULL. A plain dlvsym would find the shim's functions. */
static const char *look_up_functions(void *library, struct modern_table *table)
{
	loader_dlvsym_fn dlvsym_real = loader_dlvsym();

	if (!dlvsym_real)
		return "dlvsym";
#define X(name, ret, params, args) \
	table->name = (__typeof__(table->name))dlvsym_real(library, "ibv_" #name, VERB_NODE); \
	if (!table->name) \
		return "ibv_" #name;
	MODERN_FUNCTIONS(X)
	MODERN_PROCEDURES(X)
#undef X
	return NULL;
}

/* After look_up_functions(): there is a dlvsym. */
static tracer_start_fn find_tracer(void)
{
	const char *traced = secure_getenv("XRC_COMPAT_TRACE");

	if (!traced || !*traced)
		return NULL;
	return (tracer_start_fn)loader_dlvsym()(RTLD_DEFAULT, TRACER_START, TRACER_NODE);
}

static void publish(void)
{
	modern_table = to_publish->table;
	modern_library_path = to_publish->path;
	start_tracer = find_tracer();
	atomic_store_explicit(&loaded, true, memory_order_release);
}

static int search_and_publish(void *library)
{
	struct found found = { .table = own };
	const char *missing = library ? look_up_functions(library, &found.table) : LIBRARY;
	Dl_info info;

	if (missing) {
		if (library)
			dlclose(library);
		atomic_store(&modern_missing, missing);
		return -ENOSYS;
	}
	/* The library stays open, because the table has pointers to its functions. */
	found.path = dladdr((void *)found.table.create_qp, &info) && info.dli_fname
			     ? info.dli_fname
			     : "";
	to_publish = &found;
	pthread_once(&once, publish);
	to_publish = NULL;
	return 0;
}

int modern_find(void)
{
	return search_and_publish(dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD));
}

/*
 * Threads may search at the same time: if one waited for another, both could wait for ever. The
 * searching thread may wait for the loader's lock. The holder of that lock may run a plugin's
 * constructor that calls a verb, and so wait for the search. With a trace one thread does wait for
 * another: while the tracer is started, which loads libunwind (xrc-compat(1), trace).
 */
int modern_load(void)
{
	void *library;

	if (atomic_load_explicit(&loaded, memory_order_acquire))
		return 0;
	/* A program may find a function of ours by dlsym before it loads libibverbs. */
	library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
	return search_and_publish(library ? library : dlopen(LIBRARY, RTLD_LAZY));
}

void modern_start_tracer(void)
{
	if (start_tracer)
		modern_tracer = start_tracer(VERBS, &modern_table, sizeof(modern_table));
}
