/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The ELF reader on real files (this very program, its loader). Damaged ones are for "tools fuzz".
 */
#include <tools/program/program.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"

static struct elf_info read_self(void)
{
	struct elf_info info;

	assert_int_equal(elf_info_read("/proc/self/exe", &info), 0);
	return info;
}

TEST(reads_this_program)
{
	struct elf_info info = read_self();

	assert_int_equal(info.bits, 8 * sizeof(void *));
	assert_true(info.has_interpreter);
	assert_true(info.is_dynamic);
	assert_non_null(info.interpreter);
	assert_int_equal(access(info.interpreter, X_OK), 0);
	assert_null(info.soname);
	assert_false(elf_info_is_static(&info));
}

TEST(reads_imports_with_their_versions)
{
	struct elf_info info = read_self();
	const struct elf_import *import = elf_info_find_import(&info, "elf_begin");

	assert_non_null(import);
	assert_string_equal(import->version, "ELFUTILS_1.0");
	assert_false(import->weak);
	assert_null(elf_info_find_import(&info, "main"));
}

TEST(a_loader_is_not_a_static_program)
{
	struct elf_info self = read_self();
	struct elf_info loader;

	assert_int_equal(elf_info_read(self.interpreter, &loader), 0);
	assert_false(loader.has_interpreter);
	assert_false(elf_info_is_static(&loader));
}

TEST(says_what_open_said)
{
	struct elf_info info;

	assert_int_equal(elf_info_read("/nonexistent", &info), -ENOENT);
	assert_int_equal(elf_info_read("/proc/self/maps", &info), -ENOEXEC);
	assert_int_equal(elf_info_read("/dev/null", &info), -EACCES); /* as execve() has it */
	assert_int_equal(elf_info_read("/", &info), -EACCES);
}

/* This program as bytes; the caller frees. */
static unsigned char *load_self(size_t *size)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	unsigned char *bytes;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	bytes = malloc(*size);
	assert_non_null(bytes);
	assert_int_equal(read(fd, bytes, *size), st.st_size);
	close(fd);
	return bytes;
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

/* What the reader says of a file with these bytes. */
static int read_bytes(const unsigned char *bytes, size_t size, struct elf_info *info)
{
	char path[] = "/tmp/test_elf_info.XXXXXX";
	int fd = mkstemp(path);
	int result;

	assert_true(fd >= 0);
	close(fd);
	write_file(path, bytes, size);
	result = elf_info_read(path, info);
	unlink(path);
	return result;
}

/*
 * As sstrip(1) leaves a program: the loader needs no section headers, and most programs do not
 * change when they have none.
 */
static void remove_section_headers(unsigned char *bytes)
{
	ElfW(Ehdr) *header = (ElfW(Ehdr) *)bytes;

	header->e_shoff = 0;
	header->e_shnum = 0;
	header->e_shstrndx = 0;
}

TEST(reads_the_interpreter_without_section_headers)
{
	struct elf_info self = read_self(), stripped;
	size_t size;
	unsigned char *bytes = load_self(&size);

	remove_section_headers(bytes);
	assert_int_equal(read_bytes(bytes, size, &stripped), 0);
	assert_true(self.has_sections);
	assert_false(stripped.has_sections);
	assert_string_equal(stripped.interpreter, self.interpreter);
	assert_true(stripped.is_program);
	assert_false(elf_info_is_static(&stripped));
	assert_int_equal(stripped.import_count, 0);
	free(bytes);
}

static ElfW(Phdr) *find_segment(unsigned char *bytes, ElfW(Word) type)
{
	ElfW(Ehdr) *header = (ElfW(Ehdr) *)bytes;
	ElfW(Phdr) *segments = (ElfW(Phdr) *)(bytes + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == type)
			return &segments[i];
	}
	fail();
	return NULL;
}

TEST(of_several_loaders_the_first_counts)
{
	struct elf_info self = read_self(), info;
	size_t size;
	unsigned char *bytes = load_self(&size);

	find_segment(bytes, PT_GNU_STACK)->p_type = PT_INTERP;
	assert_int_equal(read_bytes(bytes, size, &info), 0);
	assert_string_equal(info.interpreter, self.interpreter);
	free(bytes);
}

TEST(names_machines)
{
	struct elf_info info = { .bits = 64, .machine = EM_X86_64 };

	assert_string_equal(elf_info_machine_name(&info), "x86-64");
	info.bits = 32;
	assert_string_equal(elf_info_machine_name(&info), "x32");
	info.machine = EM_386;
	assert_string_equal(elf_info_machine_name(&info), "i386");
	info.machine = 4711;
	assert_string_equal(elf_info_machine_name(&info), "machine 4711");
	info = (struct elf_info){ .bits = 64, .machine = EM_PPC64, .big_endian = true };
	assert_string_equal(elf_info_machine_name(&info), "ppc64, big-endian");
}

UNIT_MAIN(NULL, NULL, UNIT(reads_this_program), UNIT(reads_imports_with_their_versions),
	  UNIT(a_loader_is_not_a_static_program), UNIT(says_what_open_said),
	  UNIT(reads_the_interpreter_without_section_headers),
	  UNIT(of_several_loaders_the_first_counts), UNIT(names_machines))
