/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Companions that are only a name have no function of their own: they only load a library.
 * libibcommon.so.1 does not even do that. MVAPICH 1 and MVAPICH2 of OFED 1.2 to 1.4 have it in
 * DT_NEEDED, because libibumad.so.1 was linked with it. They call none of its functions.
 */
