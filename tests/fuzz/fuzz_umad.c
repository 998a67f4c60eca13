/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * companions/umad.c converts today's structs of random content to those of each old release. A
 * struct of the caller is allocated with the size of its release. The address sanitizer finds a
 * write behind it, a leak and a double free.
 */
#include "companions/umad_now.h"
#include "companions/umad_port.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int umad_get_ca(const char *name, struct umad_ca *ca);
int umad_release_ca(struct umad_ca *ca);
int umad_get_port(const char *name, int portnum, void *port);
int umad_release_port(void *port);

static struct {
	const uint8_t *data;
	size_t size;
	int caller;
} input;

static void fill(void *object, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)object)[i] = input.size ? input.data[i % input.size] : 0;
}

static void must(int condition)
{
	if (!condition)
		abort();
}

/* ---- stands for libibumad.so.3 ---- */

static int fake_get_port(const char *name, int portnum, void *object)
{
	struct umad_port_now *port = object;

	(void)name;
	if (input.size && input.data[0] % 7 == 0)
		return -5;
	fill(port, sizeof(*port));
	port->portnum = portnum;
	port->pkeys_size = input.size > 1 ? input.data[1] % 130 : 0;
	port->pkeys = port->pkeys_size ? calloc(port->pkeys_size, sizeof(*port->pkeys)) : NULL;
	return 0;
}

static int fake_release_port(void *object)
{
	struct umad_port_now *port = object;

	free(port->pkeys);
	port->pkeys = NULL;
	return 0;
}

static int fake_get_ca(const char *name, struct umad_ca *ca)
{
	fill(ca, offsetof(struct umad_ca, ports));
	memset(ca->ports, 0, sizeof(ca->ports));
	for (int i = 0; i < UMAD_PORTS_MAX; i++) {
		if ((size_t)i >= input.size || input.data[i] % 2)
			continue;
		ca->ports[i] = calloc(1, sizeof(struct umad_port_now));
		if (fake_get_port(name, i, ca->ports[i])) {
			free(ca->ports[i]);
			ca->ports[i] = NULL;
		}
	}
	return 0;
}

static int fake_release_ca(struct umad_ca *ca)
{
	for (int i = 0; i < UMAD_PORTS_MAX; i++) {
		if (ca->ports[i])
			fake_release_port(ca->ports[i]);
		free(ca->ports[i]);
		ca->ports[i] = NULL;
	}
	return 0;
}

void *umad_now(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} fakes[] = { { "umad_get_ca", (void *)fake_get_ca },
		      { "umad_release_ca", (void *)fake_release_ca },
		      { "umad_get_port", (void *)fake_get_port },
		      { "umad_release_port", (void *)fake_release_port } };

	for (size_t i = 0; i < sizeof(fakes) / sizeof(fakes[0]); i++) {
		if (!strcmp(fakes[i].name, name))
			return fakes[i].function;
	}
	return NULL;
}

int umad_caller(const void *address)
{
	(void)address;
	return input.caller;
}

/* ---- the callers ---- */

/* The fields of the caller's layout have the values of today's struct. */
static void verify(const void *object)
{
	const struct umad_port_2006 *old = object;
	const struct umad_port_now *port = object;
	struct umad_port_now now;

	fill(&now, sizeof(now));
	must(old->rate == now.rate);
	must((input.caller == 1 ? old->capmask : port->capmask) == now.capmask);
	must((input.caller == 1 ? old->port_guid : port->port_guid) == now.port_guid);
}

static void try_port(size_t size)
{
	void *port = malloc(size);

	if (!umad_get_port("mlx4_0", 1, port)) {
		verify(port);
		must(!umad_release_port(port));
	}
	free(port);
}

static void try_ca(void)
{
	struct umad_ca *ca = malloc(sizeof(*ca));

	must(!umad_get_ca("mlx4_0", ca));
	for (int i = 0; i < UMAD_PORTS_MAX; i++) {
		if (ca->ports[i])
			verify(ca->ports[i]);
	}
	must(!umad_release_ca(ca) && !umad_release_ca(ca));
	free(ca);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		int caller;
		size_t port;
	} callers[] = { { 1, sizeof(struct umad_port_2006) },
			{ 1, sizeof(struct umad_port_2007) },
			{ 2, sizeof(struct umad_port_2009) },
			{ 2, sizeof(struct umad_port_now) },
			{ 3, sizeof(struct umad_port_now) } };

	input.data = data;
	input.size = size;
	for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
		input.caller = callers[i].caller;
		try_port(callers[i].port);
		try_ca();
	}
	return 0;
}
