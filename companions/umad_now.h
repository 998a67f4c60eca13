/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Today's libibumad.so.3, which is loaded at the first call, and the libibumad that the caller was
 * linked with.
 */
#ifndef COMPANIONS_UMAD_NOW_H
#define COMPANIONS_UMAD_NOW_H

/* Returns a function of today's library; NULL where the machine has no libibumad.so.3. */
void *umad_now(const char *name);

/*
 * Returns which libibumad the object that contains this address was linked with: 1, 2 or 3. An
 * object that was linked with none, such as a plugin, counts as linked with the program's
 * libibumad, or else with this library.
 *
 * Objects of another age call these functions, too. This library is preloaded, so its symbols come
 * first also in programs of today that the old program starts, and for calls inside libibumad.so.3.
 */
int umad_caller(const void *address);

#endif
