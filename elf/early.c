/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the loader's list of objects without a relocation. */

#include <elf.h>
#include <stddef.h>

#include "early.h"

/*
 * Weak, so that no library of ours lists the loader in DT_NEEDED. Else the loader would come before
 * a sanitizer's runtime in the search order, and that runtime looks for the loader's functions
 * behind itself.
 */
#pragma weak _r_debug

static const char anchor = 0;
/*
 * The loader relocates this pointer. Before that it is 0, or an offset where the addend is in place
 * (i386).
 */
static const char *const volatile relocated = &anchor;

bool early(void)
{
	return relocated != &anchor;
}

/*
 * Finds where the auxiliary vector tells the program headers of the program. The kernel puts that
 * vector above the first frame of the stack, with these entries in this order. Only the loader, at
 * start, calls code that is not relocated yet, and it runs on that stack.
 */
static const ElfW(auxv_t) *find_program_headers(void)
{
	const ElfW(auxv_t) *entry = __builtin_frame_address(0);

	while (entry[0].a_type != AT_PHDR || entry[1].a_type != AT_PHENT ||
	       entry[1].a_un.a_val != sizeof(ElfW(Phdr)) || entry[2].a_type != AT_PHNUM)
		entry = (const ElfW(auxv_t) *)((const ElfW(Addr) *)entry + 1);
	return entry;
}

static const ElfW(Dyn) *find_program_dynamic(void)
{
	const ElfW(auxv_t) *headers = find_program_headers();
	const ElfW(Phdr) *header = (const ElfW(Phdr) *)headers[0].a_un.a_val;
	const ElfW(Phdr) *end = header + headers[2].a_un.a_val;
	ElfW(Addr) base = 0;

	for (const ElfW(Phdr) *found = header; found < end; found++)
		if (found->p_type == PT_PHDR)
			base = (ElfW(Addr))header - found->p_vaddr;
	for (const ElfW(Phdr) *found = header; found < end; found++)
		if (found->p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(base + found->p_vaddr);
	return NULL;
}

/* The loader stores its address in DT_DEBUG for debuggers, before it relocates anything. */
static const struct r_debug *find_debug(void)
{
	const ElfW(Dyn) *entry = find_program_dynamic();

	while (entry && entry->d_tag != DT_NULL && entry->d_tag != DT_DEBUG)
		entry++;
	return entry && entry->d_tag == DT_DEBUG ? (const struct r_debug *)entry->d_un.d_ptr : NULL;
}

const struct link_map *early_objects(void)
{
	const struct r_debug *debug = early() ? find_debug() : &_r_debug;

	return debug ? debug->r_map : NULL;
}
