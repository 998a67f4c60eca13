/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads from the file of a libibverbs its release and where its providers are. */
#include "libibverbs.h"

#include <tools/files/regular.h>
#include <tools/text/memory.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool libibverbs_is_old(const char *path)
{
	/* Each rdma-core has this version for its drivers. Our companion has no function. */
	return regular_has(path, "ibv_get_device_list") && !regular_has(path, "IBVERBS_PRIVATE_");
}

/* The private symbols have a version, which is the release that has last changed them. */
const char *libibverbs_release_name(const char *path)
{
	static const char private[] = "IBVERBS_PRIVATE_";
	const char *node = regular_string(path, private), *version;
	char real[PATH_MAX];
	int release = 0;

	/* Debian, RHEL and SLES name the file libibverbs.so.1.ABI.RELEASE.PATCH. */
	version = realpath(path, real) ? strstr(real, "libibverbs.so.1.") : NULL;
	if (version)
		sscanf(version, "libibverbs.so.1.%*d.%d", &release);
	if (release)
		return format_string("rdma-core %d", release);
	if (!node)
		return "older than rdma-core";
	return format_string("rdma-core %s or later, its file name does not tell",
			     strstr(node, private) + strlen(private));
}

const char *libibverbs_provider(const char *libibverbs, const char *name)
{
	/* As "/usr/lib64/libibverbs/lib%s-rdmav34.so". The number is that of its private symbols. */
	const char *path = regular_string(libibverbs, "/lib%s-rdmav");
	const char *mark = path ? strstr(path, "%s") : NULL;

	return mark ? format_string("%.*s%s%s", (int)(mark - path), path, name, mark + 2) : NULL;
}
