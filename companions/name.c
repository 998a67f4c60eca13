/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The source of companions, and of stubs for the link, that have no function. Most companions load
 * today's library; libibcommon.so.1 loads none: MVAPICH 1 and MVAPICH2 of OFED 1.2 to 1.4 have the
 * name in DT_NEEDED, because libibumad.so.1 needed it, and call no function of libibcommon.
 */
