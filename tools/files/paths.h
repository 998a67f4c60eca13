/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Where this installation's own files are: relative to the running command first, then where they
 * were installed. So a build tree, a moved prefix and a package all work without settings.
 */
#ifndef TOOLS_PATHS_H
#define TOOLS_PATHS_H

#include "elf_info.h"

/*
 * Our library for programs of @bits, or NULL. @in_build: its place in a build directory. That is
 * called NAME for 64 bits, NAME-i386 for 32.
 */
const char *paths_library(int bits, const char *in_build);

/*
 * *path gets $XRC_COMPAT_LIBRARY, made absolute, or else the libxrc-compat.so.1 for programs of
 * @bits. If there is no library of that word size, *path gets the native one, which cannot be
 * loaded. @elf gets the library's headers. Returns why the library cannot be preloaded, or NULL.
 */
const char *paths_shim(int bits, const char **path, struct elf_info *elf);

/* The softhca command, or NULL. */
const char *paths_softhca(void);

/* A program of ours that no user starts by name, or NULL. @in_build: its place below tools/. */
const char *paths_helper(const char *in_build);

/* Absolute path of the running command; NULL without /proc, where main() runs no command. */
const char *paths_self(void);

#endif
