/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A libibverbs: its release and its providers. */
#ifndef TOOLS_LIBIBVERBS_H
#define TOOLS_LIBIBVERBS_H

#include <stdbool.h>

#define LIBIBVERBS "libibverbs.so.1"

#define LIBIBVERBS_INSTALL_ADVICE "install the distribution's libibverbs (Debian: libibverbs1)"

/* What to do about a libibverbs that cannot be loaded. */
#define LIBIBVERBS_LOAD_ADVICE \
	"take the directory with the older library out of LD_LIBRARY_PATH or the program's RPATH; " \
	"in a container take the libibverbs of its image instead of the host's"

/* True for a libibverbs from before rdma-core. It finds no device on today's kernels. */
bool libibverbs_is_old(const char *path);

/* "rdma-core 44", or what else is known of the release. */
const char *libibverbs_release_name(const char *path);

/* The kernel's drivers of adapters with XRC, and their providers: X(DRIVER, PROVIDER). */
#define XRC_PROVIDERS(X) \
	X("mlx4_core", "mlx4") X("mlx5_core", "mlx5") X("hns3", "hns") X("qede", "qedr")

/*
 * The path from which this libibverbs loads the provider @name, as "mlx5"; NULL: it does not tell.
 * Providers of another release have other paths.
 */
const char *libibverbs_provider(const char *libibverbs, const char *name);

#endif
