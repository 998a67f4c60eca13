/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The provider of a device, that is its user-space driver library, and the known faults of providers.
 *
 * One table names every fault: modern/ takes its detours from it, and `xrc-compat doctor` tells of them.
 */
#ifndef MODERN_PROVIDER_H
#define MODERN_PROVIDER_H

#include <stdbool.h>
#include <infiniband/verbs.h>

enum provider_fault_id {
	PROVIDER_MLX5_DESTROY_OPENED,
	PROVIDER_MLX5_RESET_OPENED,
	PROVIDER_FAULTS
};

/** struct provider_fault - what is wrong with which releases of a provider, and what is done about it. */
struct provider_fault {
	const char *name;	/* as tools and documents call it */
	const char *driver;	/* "mlx5" */
	unsigned since, fixed;	/* rdma-core releases; fixed 0: in none yet */
	const char *what;
	const char *detour;
};

extern const struct provider_fault provider_faults[PROVIDER_FAULTS];

/** struct provider - a driver library. */
struct provider {
	char driver[16];	/* "mlx5"; "" if its file name does not tell */
	unsigned release;	/* of rdma-core, 44; 0 if its file name does not tell */
};

/** provider_of_file - from the file name that a library really has: libmlx5.so.1.24.44.0 is mlx5 of rdma-core 44. */
struct provider provider_of_file(const char *path);

/** provider_of_function - of the library that a function of the provider is in. Reads links of the file system. */
struct provider provider_of_function(const void *function);

/** enum provider_trait - what of a provider other files of modern/ act on; flags. */
enum provider_trait {
	PROVIDER_NO_DESTROY_OPENED = 1,	/* PROVIDER_MLX5_DESTROY_OPENED */
	PROVIDER_NO_RESET_OPENED = 2,	/* PROVIDER_MLX5_RESET_OPENED */
	PROVIDER_TAGS_TARGETS = 4,	/* bit 23 of a QP number says: a target */
};

#define PROVIDER_TRAITS 8	/* combinations of the flags */

/** provider_traits - of a device. Cheap from the second time on. Knows only providers that have ibv_open_qp. */
unsigned provider_traits(struct ibv_context *context);

/** provider_has - whether it has the fault. One whose release is not known is taken to have it. */
bool provider_has(const struct provider *provider, enum provider_fault_id id);

#endif
