/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which provider a device has, and what is known to be wrong with it. */

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"

/* rdma-core eb01f4664 (release 40) made mlx5_free_db look its argument up in a map; the list before had ignored NULL. */
const struct provider_fault provider_faults[PROVIDER_FAULTS] = {
	[PROVIDER_MLX5_DESTROY_OPENED] = {
		.name = "mlx5-destroy-opened",
		.driver = "mlx5",
		.since = 40,
		.what = "ibv_destroy_qp of a handle from ibv_open_qp writes through a wild pointer",
		.detour = "ibv_cmd_destroy_qp of libibverbs in its place; the provider's struct of the handle stays allocated",
	},
	[PROVIDER_MLX5_RESET_OPENED] = {
		.name = "mlx5-reset-opened",
		.driver = "mlx5",
		.since = 26,
		.what = "ibv_modify_qp to RESET of a handle from ibv_open_qp writes to address 0",
		.detour = "ibv_cmd_modify_qp of libibverbs in its place",
	},
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The fourth number: libmlx5.so.ABI.MINOR.RELEASE.PATCH. A plug-in's name, libmlx5-rdmav34.so, has none. */
static unsigned release_of(const char *suffix)
{
	unsigned abi, minor, release;

	return sscanf(suffix, ".so.%u.%u.%u", &abi, &minor, &release) == 3 ? release : 0;
}

struct provider provider_of_file(const char *path)
{
	struct provider provider = { .release = 0 };
	const char *name = base_name(path);
	size_t length;

	if (strncmp(name, "lib", 3))
		return provider;
	name += 3;
	length = strcspn(name, "-.");
	if (length >= sizeof(provider.driver))
		return provider;
	memcpy(provider.driver, name, length);
	provider.release = release_of(name + length);
	return provider;
}

struct provider provider_of_function(const void *function)
{
	char real[PATH_MAX];
	Dl_info info;

	if (!dladdr(function, &info) || !info.dli_fname)
		return (struct provider){ .release = 0 };
	return provider_of_file(realpath(info.dli_fname, real) ? real : info.dli_fname);
}

bool provider_has(const struct provider *provider, enum provider_fault_id id)
{
	const struct provider_fault *fault = &provider_faults[id];

	if (strcmp(provider->driver, fault->driver))
		return false;
	if (!provider->release)
		return true;
	return provider->release >= fault->since && (!fault->fixed || provider->release < fault->fixed);
}

static const void *open_function(struct ibv_context *context)
{
	struct verbs_context *verbs = verbs_get_ctx_op(context, open_qp);

	return verbs ? (const void *)verbs->open_qp : NULL;
}

static unsigned find_traits(const void *function)
{
	struct provider provider = provider_of_function(function);
	unsigned traits = 0;

	if (provider_has(&provider, PROVIDER_MLX5_DESTROY_OPENED))
		traits |= PROVIDER_NO_DESTROY_OPENED;
	if (provider_has(&provider, PROVIDER_MLX5_RESET_OPENED))
		traits |= PROVIDER_NO_RESET_OPENED;
	if (!strcmp(provider.driver, "mlx4"))
		traits |= PROVIDER_TAGS_TARGETS;
	return traits;
}

unsigned provider_traits(struct ibv_context *context)
{
	/* For each combination the function of a provider that was found to have it. A process has one or two providers. */
	static const void *_Atomic seen[PROVIDER_TRAITS];
	const void *function = open_function(context);
	unsigned traits;

	for (traits = 0; traits < PROVIDER_TRAITS; traits++)
		if (atomic_load_explicit(&seen[traits], memory_order_relaxed) == function)
			return traits;
	traits = find_traits(function);
	atomic_store_explicit(&seen[traits], function, memory_order_relaxed);
	return traits;
}
