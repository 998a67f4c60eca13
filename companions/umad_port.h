/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Converts today's structs of a port and a CA to those of libibumad.so.1 and .so.2, and back. */
#ifndef COMPANIONS_UMAD_PORT_H
#define COMPANIONS_UMAD_PORT_H

#include "umad_layouts.h"

/*
 * Fills the struct of a caller of libibumad.so.1. Callers compiled since 2007-11 have 16 more
 * bytes. They are not written, because the struct does not tell its size.
 */
void umad_port_to_2006(const struct umad_port_now *now, struct umad_port_2006 *port);

/* Fills the struct of a caller of libibumad.so.2. The P_Keys become the caller's. */
void umad_port_to_2009(const struct umad_port_now *now, struct umad_port_2009 *port);

/* Fills the struct to pass to today's umad_release_port. */
void umad_port_from_2009(const struct umad_port_2009 *port, struct umad_port_now *now);

/*
 * Copies a CA, with ports of its own for callers of libibumad.so.1. @now keeps its ports; the
 * caller has to release both. Returns 0, or -ENOMEM with nothing allocated.
 */
int umad_ca_to_2007(const struct umad_ca *now, struct umad_ca *ca);

/* Frees what umad_ca_to_2007() allocated. May be called again. */
void umad_ca_release_2007(struct umad_ca *ca);

#endif
