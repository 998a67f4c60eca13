/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Names of hosts, as `softhca ssh` takes them. mpirun_rsh of MVAPICH looks up the address of each
 * host before it starts ssh, and its ranks look up that of the host on which mpirun_rsh runs.
 */
#include "hooks.h"

#include <dir.h>
#include <proto.h>

#include <errno.h>
#include <netinet/in.h>

/* The address of the emulated host @name, written into @numeric; @name if there is no such host. */
static const char *numeric_of(const char *name, char numeric[INET_ADDRSTRLEN])
{
	char adapter[DIR_ADAPTER];
	int saved = errno;
	int index = name && place_dir() ? dir_adapter(place_dir(), name, adapter) : -ENOENT;

	errno = saved;
	if (index < 0)
		return name;
	snprintf(numeric, INET_ADDRSTRLEN, SOFTHCA_HOST_FORMAT, (uint8_t)index);
	return numeric;
}

#define NUMERIC(name) numeric_of(name, (char[INET_ADDRSTRLEN]){ 0 })

HOOK struct hostent *gethostbyname(const char *name)
{
	return real()->gethostbyname(NUMERIC(name));
}

/* getent(1) calls it. */
HOOK struct hostent *gethostbyname2(const char *name, int family)
{
	return real()->gethostbyname2(NUMERIC(name), family);
}

/* As programs in Perl and Python call it. */
HOOK int gethostbyname_r(const char *name, struct hostent *host, char *data, size_t size,
			 struct hostent **result, int *error)
{
	return real()->gethostbyname_r(NUMERIC(name), host, data, size, result, error);
}

HOOK int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		     struct addrinfo **result)
{
	const bool looks_up = !hints || !(hints->ai_flags & AI_NUMERICHOST);

	return real()->getaddrinfo(looks_up ? NUMERIC(name) : name, service, hints, result);
}
