/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the name of a provider: the file name of its library. */

#include <dlfcn.h>
#include <string.h>

#include "provider.h"

void provider_name(const void *function, char name[PROVIDER_NAME_SIZE])
{
	const char *base, *slash;
	size_t length;
	Dl_info info;

	name[0] = '\0';
	if (!dladdr(function, &info) || !info.dli_fname)
		return;
	slash = strrchr(info.dli_fname, '/');
	base = slash ? slash + 1 : info.dli_fname;
	if (strncmp(base, "lib", 3))
		return;
	base += 3;
	/* libmlx5.so.1.24.44.0, or the link that libibverbs opens: libmlx5-rdmav34.so. */
	length = strcspn(base, "-.");
	if (length >= PROVIDER_NAME_SIZE)
		return;
	memcpy(name, base, length);
	name[length] = '\0';
}
