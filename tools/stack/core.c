/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Names the files of a core file to libdwfl. dwfl_core_file_report() does so too, but it opens each
 * name that the core has, and a FIFO of that name blocks it for ever.
 */
#include "image.h"

#include <tools/files/regular.h>
#include <tools/text/memory.h>

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VDSO "[vdso]"

/* ---- memory ---- */

/* The loadable part of the core file that has this address. False: none has. */
static bool find_part(Elf *core, uint64_t address, GElf_Phdr *part)
{
	for (int i = 0; gelf_getphdr(core, i, part); i++) {
		if (part->p_type == PT_LOAD && address - part->p_vaddr < part->p_filesz)
			return true;
	}
	return false;
}

/* ---- notes ---- */

static void report(const struct image *image, const char *name, uint64_t start, uint64_t end)
{
	if (name && start < end)
		dwfl_report_module(image->dwfl, name, start, end);
}

/*
 * Linux, fill_files_note(): the number of mappings, the size of a page, for each mapping its start,
 * end and offset in the file, and then the names. A library has several mappings in a row.
 */
static void report_files(const struct image *image, const uint64_t *words, size_t size)
{
	size_t count = size < 2 * sizeof(*words) ? 0 : words[0];
	const char *name, *last = NULL, *end = (const char *)words + size;
	uint64_t start = 0, stop = 0;

	if (!count || count > (size / sizeof(*words) - 2) / 3)
		return;
	name = (const char *)(words + 2 + 3 * count);
	for (words += 2; count-- && memchr(name, '\0', (size_t)(end - name)); words += 3) {
		if (!words[2]) {
			report(image, last, start, stop);
			last = name;
			start = words[0];
		}
		if (last && !strcmp(last, name))
			stop = words[1];
		name += strlen(name) + 1;
	}
	report(image, last, start, stop);
}

static void report_vdso(const struct image *image, const uint64_t *words, size_t size)
{
	GElf_Phdr part;

	for (; size >= 2 * sizeof(*words); words += 2, size -= 2 * sizeof(*words)) {
		if (words[0] == AT_SYSINFO_EHDR && find_part(image->core, words[1], &part))
			report(image, VDSO, part.p_vaddr, part.p_vaddr + part.p_memsz);
	}
}

static void take_note(const struct image *image, unsigned int type, const char *bytes, size_t size)
{
	uint64_t *words = need_memory(malloc(size + 1));	/* aligned */

	memcpy(words, bytes, size);
	if (type == NT_FILE)
		report_files(image, words, size);
	else if (type == NT_AUXV)
		report_vdso(image, words, size);
	free(words);
}

void core_report(const struct image *image)
{
	GElf_Phdr part;

	for (int i = 0; gelf_getphdr(image->core, i, &part); i++) {
		Elf_Data *data = part.p_type == PT_NOTE
					 ? elf_getdata_rawchunk(image->core, (int64_t)part.p_offset,
								part.p_filesz, ELF_T_NHDR)
					 : NULL;
		size_t at = 0, next, name, text;
		GElf_Nhdr note;

		for (; data && (next = gelf_getnote(data, at, &note, &name, &text)); at = next) {
			if (note.n_namesz == sizeof("CORE") &&
			    !memcmp((char *)data->d_buf + name, "CORE", sizeof("CORE")))
				take_note(image, note.n_type, (char *)data->d_buf + text,
					  note.n_descsz);
		}
	}
	dwfl_report_end(image->dwfl, NULL, NULL);
}

/* ---- files ---- */

/* The kernel dumps the first page of each program and library. The page differs between builds. */
static bool is_same(const struct image *image, uint64_t base, int fd)
{
	char ours[4096];
	ssize_t size = pread(fd, ours, sizeof(ours), 0);
	Elf_Data *data = NULL;
	GElf_Phdr part;

	if (size > 0 && find_part(image->core, base, &part) &&
	    (size_t)size <= part.p_filesz - (base - part.p_vaddr))
		data = elf_getdata_rawchunk(image->core,
					    (int64_t)(part.p_offset + base - part.p_vaddr),
					    (size_t)size, ELF_T_BYTE);
	return size > 0 && (!data || !memcmp(ours, data->d_buf, (size_t)size));
}

int core_find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **file,
		  Elf **elf)
{
	const struct image *image = *data;
	Elf_Data *vdso = NULL;
	GElf_Phdr part;
	int fd;

	(void)module;
	if (!strcmp(name, VDSO) && find_part(image->core, base, &part))
		vdso = elf_getdata_rawchunk(image->core, (int64_t)part.p_offset, part.p_filesz,
					    ELF_T_BYTE);
	if (vdso)
		*elf = elf_memory(vdso->d_buf, vdso->d_size);
	fd = name[0] == '/' ? regular_open(name) : -1;
	if (fd < 0)
		return -1;
	if (!is_same(image, base, fd)) {
		close(fd);
		return -1;
	}
	*file = copy_string(name);
	return fd;
}
