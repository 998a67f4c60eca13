/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The structs of libibumad's interface as programs of each age were compiled with them. Never
 * change one: each is an ABI.
 *
 *   libibumad.so.1   2006-10  struct umad_port_2006
 *                    2007-11  struct umad_port_2007: the P_Keys were appended under the same soname
 *   libibumad.so.2   2009-05  struct umad_port_2009: capmask has 32 bits; later members moved
 *                    2010-03  struct umad_port_now: link_layer was appended under the same soname
 *   libibumad.so.3   2010-05  struct umad_port_now
 */
#ifndef COMPANIONS_UMAD_LAYOUTS_H
#define COMPANIONS_UMAD_LAYOUTS_H

#include <stddef.h>
#include <stdint.h>

#define UMAD_NAME_LENGTH 20
#define UMAD_PORTS_MAX 10

/* The members before capmask are the same in all structs of a port. */
#define UMAD_PORT_HEAD \
	char ca_name[UMAD_NAME_LENGTH]; \
	int portnum; \
	unsigned int base_lid, lmc, sm_lid, sm_sl, state, phys_state, rate

struct umad_port_2006 {
	UMAD_PORT_HEAD;
	uint64_t capmask; /* 32 bits in network order, in the lower half */
	uint64_t gid_prefix, port_guid;
};

struct umad_port_2007 {
	UMAD_PORT_HEAD;
	uint64_t capmask;
	uint64_t gid_prefix, port_guid;
	unsigned int pkeys_size;
	uint16_t *pkeys;
};

struct umad_port_2009 {
	UMAD_PORT_HEAD;
	uint32_t capmask; /* in network order */
	uint64_t gid_prefix, port_guid;
	unsigned int pkeys_size;
	uint16_t *pkeys;
};

struct umad_port_now {
	UMAD_PORT_HEAD;
	uint32_t capmask;
	uint64_t gid_prefix, port_guid;
	unsigned int pkeys_size;
	uint16_t *pkeys;
	char link_layer[UMAD_NAME_LENGTH];
};

/* All sonames have this struct. The structs that its ports point to differ. */
struct umad_ca {
	char ca_name[UMAD_NAME_LENGTH];
	unsigned int node_type;
	int numports;
	char fw_ver[20], ca_type[40], hw_ver[20];
	uint64_t node_guid, system_guid;
	void *ports[UMAD_PORTS_MAX];
};

#if defined(__LP64__)
#define UMAD_BY_CLASS(class64, class32) (class64)
#else
#define UMAD_BY_CLASS(class64, class32) (class32)
#endif

#define UMAD_OFFSET(type, member, class64, class32) \
	_Static_assert(offsetof(struct type, member) == UMAD_BY_CLASS(class64, class32), \
		       #type "." #member)
#define UMAD_SIZE(type, class64, class32) \
	_Static_assert(sizeof(struct type) == UMAD_BY_CLASS(class64, class32), #type)

#if defined(__LP64__) || defined(__i386__)
UMAD_OFFSET(umad_port_2006, rate, 48, 48);
UMAD_OFFSET(umad_port_2006, capmask, 56, 52);
UMAD_OFFSET(umad_port_2006, gid_prefix, 64, 60);
UMAD_OFFSET(umad_port_2006, port_guid, 72, 68);
UMAD_SIZE(umad_port_2006, 80, 76);
UMAD_OFFSET(umad_port_2007, port_guid, 72, 68);
UMAD_OFFSET(umad_port_2007, pkeys_size, 80, 76);
UMAD_OFFSET(umad_port_2007, pkeys, 88, 80);
UMAD_SIZE(umad_port_2007, 96, 84);
UMAD_OFFSET(umad_port_2009, capmask, 52, 52);
UMAD_OFFSET(umad_port_2009, gid_prefix, 56, 56);
UMAD_OFFSET(umad_port_2009, port_guid, 64, 64);
UMAD_OFFSET(umad_port_2009, pkeys_size, 72, 72);
UMAD_OFFSET(umad_port_2009, pkeys, 80, 76);
UMAD_SIZE(umad_port_2009, 88, 80);
UMAD_OFFSET(umad_port_now, pkeys, 80, 76);
UMAD_OFFSET(umad_port_now, link_layer, 88, 80);
UMAD_SIZE(umad_port_now, 112, 100);
UMAD_OFFSET(umad_ca, numports, 24, 24);
UMAD_OFFSET(umad_ca, node_guid, 112, 108);
UMAD_OFFSET(umad_ca, ports, 128, 124);
UMAD_SIZE(umad_ca, 208, 164);
#endif

#endif
