/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * SHIM_EXPORT(symbol); after the definition of a function exports it under the versions that
 * symbols.tab gives. Its name in C is shim_<symbol> (shim_names.h), because libibverbs' headers
 * declare some of the symbols, and the library must not call itself.
 */
#ifndef ABI_EXPORT_H
#define ABI_EXPORT_H

/* gcc 10 accepts only one version of a symbol. */
#if defined(__has_attribute) && !(defined(__GNUC__) && __GNUC__ == 10)
#if __has_attribute(symver)
#define SHIM_HAVE_SYMVER 1
#endif
#endif

/*
 * gcc since 11 has an attribute that link-time optimisation understands. With clang and older gcc
 * the assembler attaches the versions. Before binutils 2.35 it requires a different name for every
 * version.
 */
#ifdef SHIM_HAVE_SYMVER
#define SHIM_VERSION(name, number, versioned) , symver(versioned)
#define SHIM_EXPORT(name) \
	extern __typeof__(shim_##name) shim_##name \
		__attribute__((used, visibility("default") SHIM_VERSIONS_##name))
#else
#define SHIM_VERSION(name, number, versioned) \
	__asm__(".globl shim" #number "_" #name "\n.type shim" #number "_" #name ", %function\n" \
		".set shim" #number "_" #name ", shim_" #name "\n.symver shim" #number "_" #name \
		", " versioned);
#define SHIM_EXPORT(name) SHIM_VERSIONS_##name extern __typeof__(shim_##name) shim_##name
#endif

#include <abi/shim_symver.h>

#endif
