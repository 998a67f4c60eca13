/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the ELF header, the program headers and the dynamic segment; the symbols are read in elf_imports.c. */
#include "elf_info.h"
#include "elf_imports.h"
#include "regular.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads PT_INTERP, and notes whether there is a dynamic segment at all. */
static void read_segments(Elf *elf, struct elf_info *info)
{
	size_t count = 0;
	size_t size = 0;
	const char *image = elf_rawfile(elf, &size);

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment))
			continue;
		if (segment.p_type == PT_DYNAMIC)
			info->is_dynamic = true;
		/* Of several the kernel takes the first. */
		if (segment.p_type != PT_INTERP || info->has_interpreter)
			continue;
		info->has_interpreter = true;
		/* The string must end inside the file: these files come from anywhere. */
		if (image && segment.p_offset < size && memchr(image + segment.p_offset, '\0', size - (size_t)segment.p_offset))
			info->interpreter = copy_string(image + segment.p_offset);
	}
}

static void read_dynamic_entry(const GElf_Dyn *entry, const char *text, struct elf_info *info)
{
	switch (entry->d_tag) {
	case DT_NEEDED:
		if (text)
			string_list_add(&info->needed, text);
		break;
	case DT_SONAME:
		info->soname = info->soname ? info->soname : copy_string(text);
		break;
	case DT_RPATH:
		info->rpath = info->rpath ? info->rpath : copy_string(text);
		break;
	case DT_RUNPATH:
		info->runpath = info->runpath ? info->runpath : copy_string(text);
		break;
	case DT_BIND_NOW:
		info->bind_now = true;
		break;
	case DT_FLAGS:
		info->bind_now |= (entry->d_un.d_val & DF_BIND_NOW) != 0;
		break;
	case DT_FLAGS_1:
		info->bind_now |= (entry->d_un.d_val & DF_1_NOW) != 0;
		info->is_program |= (entry->d_un.d_val & DF_1_PIE) != 0;
		break;
	case DT_DEBUG:
		info->is_program = true;
		break;
	default:
		break;
	}
}

static bool names_a_string(const GElf_Dyn *entry)
{
	return entry->d_tag == DT_NEEDED || entry->d_tag == DT_SONAME || entry->d_tag == DT_RPATH ||
	       entry->d_tag == DT_RUNPATH;
}

static void read_dynamic(const struct elf_dynamic *dynamic, struct elf_info *info)
{
	GElf_Dyn entry;

	for (int i = 0; dynamic->entries && gelf_getdyn(dynamic->entries, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *text = NULL;

		if (names_a_string(&entry))
			text = elf_dynamic_string(dynamic, entry.d_un.d_val);
		read_dynamic_entry(&entry, text, info);
	}
	elf_imports_read(dynamic, info);
}

/* False when the file ends before its segments do. The kernel starts such a program, which then dies at the missing page. */
static bool is_whole(Elf *elf)
{
	size_t count = 0, size = 0;

	if (!elf_rawfile(elf, &size) || elf_getphdrnum(elf, &count) || !count)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment))
			return false;
		if (segment.p_type == PT_LOAD && (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
			return false;
	}
	return true;
}

static int read_elf(Elf *elf, struct elf_info *info)
{
	struct elf_dynamic dynamic;
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF)
		return -ENOEXEC;
	if (!gelf_getehdr(elf, &header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN) || !is_whole(elf) ||
	    !elf_dynamic_read(elf, &dynamic))
		return -ELIBBAD;
	info->bits = gelf_getclass(elf) == ELFCLASS32 ? 32 : 64;
	info->machine = header.e_machine;
	info->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
	info->has_sections = header.e_shoff != 0;
	read_segments(elf, info);
	read_dynamic(&dynamic, info);
	return 0;
}

int elf_info_read(const char *path, struct elf_info *info)
{
	int fd = regular_open(path);
	int result;
	Elf *elf;

	memset(info, 0, sizeof(*info));
	if (fd < 0)
		return fd;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	result = elf ? read_elf(elf, info) : -ENOEXEC;
	if (result)
		elf_info_free(info);
	elf_end(elf);
	close(fd);
	return result;
}

void elf_info_free(struct elf_info *info)
{
	free(info->interpreter);
	free(info->soname);
	free(info->rpath);
	free(info->runpath);
	string_list_free(&info->needed);
	elf_imports_free(info);
	memset(info, 0, sizeof(*info));
}

/* ld.so has no interpreter either, but honours LD_PRELOAD for the program it is given. */
static bool is_loader(const struct elf_info *info)
{
	static const char *const names[] = { "ld-", "ld.so", "ld64.so" };

	for (size_t i = 0; info->soname && i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(info->soname, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

bool elf_info_is_library(const struct elf_info *info)
{
	return info->is_dynamic && !info->has_interpreter && !info->is_program && !is_loader(info);
}

bool elf_info_is_static(const struct elf_info *info)
{
	return !info->has_interpreter && !elf_info_is_library(info) && !is_loader(info);
}

const char *elf_info_machine_name(const struct elf_info *info)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = { { EM_X86_64, "x86-64" }, { EM_386, "i386" }, { EM_AARCH64, "aarch64" }, { EM_ARM, "arm" }, { EM_PPC64, "ppc64" },
		      { EM_PPC, "ppc" }, { EM_IA_64, "ia64" }, { EM_S390, "s390" }, { EM_RISCV, "riscv" }, { EM_SPARCV9, "sparc64" },
		      { EM_SPARC, "sparc" }, { EM_MIPS, "mips" }, { EM_ALPHA, "alpha" }, { EM_PARISC, "hppa" } };
	static char text[48];
	const char *order = info->big_endian ? ", big-endian" : "";

	snprintf(text, sizeof(text), "machine %u%s", info->machine, order);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == info->machine)
			snprintf(text, sizeof(text), "%s%s", names[i].name, order);
	}
	if (info->machine == EM_X86_64 && info->bits == 32)
		return "x32";
	return text;
}
