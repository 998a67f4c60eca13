/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads the memory of a process or of its core file, and finds the files that are mapped there. */
#include "stack.h"

#include <tools/common/memory.h>
#include <tools/files/regular.h>

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void add(struct mapping **list, size_t *count, uint64_t start, uint64_t end, uint64_t offset,
		const char *path)
{
	struct mapping *mapping;

	*list = extend(*list, *count, sizeof(**list));
	mapping = &(*list)[(*count)++];
	*mapping = (struct mapping){ start, end, offset, "", -1 };
	snprintf(mapping->path, sizeof(mapping->path), "%s", path);
}

int image_of_process(pid_t process, struct image *image)
{
	char *name = format_string("/proc/%d/maps", (int)process), *line = NULL;
	unsigned long long start, end, offset;
	FILE *maps = fopen(name, "re");
	size_t size = 0;
	int err = maps ? 0 : -errno, path;

	*image = (struct image){ .process = process, .core = -1 };
	free(name);
	while (maps && getline(&line, &size, maps) > 0) {
		line[strcspn(line, "\n")] = '\0';
		path = 0;
		sscanf(line, "%llx-%llx %*s %llx %*s %*s %n", &start, &end, &offset, &path);
		if (path && line[path])
			add(&image->mappings, &image->mapping_count, start, end, offset,
			    line + path);
	}
	free(line);
	if (maps)
		fclose(maps);
	return err;
}

/* ---- core files ---- */

/* The note NT_FILE: how many, the page size, the numbers of each mapping, then its paths. */
static void take_files(struct image *image, const char *note, size_t size)
{
	const char *path, *end = note + size;
	uint64_t head[2], row[3];

	if (size < sizeof(head))
		return;
	memcpy(head, note, sizeof(head));	/* a note is aligned to 4 bytes only */
	note += sizeof(head);
	if (head[0] > (size - sizeof(head)) / sizeof(row))
		return;
	path = note + head[0] * sizeof(row);
	for (uint64_t i = 0; i < head[0] && memchr(path, 0, (size_t)(end - path)); i++) {
		memcpy(row, note + i * sizeof(row), sizeof(row));
		add(&image->mappings, &image->mapping_count, row[0], row[1], row[2] * head[1],
		    path);
		path += strlen(path) + 1;
	}
}

static void take_note(struct image *image, const GElf_Nhdr *note, const char *data)
{
	struct image_thread *thread;
	struct elf_prstatus status;

	if (note->n_type == NT_FILE)
		take_files(image, data, note->n_descsz);
	if (note->n_type != NT_PRSTATUS || note->n_descsz < sizeof(status))
		return;
	memcpy(&status, data, sizeof(status));
	image->threads = extend(image->threads, image->thread_count, sizeof(*image->threads));
	thread = &image->threads[image->thread_count++];
	thread->thread = status.pr_pid;
	memcpy(&thread->registers, &status.pr_reg, sizeof(thread->registers));
}

static void take_notes(struct image *image, Elf *elf, const GElf_Phdr *header)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header->p_offset,
					      (size_t)header->p_filesz, ELF_T_NHDR);
	size_t at = 0, next, name, content;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name, &content)) > 0) {
		take_note(image, &note, (const char *)data->d_buf + content);
		at = next;
	}
}

int image_of_core(const char *file, struct image *image)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	GElf_Phdr header;
	GElf_Ehdr head;
	Elf *elf;

	*image = (struct image){ .core = fd };
	if (fd < 0)
		return -errno;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (gelf_getehdr(elf, &head) && head.e_type == ET_CORE &&
	    gelf_getclass(elf) == ELFCLASS64) {
		for (int i = 0; gelf_getphdr(elf, i, &header); i++) {
			if (header.p_type == PT_NOTE)
				take_notes(image, elf, &header);
			else if (header.p_type == PT_LOAD)
				add(&image->parts, &image->part_count, header.p_vaddr,
				    header.p_vaddr + header.p_filesz, header.p_offset, file);
		}
	}
	elf_end(elf);
	if (!image->thread_count)
		return -ENOEXEC;
	image->process = image->threads[0].thread;
	return 0;
}

void image_close(struct image *image)
{
	for (size_t i = 0; i < image->mapping_count; i++) {
		if (image->mappings[i].fd >= 0)
			close(image->mappings[i].fd);
	}
	if (image->core >= 0)
		close(image->core);
	free(image->mappings);
	free(image->parts);
	free(image->threads);
}

/* ---- memory ---- */

static struct mapping *find(struct mapping *list, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++) {
		if (address >= list[i].start && address < list[i].end)
			return &list[i];
	}
	return NULL;
}

static bool read_file(int fd, const struct mapping *mapping, uint64_t address, void *to,
		      size_t size)
{
	return pread(fd, to, size, (off_t)(address - mapping->start + mapping->offset)) ==
	       (ssize_t)size;
}

/* The kernel leaves out of a core file what it can be read from: code and unwind tables. */
static bool read_mapped_file(const struct image *image, uint64_t address, void *to, size_t size)
{
	struct mapping *mapping = find(image->mappings, image->mapping_count, address);

	if (mapping && mapping->fd < 0)
		mapping->fd = regular_open(mapping->path);
	return mapping && mapping->fd >= 0 && read_file(mapping->fd, mapping, address, to, size);
}

bool image_read(const struct image *image, uint64_t address, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)address, size };
	const struct mapping *part = find(image->parts, image->part_count, address);

	if (image->core < 0)
		return process_vm_readv(image->process, &here, 1, &there, 1, 0) == (ssize_t)size;
	return (part && read_file(image->core, part, address, to, size)) ||
	       read_mapped_file(image, address, to, size);
}

/* The first mapping of the file at this one begins with the ELF header. */
static const struct mapping *first_of(const struct image *image, const struct mapping *mapping)
{
	const struct mapping *first = mapping;

	while (first > image->mappings && first->offset && !strcmp(first[-1].path, mapping->path))
		first--;
	return first;
}

bool image_find(const struct image *image, uint64_t address, struct image_file *file)
{
	const struct mapping *mapping = find(image->mappings, image->mapping_count, address);
	uint64_t start, first = UINT64_MAX;
	ElfW(Ehdr) head;
	ElfW(Phdr) header;

	if (!mapping || mapping->path[0] == '\0')
		return false;
	start = first_of(image, mapping)->start;
	*file = (struct image_file){ .path = mapping->path };
	if (!image_read(image, start, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG))
		return false;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		if (!image_read(image, start + head.e_phoff + i * sizeof(header), &header,
				sizeof(header)))
			return false;
		if (header.p_type == PT_LOAD && first == UINT64_MAX)
			first = header.p_vaddr - header.p_offset;
		if (header.p_type == PT_GNU_EH_FRAME)
			file->unwind_table = header.p_vaddr;
	}
	file->base = start - first;
	if (file->unwind_table)
		file->unwind_table += file->base;
	return first != UINT64_MAX;
}
