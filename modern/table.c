/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the program's own libibverbs.so.1 and fills the table of its functions. */

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "modern.h"
#include "table.h"

#define LIBRARY "libibverbs.so.1"
/* Each of the functions has had this node since libibverbs 1.1; IBVERBS_1.0 has other layouts. */
#define NODE "IBVERBS_1.1"

struct modern_table modern_table = {
#define X(name, ret, params, args) .name = modern_inline_##name,
	MODERN_INLINES(X)
#undef X
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int load_status;
static const char *missing = "";
static char library_path[PATH_MAX];

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define X(name, ret, params, args) { "ibv_" #name, offsetof(struct modern_table, name) },
	MODERN_FUNCTIONS(X)
	MODERN_PROCEDURES(X)
#undef X
};

static const struct {
	const char *name;
	size_t offset;
} commands[] = {
#define X(name, ret, params, args) { "ibv_" #name, offsetof(struct modern_table, name) },
	MODERN_COMMANDS(X)
#undef X
};

static void put(size_t offset, void *function)
{
	memcpy((char *)&modern_table + offset, &function, sizeof(function));
}

/* By their plain names: the node is that of libibverbs' release. */
static void look_up_commands(void *library)
{
	loader_dlsym_fn dlsym_real = loader_dlsym();

	for (size_t i = 0; dlsym_real && i < sizeof(commands) / sizeof(commands[0]); i++)
		put(commands[i].offset, dlsym_real(library, commands[i].name));
}

static void note_path(void)
{
	Dl_info info;

	if (!dladdr((void *)modern_table.create_qp, &info) || !info.dli_fname)
		return;
	if (!realpath(info.dli_fname, library_path))
		strncpy(library_path, info.dli_fname, sizeof(library_path) - 1);
}

static void let_trace_wrap(loader_dlvsym_fn dlvsym_real)
{
	const char *traced = secure_getenv("XRC_COMPAT_TRACE");
	modern_wrapper_fn wrap = NULL;

	if (traced && *traced)
		wrap = (modern_wrapper_fn)dlvsym_real(RTLD_DEFAULT, MODERN_WRAPPER, MODERN_WRAPPER_NODE);
	if (wrap)
		wrap(&modern_table, sizeof(modern_table));
}

static void load(void)
{
	/* The caller nearly always has it; only a program that got our name by other ways makes us load it. */
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
	/* The plain name would find ours, and that the functions of the shim. */
	loader_dlvsym_fn dlvsym_real = loader_dlvsym();

	load_status = -ENOSYS;
	if (!library)
		library = dlopen(LIBRARY, RTLD_LAZY);
	if (!library) {
		missing = LIBRARY;
		return;
	}
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlvsym_real ? dlvsym_real(library, functions[i].name, NODE) : NULL;

		if (!function) {
			missing = functions[i].name;
			return;
		}
		put(functions[i].offset, function);
	}
	look_up_commands(library);
	note_path();
	let_trace_wrap(dlvsym_real);
	load_status = 0;
}

int modern_load(void)
{
	pthread_once(&once, load);
	return load_status;
}

const char *modern_library_path(void)
{
	return library_path;
}

const char *modern_missing(void)
{
	return missing;
}

int modern_status(int ret)
{
	if (ret > 0)
		return -ret;
	if (ret < 0)
		return errno > 0 ? -errno : -EIO;
	return 0;
}

int modern_null_status(void)
{
	return errno > 0 ? -errno : -EINVAL;
}
