/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the loader's list of objects without a relocation. */

#include <elf.h>
#include <stddef.h>

#include "early.h"

/*
 * Weak, so that the linker does not add the loader to DT_NEEDED of our libraries. There the loader
 * would precede a sanitizer's runtime in the search order, but that runtime looks for the loader's
 * functions behind itself.
 */
#pragma weak _r_debug

static const char anchor = 0;
/*
 * The loader relocates this pointer. Before that it is 0, or on i386 the offset of anchor, because
 * there a relocation keeps its addend in place.
 */
static const char *const volatile relocated = &anchor;

bool early(void)
{
	return relocated != &anchor;
}

/*
 * Between the frame of such an early call and the auxiliary vector are the loader's frames, and a
 * pointer for each argument and variable. Today's Linux limits these and their strings to 6 MB. If
 * a kernel wrote the vector in another order, the scan would run over the end of the stack, which
 * is a SIGSEGV.
 */
#define SCAN_WORDS ((8u << 20) / sizeof(ElfW(Addr)))

static bool are_headers(const ElfW(auxv_t) *entry)
{
	return entry[0].a_type == AT_PHDR && entry[1].a_type == AT_PHENT &&
	       entry[1].a_un.a_val == sizeof(ElfW(Phdr)) && entry[2].a_type == AT_PHNUM;
}

/*
 * The entries of the auxiliary vector that locate the program's headers, or NULL. The kernel puts
 * the vector above the first frame of the stack, with these three entries in this order. Only the
 * loader, at start, calls code that is not relocated yet, and it runs on that stack.
 */
static const ElfW(auxv_t) *find_program_headers(void)
{
	const ElfW(Addr) *word = __builtin_frame_address(0);

	for (size_t i = 0; i < SCAN_WORDS; i++)
		if (are_headers((const ElfW(auxv_t) *)(word + i)))
			return (const ElfW(auxv_t) *)(word + i);
	return NULL;
}

static const ElfW(Dyn) *find_program_dynamic(void)
{
	const ElfW(auxv_t) *headers = find_program_headers();
	const ElfW(Phdr) *header, *end;
	ElfW(Addr) base = 0;

	if (!headers)
		return NULL;
	header = (const ElfW(Phdr) *)headers[0].a_un.a_val;
	end = header + headers[2].a_un.a_val;
	for (const ElfW(Phdr) *found = header; found < end; found++)
		if (found->p_type == PT_PHDR)
			base = (ElfW(Addr))header - found->p_vaddr;
	for (const ElfW(Phdr) *found = header; found < end; found++)
		if (found->p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(base + found->p_vaddr);
	return NULL;
}

/*
 * For debuggers, the loader stores the address of its _r_debug in the program's DT_DEBUG, before it
 * relocates anything.
 */
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
