/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Companions with development names have no function of their own: they only load a library. */
