/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Names functions from the symbol table of a file. */
#include "symbol_name.h"
#include "tools/program/regular.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A program calls from few places, again and again. */
struct known {
	struct known *next;
	struct trace_frame frame;
};

static struct known *known_frames;

static bool is_of(const GElf_Sym *symbol, uint64_t address)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_FUNC && address >= symbol->st_value &&
	       address - symbol->st_value < symbol->st_size;
}

static bool name_from(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct trace_frame *frame)
{
	Elf_Data *symbols = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; symbols && gelf_getsym(symbols, i, &symbol); i++) {
		const char *name = is_of(&symbol, frame->offset) ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;

		if (!name)
			continue;
		strncpy(frame->symbol, name, sizeof(frame->symbol) - 1);
		/* offset is one less than the address that the call returns to. */
		frame->symbol_offset = frame->offset + 1 - symbol.st_value;
		return true;
	}
	return false;
}

static void look_up(struct trace_frame *frame)
{
	int fd = regular_open(frame->module);
	Elf *elf = fd < 0 || elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	bool found = false;
	GElf_Shdr header;

	while (elf && !found && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			found = name_from(elf, section, &header, frame);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static void remember(const struct trace_frame *frame)
{
	struct known *known = calloc(1, sizeof(*known));

	if (!known)
		return;
	known->frame = *frame;
	known->next = known_frames;
	known_frames = known;
}

void symbol_name(struct trace_frame *frame)
{
	if (frame->symbol[0] || frame->module[0] != '/')
		return;
	for (const struct known *known = known_frames; known; known = known->next) {
		if (known->frame.offset == frame->offset && !strcmp(known->frame.module, frame->module)) {
			*frame = known->frame;
			return;
		}
	}
	look_up(frame);
	remember(frame);
}
