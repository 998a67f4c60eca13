/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Names functions and lines with addr2line(1): once for each address. */
#include "tools/common/common.h"
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_MS 10000	/* addr2line is slow on a gigabyte of debug information */

/*
 * addr2line prints a function and a line for each function that is inlined there, from the inside.
 * What it does not know is "??", "??:0" or "file.c:?". The compiler's discriminator is cut off.
 */
static void name_place(const char *path, struct place *place)
{
	char address[32], *text, *line;
	char *const words[] = { (char *)"addr2line", (char *)"-f", (char *)"-i", (char *)"-e",
				(char *)path, address, NULL };
	const struct aside program = { .words = words };
	int result;

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)place->offset);
	text = aside_output(&program, PATIENCE_MS, NULL, &result);
	for (char *name = strtok(text, "\n"); name && (line = strtok(NULL, "\n"));
	     name = strtok(NULL, "\n")) {
		line[strcspn(line, " ")] = '\0';
		if (!strchr(name, '?'))
			snprintf(place->symbol, sizeof(place->symbol), "%s", name);
		if (!strchr(line, '?') && !place->line[0])
			snprintf(place->line, sizeof(place->line), "%s", basename(line));
	}
	free(text);
}

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
	if (frame->module[0] == '/')
		name_place(frame->module, &known->place);
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
