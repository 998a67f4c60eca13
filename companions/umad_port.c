/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Converts structs; calls no function of libibumad. */
#include "umad_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_SIZE (offsetof(struct umad_port_now, rate) + sizeof(unsigned int))

void umad_port_to_2006(const struct umad_port_now *now, struct umad_port_2006 *port)
{
	memcpy(port, now, HEAD_SIZE);
	port->capmask = now->capmask;
	port->gid_prefix = now->gid_prefix;
	port->port_guid = now->port_guid;
}

void umad_port_to_2009(const struct umad_port_now *now, struct umad_port_2009 *port)
{
	memcpy(port, now, sizeof(*port));
}

void umad_port_from_2009(const struct umad_port_2009 *port, struct umad_port_now *now)
{
	memset(now, 0, sizeof(*now));
	memcpy(now, port, sizeof(*port));
}

/* The copy has P_Keys of its own, because today's library frees those of @now. */
static struct umad_port_2007 *new_port(const struct umad_port_now *now)
{
	struct umad_port_2007 *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	umad_port_to_2006(now, (struct umad_port_2006 *)port);
	if (!now->pkeys || !now->pkeys_size)
		return port;
	port->pkeys = calloc(now->pkeys_size, sizeof(*port->pkeys));
	if (!port->pkeys) {
		free(port);
		return NULL;
	}
	memcpy(port->pkeys, now->pkeys, now->pkeys_size * sizeof(*port->pkeys));
	port->pkeys_size = now->pkeys_size;
	return port;
}

int umad_ca_to_2007(const struct umad_ca *now, struct umad_ca *ca)
{
	struct umad_ca made = *now;

	memset(made.ports, 0, sizeof(made.ports));
	for (int i = 0; i < UMAD_PORTS_MAX; i++) {
		if (!now->ports[i])
			continue;
		made.ports[i] = new_port(now->ports[i]);
		if (!made.ports[i]) {
			umad_ca_release_2007(&made);
			return -ENOMEM;
		}
	}
	*ca = made;
	return 0;
}

void umad_ca_release_2007(struct umad_ca *ca)
{
	for (int i = 0; i < UMAD_PORTS_MAX; i++) {
		struct umad_port_2007 *port = ca->ports[i];

		if (!port)
			continue;
		free(port->pkeys);
		free(port);
		ca->ports[i] = NULL;
	}
}
