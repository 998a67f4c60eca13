/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * SHIM_EXPORT(symbol); after the definition of a function exports it under the versions that symbols.tab gives. In C it is
 * shim_<symbol> (shim_names.h), for libibverbs' headers declare some of the names, and the library must not call itself.
 */
#ifndef ABI_EXPORT_H
#define ABI_EXPORT_H

/* gcc 10 takes one version of a symbol only. */
#if defined(__has_attribute) && !(defined(__GNUC__) && __GNUC__ == 10)
#if __has_attribute(symver)
#define SHIM_HAVE_SYMVER 1
#endif
#endif

/*
 * gcc from 11 on has an attribute that link-time optimisation understands; clang and older gcc tell the assembler, which before
 * binutils 2.35 wants a name of its own for every version.
 */
#ifdef SHIM_HAVE_SYMVER
#define SHIM_VERSION(name, number, versioned) , symver(versioned)
#define SHIM_EXPORT(name) \
	extern __typeof__(shim_##name) shim_##name __attribute__((used, visibility("default") SHIM_VERSIONS_##name))
#else
#define SHIM_VERSION(name, number, versioned) \
	__asm__(".globl shim" #number "_" #name "\n.type shim" #number "_" #name ", %function\n" \
		".set shim" #number "_" #name ", shim_" #name "\n.symver shim" #number "_" #name ", " versioned);
#define SHIM_EXPORT(name) SHIM_VERSIONS_##name extern __typeof__(shim_##name) shim_##name
#endif

#include <abi/shim_symver.h>

#endif
