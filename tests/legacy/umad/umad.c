/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Linked with an old libibumad beside libibverbs, as MVAPICH and MVAPICH2 were. UMAD_PORT names the
 * struct of the time.
 *
 * Asks what they asked: MVAPICH 1.2 (viaparam.c) each port's state and rate out of umad_get_ca,
 * MVAPICH2's system report the adapter's type, firmware and GUIDs, and each port by umad_get_port.
 * libibverbs must say the same. Then opens an XRC domain.
 */
#include "companions/umad_layouts.h"

#include <endian.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM "umad"
#include "../../holds.h"

#define GUARD 64	/* bytes behind a struct that libibumad must not write */

struct guarded {
	struct UMAD_PORT port;
	unsigned char guard[GUARD];
};

int umad_init(void);
int umad_done(void);
int umad_get_cas_names(char names[][UMAD_NAME_LENGTH], int max);
int umad_get_ca_portguids(char *name, uint64_t *guids, int max);
int umad_get_ca(char *name, struct umad_ca *ca);
int umad_release_ca(struct umad_ca *ca);
int umad_get_port(char *name, int portnum, struct UMAD_PORT *port);
int umad_release_port(struct UMAD_PORT *port);
size_t umad_size(void);

/* Returns Gbit/s: emulated adapters have one of two rates. */
static unsigned rate_of(const struct ibv_port_attr *attr)
{
	HOLDS(attr->active_width == 2);
	HOLDS(attr->active_speed == 16 || attr->active_speed == 32);
	return attr->active_speed == 16 ? 56 : 100;
}

static void check_with_verbs(const struct UMAD_PORT *port, const struct ibv_port_attr *attr)
{
	HOLDS(port->state == (unsigned)attr->state && port->base_lid == attr->lid &&
	      port->lmc == attr->lmc);
	HOLDS(port->sm_lid == attr->sm_lid && port->sm_sl == attr->sm_sl &&
	      port->phys_state == attr->phys_state);
	HOLDS(port->rate == rate_of(attr));
	HOLDS(port->capmask == htobe32(attr->port_cap_flags));
}

/* Gets the struct as a program does that copies it into a larger one of its own. */
static void check_port(char *name, int number, const struct UMAD_PORT *listed,
		       const struct ibv_port_attr *attr)
{
	struct guarded own;

	memset(&own, 0x5a, sizeof(own));
	HOLDS(umad_get_port(name, number, &own.port) == 0);
	for (int i = 0; i < GUARD; i++)
		HOLDS(own.guard[i] == 0x5a);
	HOLDS(!strcmp(own.port.ca_name, name) && own.port.portnum == number);
	check_with_verbs(&own.port, attr);
	HOLDS(own.port.port_guid == listed->port_guid && own.port.gid_prefix == listed->gid_prefix);
	HOLDS(umad_release_port(&own.port) == 0);
}

static void check_ca(char *name, struct ibv_context *context)
{
	struct ibv_device_attr device;
	struct umad_ca ca;
	uint64_t guids[UMAD_PORTS_MAX];

	HOLDS(umad_get_ca(name, &ca) == 0 && !strcmp(ca.ca_name, name));
	HOLDS(!ibv_query_device(context, &device) && device.phys_port_cnt == ca.numports);
	HOLDS(!strcmp(device.fw_ver, ca.fw_ver) && device.node_guid == ca.node_guid &&
	      !strncmp(ca.ca_type, "MT", 2));
	HOLDS(umad_get_ca_portguids(name, guids, UMAD_PORTS_MAX) == ca.numports + 1);
	for (int i = 1; i <= ca.numports; i++) {
		struct UMAD_PORT *port = ca.ports[i];
		struct ibv_port_attr attr;

		HOLDS(!ibv_query_port(context, (uint8_t)i, &attr));
		HOLDS(port && port->port_guid == guids[i]);
		check_with_verbs(port, &attr);
#ifdef UMAD_HAS_PKEYS
		HOLDS(port->pkeys_size == attr.pkey_tbl_len && port->pkeys[0] == 0xffff);
#endif
		check_port(name, i, port, &attr);
	}
	HOLDS(umad_release_ca(&ca) == 0 && !ca.ports[1]);
}

static void use_xrc(struct ibv_context *context)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(context, -1, O_CREAT);

	HOLDS(domain && !ibv_close_xrc_domain(domain));
}

int main(void)
{
	char names[32][UMAD_NAME_LENGTH];
	struct ibv_device **list;
	int count, devices;

	if (umad_init() < 0) {
		puts("no libibumad: umad_init fails");
		return 3;
	}
	list = ibv_get_device_list(&devices);
	count = umad_get_cas_names(names, 32);
	HOLDS(list && count == devices);
	/* While no port is open, it is the size of the header without pkey_index. */
	HOLDS(umad_size() == 56);
	for (int i = 0; i < devices; i++) {
		struct ibv_context *context = ibv_open_device(list[i]);

		HOLDS(context);
		check_ca((char *)ibv_get_device_name(list[i]), context);
		use_xrc(context);
		ibv_close_device(context);
	}
	umad_done();
	printf("%d adapters, all right\n", count);
	return 0;
}
