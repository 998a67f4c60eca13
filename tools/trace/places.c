/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Names functions from symbol tables, and lines with addr2line(1): once for each address. */
#include "tools/common/common.h"
#include "tools/program/program.h"
#include "trace.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 10000	/* addr2line is slow on a gigabyte of debug information */

/* ---- functions ---- */

static bool name_from(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t offset,
		      struct place *place)
{
	Elf_Data *symbols = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; symbols && gelf_getsym(symbols, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    offset - symbol.st_value >= symbol.st_size)
			continue;
		strncpy(place->symbol, name, sizeof(place->symbol) - 1);
		/* offset is one less than the address that the call returns to. */
		place->symbol_offset = offset + 1 - symbol.st_value;
		return true;
	}
	return false;
}

static void name_function(const struct trace_frame *frame, struct place *place)
{
	int fd = regular_open(frame->module);
	Elf *elf = fd < 0 || elf_version(EV_CURRENT) == EV_NONE ? NULL
								: elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	bool found = false;
	GElf_Shdr header;

	while (elf && !found && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			found = name_from(elf, section, &header, frame->offset, place);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

/* ---- lines ---- */

/* addr2line prints "??:0" or "file.c:?" if it does not know. A discriminator is cut off. */
static void find_line(const struct trace_frame *frame, struct place *place)
{
	char address[32];
	char *const words[] = { (char *)"addr2line", (char *)"-e", (char *)frame->module, address,
				NULL };
	const struct aside program = { .words = words };
	int result;
	char *text;

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)frame->offset);
	text = aside_output(&program, PATIENCE_MS, NULL, &result);
	text[strcspn(text, " \n")] = '\0';
	if (!strchr(text, '?'))
		snprintf(place->line, sizeof(place->line), "%s", basename(text));
	free(text);
}

/* ---- both ---- */

/* A program calls from a few places many times. */
const struct place *place_of(const struct trace_frame *frame)
{
	static struct known {
		struct known *next;
		struct trace_frame frame;
		struct place place;
	} *known_places;
	struct known *known = known_places;

	while (known && (known->frame.offset != frame->offset ||
			 strcmp(known->frame.module, frame->module) != 0))
		known = known->next;
	if (known)
		return &known->place;
	known = need_memory(calloc(1, sizeof(*known)));
	known->frame = *frame;
	strcpy(known->place.module, frame->module);
	text_clean(known->place.module);
	known->next = known_places;
	known_places = known;
	if (frame->module[0] == '/') {
		name_function(frame, &known->place);
		text_clean(known->place.symbol);
		find_line(frame, &known->place);
		text_clean(known->place.line);
	}
	return &known->place;
}

bool place_is_of_program(const struct trace_frame *frame)
{
	static const char *const others[] = {
		"libc.so.", "libc-2.", "libpthread", "libxrc-trace.so", "libxrc-compat.so",
	};
	const char *name = basename(frame->module);

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strncmp(name, others[i], strlen(others[i])))
			return false;
	}
	return strcmp(place_of(frame)->symbol, "_start") != 0;
}
