/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * SHIM_EXPORT(symbol): before the definition of shim_<symbol>, exports it under the versions that symbols.tab gives.
 */
#ifndef ABI_EXPORT_H
#define ABI_EXPORT_H

#ifdef __has_attribute
#if __has_attribute(symver)
#define SHIM_HAVE_SYMVER 1
#endif
#endif

/* gcc from 10 on has an attribute that link-time optimisation understands; clang and older gcc tell the assembler. */
#ifdef SHIM_HAVE_SYMVER
#define SHIM_VERSION(name, versioned) __attribute__((symver(versioned)))
#else
#define SHIM_VERSION(name, versioned) __asm__(".symver shim_" #name ", " versioned);
#endif

#define SHIM_EXPORT(name) SHIM_VERSIONS_##name __attribute__((used, visibility("default")))

#include <abi/shim_symver.h>

#endif
