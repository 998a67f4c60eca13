/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For clients linked with libibumad.so.1, as MVAPICH and MVAPICH2 were: asks at start for the rate
 * of the first adapter's port, as viaparam.c of MVAPICH 1.2 does to choose its defaults.
 */
#include "companions/umad_layouts.h"

#include <stdio.h>
#include <unistd.h>

int umad_init(void);
int umad_get_cas_names(char names[][UMAD_NAME_LENGTH], int max);
int umad_get_ca(char *name, struct umad_ca *ca);
int umad_release_ca(struct umad_ca *ca);

__attribute__((constructor)) static void ask_for_rate(void)
{
	char names[8][UMAD_NAME_LENGTH];
	const struct umad_port_2007 *port;
	struct umad_ca ca;

	if (umad_init() < 0 || umad_get_cas_names(names, 8) < 1 || umad_get_ca(names[0], &ca) < 0 ||
	    ca.numports < 1) {
		fputs("libibumad finds no adapter\n", stderr);
		_exit(9);
	}
	port = ca.ports[1];
	/* 56 and 100 are the rates of the emulated adapters. */
	if (port->state != 4 || (port->rate != 56 && port->rate != 100) || port->pkeys_size < 1) {
		fprintf(stderr, "libibumad: state %u, rate %u\n", port->state, port->rate);
		_exit(9);
	}
	umad_release_ca(&ca);
}
