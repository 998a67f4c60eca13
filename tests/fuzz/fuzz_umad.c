/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * companions/umad.c converts today's structs of random content to those of each old release. A
 * struct of the caller is allocated with the size of its release. The address sanitizer finds a
 * write behind it, a leak and a double free.
 */
#include <companions/umad_now.h>
#include <companions/umad_port.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

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

static void must_be(int holds, const char *condition, int line)
{
	if (holds)
		return;
	fprintf(stderr, "fuzz_umad.c:%d: not so: %s\n", line, condition);
	abort();
}
#define must(condition) must_be(!!(condition), #condition, __LINE__)

/* ---- stands for libibumad.so.3 ---- */

/* 0, or the error of today's umad_get_port(). */
static int port_error(void)
{
	return input.size && input.data[0] % 7 == 0 ? -5 : 0;
}

/* The port without P_Keys. */
static void fill_port(int portnum, struct umad_port_now *port)
{
	fill(port, sizeof(*port));
	port->portnum = portnum;
	port->pkeys_size = input.size > 1 ? input.data[1] % 130 : 0;
	port->pkeys = NULL;
}

static int fake_get_port(const char *name, int portnum, void *object)
{
	struct umad_port_now *port = object;
	size_t pkeys;

	(void)name;
	if (port_error())
		return port_error();
	fill_port(portnum, port);
	pkeys = port->pkeys_size * sizeof(*port->pkeys);
	if (!pkeys)
		return 0;
	port->pkeys = malloc(pkeys);
	must(port->pkeys);
	fill(port->pkeys, pkeys);
	return 0;
}

static int fake_release_port(void *object)
{
	struct umad_port_now *port = object;

	free(port->pkeys);
	port->pkeys = NULL;
	return 0;
}

static int has_port(int portnum)
{
	return (size_t)portnum < input.size && input.data[portnum] % 2 == 0 && !port_error();
}

static int fake_get_ca(const char *name, struct umad_ca *ca)
{
	fill(ca, offsetof(struct umad_ca, ports));
	memset(ca->ports, 0, sizeof(ca->ports));
	for (int i = 0; i < UMAD_PORTS_MAX; i++) {
		if (!has_port(i))
			continue;
		ca->ports[i] = calloc(1, sizeof(struct umad_port_now));
		must(ca->ports[i] && !fake_get_port(name, i, ca->ports[i]));
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

/* Where today's library lacks those functions. */
static int lacks_release;

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
		if (!strcmp(fakes[i].name, name) && !(lacks_release && strstr(name, "release")))
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

static void verify_pkeys(unsigned int size, const uint16_t *pkeys, const struct umad_port_now *now)
{
	uint16_t expected[130];

	must(size == now->pkeys_size);
	fill(expected, size * sizeof(*pkeys));
	must(!size || !memcmp(pkeys, expected, size * sizeof(*pkeys)));
}

/*
 * The members of the caller's layout have the values of today's struct. A caller of libibumad.so.1
 * has P_Keys only in the ports of a CA.
 */
static void verify(const void *object, int portnum, int of_ca)
{
	const struct umad_port_2007 *old = object;
	const struct umad_port_now *port = object;
	struct umad_port_now now;

	fill_port(portnum, &now);
	must(!memcmp(object, &now, offsetof(struct umad_port_now, rate) + sizeof(now.rate)));
	if (input.caller == 1) {
		must(old->capmask == now.capmask && old->gid_prefix == now.gid_prefix);
		must(old->port_guid == now.port_guid);
		if (of_ca)
			verify_pkeys(old->pkeys_size, old->pkeys, &now);
	} else {
		must(port->capmask == now.capmask && port->gid_prefix == now.gid_prefix);
		must(port->port_guid == now.port_guid);
		verify_pkeys(port->pkeys_size, port->pkeys, &now);
	}
}

static void try_port(size_t size)
{
	void *port = malloc(size);
	int err = umad_get_port("mlx4_0", 1, port);

	must(err == port_error());
	if (!err) {
		verify(port, 1, 0);
		lacks_release = input.caller == 1;
		must(!umad_release_port(port));
		lacks_release = 0;
	}
	free(port);
}

static void try_ca(void)
{
	struct umad_ca *ca = malloc(sizeof(*ca)), now;

	must(!umad_get_ca("mlx4_0", ca));
	fill(&now, offsetof(struct umad_ca, ports));
	must(!memcmp(ca, &now, offsetof(struct umad_ca, ports)));
	for (int i = 0; i < UMAD_PORTS_MAX; i++) {
		must(!ca->ports[i] == !has_port(i));
		if (ca->ports[i])
			verify(ca->ports[i], i, 1);
	}
	lacks_release = input.caller == 1;
	must(!umad_release_ca(ca) && !umad_release_ca(ca));
	lacks_release = 0;
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
