/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the ELF and program headers, as the kernel does, and the dynamic sections, by libelf. */
#include "elf_info.h"
#include "regular.h"

#include <tools/text/memory.h>
#include <tools/text/text.h>

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

/* ---- program headers ---- */

/* Finds the dynamic section by its segment: a file may have no section headers. */
static void read_dynamic(Elf *elf, const GElf_Phdr *segment, struct elf_info *info)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset,
					      (size_t)segment->p_filesz, ELF_T_DYN);
	GElf_Dyn entry;

	info->is_library = true;
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		/* No shared library has these. */
		if (entry.d_tag == DT_DEBUG ||
		    (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE)))
			info->is_library = false;
		info->is_audited |= entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT;
	}
}

/*
 * False if headers are missing or damaged, or the file ends before its segments do. The kernel
 * starts a program that was cut off so, and it dies at the missing page.
 */
static bool read_segments(Elf *elf, struct elf_info *info)
{
	size_t count = 0, size = 0;
	const char *image = elf_rawfile(elf, &size);
	GElf_Phdr segment;

	if (!image || elf_getphdrnum(elf, &count) || !count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment))
			return false;
		if (segment.p_type == PT_LOAD &&
		    (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
			return false;
		if (segment.p_type == PT_LOAD && info->mapped < segment.p_offset + segment.p_filesz)
			info->mapped = (size_t)(segment.p_offset + segment.p_filesz);
		if (segment.p_type == PT_DYNAMIC)
			read_dynamic(elf, &segment, info);
		/* The kernel takes the first. */
		if (segment.p_type != PT_INTERP || info->interpreter)
			continue;
		/* In a damaged file the string has no end. */
		if (segment.p_offset >= size ||
		    !memchr(image + segment.p_offset, '\0', size - (size_t)segment.p_offset))
			return false;
		info->interpreter = copy_string(image + segment.p_offset);
	}
	info->is_library &= !info->interpreter;
	info->is_static = !info->interpreter && !info->is_library;
	return true;
}

/* ---- the file ---- */

static int read_elf(Elf *elf, struct elf_info *info)
{
	GElf_Ehdr header;

	if (elf_kind(elf) != ELF_K_ELF)
		return -ENOEXEC;
	if (!gelf_getehdr(elf, &header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
	    !read_segments(elf, info))
		return -ELIBBAD;
	info->bits = gelf_getclass(elf) == ELFCLASS32 ? 32 : 64;
	info->machine = header.e_machine;
	info->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
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
		memset(info, 0, sizeof(*info));
	elf_end(elf);
	close(fd);
	return result;
}

bool elf_info_names(const struct elf_info *info, const char *path, const char *name)
{
	return regular_has_bytes(path, info->mapped, name, strlen(name) + 1);
}

/* Ignores the program's PT_INTERP: the command would run any file that PT_INTERP names. */
const char *elf_info_loader(const struct elf_info *info)
{
	static const struct {
		unsigned int machine;
		int bits;
		const char *path;
	} loaders[] = {
#if defined(__x86_64__) || defined(__i386__)
		{ EM_X86_64, 64, "/lib64/ld-linux-x86-64.so.2" },
		{ EM_386, 32, "/lib/ld-linux.so.2" },
#elif defined(__aarch64__)
		{ EM_AARCH64, 64, "/lib/ld-linux-aarch64.so.1" },
#endif
	};

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
		if (loaders[i].machine == info->machine && loaders[i].bits == info->bits &&
		    !info->big_endian)
			return loaders[i].path;
	}
	return NULL;
}

bool elf_info_is_of_other_libc(const struct elf_info *info)
{
	return info->interpreter &&
	       text_matches(basename(info->interpreter), "@(ld-musl-|ld-uClibc|linker)*");
}

/* Today's machines, and those of OFED 1.x. */
const char *elf_info_machine_name(const struct elf_info *info)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {
		{ EM_X86_64, "x86-64" }, { EM_386, "i386" },   { EM_AARCH64, "aarch64" },
		{ EM_PPC64, "ppc64" },	 { EM_PPC, "ppc" },    { EM_IA_64, "ia64" },
	};
	const char *order = info->big_endian ? ", big-endian" : "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == info->machine)
			return format_string("%s%s", names[i].name, order);
	}
	return format_string("machine %u%s", info->machine, order);
}
