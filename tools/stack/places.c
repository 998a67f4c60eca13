/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Names functions and lines with addr2line(1): once for each address. */
#include "stack.h"

#include <tools/aside/aside.h>
#include <tools/files/elf_info.h>
#include <tools/files/regular.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 10000	/* addr2line is slow on a gigabyte of debug information */

static struct place *new_place(const char *module, uint64_t offset)
{
	struct place *place = need_memory(malloc(sizeof(*place)));

	*place = (struct place){ copy_string(module), offset, "", "", NULL, NULL };
	return place;
}

/* Takes the symbol at the address, or the last one before it. */
static void take_nearest(Elf *elf, Elf_Scn *section, uint64_t offset, GElf_Sym *nearest)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	GElf_Sym symbol;

	for (size_t i = 0; data && size && i < data->d_size / size; i++) {
		if (gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx != SHN_UNDEF &&
		    symbol.st_value <= offset && symbol.st_value >= nearest->st_value)
			*nearest = symbol;
	}
}

/* Whether the nearest symbol extends to the address. One of assembly language may have no size. */
static bool is_in_symbol(const char *module, uint64_t offset)
{
	int fd = regular_open(module);
	Elf *elf = elf_version(EV_CURRENT) ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	Elf_Scn *section = NULL;
	GElf_Sym nearest = { .st_size = 1 };
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			take_nearest(elf, section, offset, &nearest);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	return !nearest.st_size || offset - nearest.st_value < nearest.st_size;
}

/* addr2line prints a function and a line, from the inside, for each that is inlined there. */
static struct place *read_places(const char *module, uint64_t offset)
{
	struct place *innermost = new_place(module, offset), **end = &innermost;
	char address[32], *text, *function, *line, *extra;
	char *const words[] = { (char *)"addr2line", (char *)"-f", (char *)"-i", (char *)"-e",
				(char *)module, address, NULL };
	const struct aside program = { .words = words };
	struct aside_result result;
	struct elf_info info;

	/* addr2line would wait for the writer of a FIFO. */
	if (module[0] != '/' || elf_info_read(module, &info))
		return innermost;
	unsetenv("DEBUGINFOD_URLS");	/* it would download files that are not here */
	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)offset);
	text = aside_output(&program, PATIENCE_MS, &result);
	for (function = strtok(text, "\n"); function && (line = strtok(NULL, "\n"));
	     function = strtok(NULL, "\n")) {
		if ((extra = strstr(line, " (discriminator")))
			*extra = '\0';
		if (!*end)
			*end = new_place(module, offset);
		/* addr2line writes "??", "??:0" or "file.c:?" for a name that it does not know. */
		(*end)->symbol = strchr(function, '?') ? "" : copy_string(function);
		(*end)->line = strchr(line, '?') ? "" : copy_string(basename(line));
		end = &(*end)->outer;
	}
	free(text);
	/* In a file without static symbols addr2line names the exported function before. */
	if (!innermost->line[0] && !is_in_symbol(module, offset))
		innermost->symbol = "";
	return innermost;
}

/* A program calls from a few places many times. */
const struct place *place_of(const char *module, uint64_t offset)
{
	static struct place *places;
	struct place *place;

	for (place = places; place; place = place->next) {
		if (place->offset == offset && !strcmp(place->module, module))
			return place;
	}
	place = read_places(module, offset);
	place->next = places;
	places = place;
	return place;
}

void place_print_all(FILE *out, const char *indent, const struct place *place, unsigned int *number)
{
	for (; place; place = place->outer) {
		print_text(out, "%s#%u ", indent, (*number)++);
		place_print(out, place);
	}
}

void place_print(FILE *out, const struct place *place)
{
	print_text(out, "%s (%s%s%s+%#llx)\n", place->symbol[0] ? place->symbol : "?", place->line,
		   place->line[0] ? ", " : "", basename(place->module),
		   (unsigned long long)place->offset);
}
