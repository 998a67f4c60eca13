/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libibumad.so.1 and .so.2: the four functions whose structs have changed. The others are in
 * umad_forward.c.
 */
#include "umad_now.h"
#include "umad_port.h"

#include <errno.h>

typedef int (*get_ca_fn)(const char *name, struct umad_ca *ca);
typedef int (*release_ca_fn)(struct umad_ca *ca);
typedef int (*get_port_fn)(const char *name, int portnum, void *port);
typedef int (*release_port_fn)(void *port);

#define CALLER() umad_caller(__builtin_return_address(0))

static int get_ca_2007(get_ca_fn get, const char *name, struct umad_ca *ca)
{
	release_ca_fn release = (release_ca_fn)umad_now("umad_release_ca");
	struct umad_ca now = { 0 };
	int result = get(name, &now);

	if (result < 0)
		return result;
	result = umad_ca_to_2007(&now, ca);
	if (release)
		release(&now);
	return result;
}

/*
 * The library allocates the ports, so each may be longer than the struct that the caller knows. A
 * caller of libibumad.so.2 gets those of today. A caller of libibumad.so.1 gets copies, because its
 * struct has a longer capmask.
 */
int umad_get_ca(const char *name, struct umad_ca *ca)
{
	get_ca_fn get = (get_ca_fn)umad_now("umad_get_ca");

	if (!get)
		return -ENODEV;
	return CALLER() == 1 ? get_ca_2007(get, name, ca) : get(name, ca);
}

int umad_release_ca(struct umad_ca *ca)
{
	release_ca_fn release = (release_ca_fn)umad_now("umad_release_ca");
	int caller = CALLER();

	if (!ca || (caller != 1 && !release))
		return -ENODEV;
	if (caller != 1)
		return release(ca);
	umad_ca_release_2007(ca);
	return 0;
}

/*
 * The caller owns the struct. It may be the shortest one of its soname, so no more than that is
 * written.
 */
static int get_port_older(get_port_fn get, int caller, const char *name, int portnum, void *port)
{
	release_port_fn release = (release_port_fn)umad_now("umad_release_port");
	struct umad_port_now now = { 0 };
	int result = get(name, portnum, &now);

	if (result < 0)
		return result;
	if (caller == 2) {
		umad_port_to_2009(&now, port);
		return result;
	}
	umad_port_to_2006(&now, port);
	if (release)
		release(&now);
	return result;
}

int umad_get_port(const char *name, int portnum, void *port)
{
	get_port_fn get = (get_port_fn)umad_now("umad_get_port");
	int caller = CALLER();

	if (!get)
		return -ENODEV;
	return caller == 3 ? get(name, portnum, port)
			   : get_port_older(get, caller, name, portnum, port);
}

static int release_port_2009(release_port_fn release, struct umad_port_2009 *port)
{
	struct umad_port_now now;
	int result;

	umad_port_from_2009(port, &now);
	result = release(&now);
	port->pkeys = NULL;
	port->pkeys_size = 0;
	return result;
}

/*
 * For a caller of libibumad.so.1 there is nothing to free: umad_get_port() writes no P_Keys into
 * its struct.
 */
int umad_release_port(void *port)
{
	release_port_fn release = (release_port_fn)umad_now("umad_release_port");
	int caller = CALLER();

	if (!port || (caller != 1 && !release))
		return -ENODEV;
	if (caller == 1)
		return 0;
	return caller == 2 ? release_port_2009(release, port) : release(port);
}
