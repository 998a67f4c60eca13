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

static void name_from(Elf *elf, Elf_Scn *section, struct place *place)
{
	Elf_Data *symbols = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!gelf_getshdr(section, &header) ||
	    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
		return;
	for (int i = 0; symbols && gelf_getsym(symbols, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

		if (!name || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    place->offset - symbol.st_value >= symbol.st_size)
			continue;
		strncpy(place->symbol, name, sizeof(place->symbol) - 1);
		/* The offset is one less than the address that the call returns to. */
		place->symbol_offset = place->offset + 1 - symbol.st_value;
		return;
	}
}

static void name_function(const char *path, struct place *place)
{
	int fd = regular_open(path);
	Elf_Scn *section = NULL;
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (!place->symbol[0] && (section = elf_nextscn(elf, section)) != NULL)
		name_from(elf, section, place);
	elf_end(elf);
	close(fd);
}

/* ---- lines ---- */

/* addr2line prints "??:0" or "file.c:?" if it does not know. A discriminator is cut off. */
static void find_line(const char *path, struct place *place)
{
	char address[32];
	char *const words[] = { (char *)"addr2line", (char *)"-e", (char *)path, address, NULL };
	const struct aside program = { .words = words };
	int result;
	char *text;

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)place->offset);
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
	struct known *known;

	for (known = known_places; known; known = known->next) {
		if (known->frame.offset == frame->offset &&
		    !strcmp(known->frame.module, frame->module))
			return &known->place;
	}
	known = need_memory(malloc(sizeof(*known)));
	*known = (struct known){ known_places, *frame, { .offset = frame->offset } };
	known_places = known;
	strcpy(known->place.module, frame->module);
	if (frame->module[0] == '/') {
		name_function(frame->module, &known->place);
		find_line(frame->module, &known->place);
	}
	text_clean(known->place.module);
	text_clean(known->place.symbol);
	text_clean(known->place.line);
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
