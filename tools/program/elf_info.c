/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Reads the ELF header and the program headers, as the kernel does, and the dynamic sections, by
 * libelf.
 */
#include "program.h"

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
		info->is_dynamic |= segment.p_type == PT_DYNAMIC;
		if (segment.p_type == PT_INTERP)
			read_interpreter(elf, &segment, info);
	}
	return true;
}

/* The last one counts, as for the loader. @address: in a PT_LOAD. */
static bool find_segment(Elf *elf, GElf_Word type, GElf_Addr address, GElf_Phdr *found)
{
	GElf_Phdr segment;
	bool any = false;

	for (int i = 0; gelf_getphdr(elf, i, &segment); i++) {
		if (segment.p_type != type ||
		    (type == PT_LOAD &&
		     (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_filesz)))
			continue;
		*found = segment;
		any = true;
	}
	return any;
}

/* Found by its address, as the loader does: a file may have no section headers. */
static Elf_Data *dynamic_segment(Elf *elf)
{
	GElf_Phdr dynamic, load;
	GElf_Xword skipped, left;

	if (!find_segment(elf, PT_DYNAMIC, 0, &dynamic) ||
	    !find_segment(elf, PT_LOAD, dynamic.p_vaddr, &load))
		return NULL;
	skipped = dynamic.p_vaddr - load.p_vaddr;
	left = load.p_filesz - skipped;
	return elf_getdata_rawchunk(elf, (int64_t)(load.p_offset + skipped),
				    (size_t)(dynamic.p_memsz < left ? dynamic.p_memsz : left),
				    ELF_T_DYN);
}

/* The contents of the first section of that kind; NULL if there is none. */
static Elf_Data *section(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;

	memset(header, 0, sizeof(*header));
	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, header) && header->sh_type == type)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

static void read_dynamic(Elf *elf, struct elf_info *info)
{
	Elf_Data *data = dynamic_segment(elf);
	GElf_Shdr header;
	GElf_Dyn entry;

	section(elf, SHT_DYNAMIC, &header);
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		info->is_program |= entry.d_tag == DT_DEBUG ||
				    (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE));
		info->is_audited |= entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT;
		if (entry.d_tag == DT_SONAME)
			info->soname =
				copy_string(elf_strptr(elf, header.sh_link, entry.d_un.d_val));
	}
}

/* ---- symbols ---- */

static void read_symbols(Elf *elf, struct elf_info *info)
{
	GElf_Shdr table;
	Elf_Data *data = section(elf, SHT_DYNSYM, &table);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, table.sh_link, symbol.st_name);
		int bind = GELF_ST_BIND(symbol.st_info);

		if (!name || !name[0] || bind == STB_LOCAL)
			continue;
		if (symbol.st_shndx != SHN_UNDEF)
			string_list_add(&info->export, name);
		else
			string_list_add(bind == STB_WEAK ? &info->weak_import : &info->import,
					name);
	}
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
	read_dynamic(elf, info);
	read_symbols(elf, info);
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

bool elf_info_imports(const struct elf_info *info, const char *name)
{
	return string_list_has(&info->import, name) || string_list_has(&info->weak_import, name);
}

/* ---- kinds ---- */

/* ld.so has no interpreter either, but it honours LD_PRELOAD for the program that it starts. */
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
