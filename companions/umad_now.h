/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Today's libibumad.so.3, loaded at the first call, and the age of the code that makes a call. */
#ifndef COMPANIONS_UMAD_NOW_H
#define COMPANIONS_UMAD_NOW_H

/** umad_now - the function of today's library; NULL where the machine has no libibumad.so.3. */
void *umad_now(const char *name);

/**
 * umad_caller - which libibumad the object that contains this address was linked with: 1, 2 or 3. The number of this library for an
 * object that does not say, such as a plugin.
 *
 * Other callers than those of this library's own age do come here. It is preloaded, so that its symbols also come first for programs
 * of today that the old one starts, and for calls inside libibumad.so.3.
 */
int umad_caller(const void *address);

#endif
