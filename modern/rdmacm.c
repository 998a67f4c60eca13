/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds librdmacm.so.1 among the loaded libraries. */
#include "rdmacm.h"

#include <elf/loaded.h>
#include <elf/loader.h>

#include <string.h>
#include <rdma/rdma_cma.h>

static int copy_if_librdmacm(const struct loaded *loaded, void *librdmacm)
{
	if (strcmp(loaded_soname(loaded), "librdmacm.so.1"))
		return 0;
	*(struct loaded *)librdmacm = *loaded;
	return 1;
}

rdmacm_create_qp_fn modern_rdmacm_create_qp(const void *caller, bool *is_librdmacm)
{
	struct loaded librdmacm;
	sigset_t before;
	bool found;

	loader_hold_signals(&before);
	found = loaded_each(copy_if_librdmacm, &librdmacm);
	loader_release_signals(&before);
	if (!found)
		return NULL;
	*is_librdmacm = loaded_contains(&librdmacm, caller);
	return (rdmacm_create_qp_fn)loaded_symbol(&librdmacm, "rdma_create_qp");
}
