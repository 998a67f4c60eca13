/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Reads the ELF header and the program headers, as the kernel does, and the dynamic sections, by
 * libelf.
 */
#include "elf_info.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

/* ---- program headers ---- */

static void read_interpreter(Elf *elf, const GElf_Phdr *segment, struct elf_info *info)
{
	size_t size = 0;
	const char *image = elf_rawfile(elf, &size);

	/* The kernel takes the first PT_INTERP. A damaged file may have a string without an end. */
	if (info->has_interpreter)
		return;
	info->has_interpreter = true;
	if (image && segment->p_offset < size &&
	    memchr(image + segment->p_offset, '\0', size - (size_t)segment->p_offset))
		info->interpreter = copy_string(image + segment->p_offset);
}

/* The segment says where it is: a file may have no section headers. */
static void read_dynamic(Elf *elf, const GElf_Phdr *segment, struct elf_info *info)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset,
					      (size_t)segment->p_filesz, ELF_T_DYN);
	GElf_Dyn entry;

	info->is_dynamic = true;
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		info->is_program |= entry.d_tag == DT_DEBUG ||
				    (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE));
		info->is_audited |= entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT;
	}
}

/*
 * False if the file ends before its segments do. The kernel starts such a program, and it dies at
 * the missing page.
 */
static bool read_segments(Elf *elf, struct elf_info *info)
{
	size_t count = 0, size = 0;
	GElf_Phdr segment;

	if (!elf_rawfile(elf, &size) || elf_getphdrnum(elf, &count) || !count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment))
			return false;
		if (segment.p_type == PT_LOAD &&
		    (segment.p_offset > size || segment.p_filesz > size - segment.p_offset))
			return false;
		if (segment.p_type == PT_LOAD && info->mapped < segment.p_offset + segment.p_filesz)
			info->mapped = segment.p_offset + segment.p_filesz;
		if (segment.p_type == PT_DYNAMIC)
			read_dynamic(elf, &segment, info);
		if (segment.p_type == PT_INTERP)
			read_interpreter(elf, &segment, info);
	}
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
	info->has_sections = header.e_shoff != 0;
	return 0;
}

/* ld.so honours LD_PRELOAD for the program that it starts. */
static bool is_loader(const char *path)
{
	const char *name = basename(path);

	return !strncmp(name, "ld-", 3) || !strncmp(name, "ld.so", 5) ||
	       !strncmp(name, "ld64.so", 7);
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
	if (result) {
		memset(info, 0, sizeof(*info));
	} else if (!info->has_interpreter && is_loader(path)) {
		/* It serves itself. */
		info->has_interpreter = true;
		info->interpreter = copy_string(path);
	}
	elf_end(elf);
	close(fd);
	return result;
}

bool elf_info_names(const struct elf_info *info, const char *path, const char *name)
{
	return regular_has_bytes(path, info->mapped, name, strlen(name) + 1);
}

/* ---- kinds ---- */

bool elf_info_is_library(const struct elf_info *info)
{
	return info->is_dynamic && !info->has_interpreter && !info->is_program;
}

bool elf_info_is_static(const struct elf_info *info)
{
	return !info->has_interpreter && !elf_info_is_library(info);
}

const char *elf_info_machine_name(const struct elf_info *info)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {
		{ EM_X86_64, "x86-64" }, { EM_386, "i386" }, { EM_AARCH64, "aarch64" },
		{ EM_ARM, "arm" }, { EM_PPC64, "ppc64" }, { EM_PPC, "ppc" }, { EM_IA_64, "ia64" },
		{ EM_S390, "s390" }, { EM_RISCV, "riscv" }, { EM_SPARCV9, "sparc64" },
		{ EM_SPARC, "sparc" }, { EM_MIPS, "mips" }, { EM_ALPHA, "alpha" },
		{ EM_PARISC, "hppa" },
	};
	const char *order = info->big_endian ? ", big-endian" : "";

	if (info->machine == EM_X86_64 && info->bits == 32)
		return "x32";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].machine == info->machine)
			return format_string("%s%s", names[i].name, order);
	}
	return format_string("machine %u%s", info->machine, order);
}
