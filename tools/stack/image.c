/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opens a process or a core file by libdwfl. */
#include "image.h"

#include <tools/files/regular.h>
#include <tools/text/memory.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The process may have another root, as in a container. libdwfl reads a deleted file in memory. */
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		    char **file, Elf **elf)
{
	const struct image *image = *data;
	struct stat theirs, ours;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)image->process, name);
	if (name[0] == '/' && !stat(path, &theirs) && S_ISREG(theirs.st_mode) &&
	    (stat(name, &ours) || theirs.st_ino != ours.st_ino || theirs.st_dev != ours.st_dev)) {
		fd = regular_open(path);
		/* If the descriptor is -1 and *file is set, libdwfl opens the name itself. */
		*file = fd < 0 ? NULL : copy_string(path);
		return fd;
	}
	return dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
}

/* Only unwind tables are needed here. They are in the files themselves. */
static int no_debuginfo(Dwfl_Module *module, void **image, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **debuginfo)
{
	(void)module, (void)image, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)debuginfo;
	return -1;
}

/* Opens the file now, not while a thread is stopped. */
static int prepare(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, void *image)
{
	Dwarf_Addr bias;

	(void)name, (void)base;
	*data = image;
	dwfl_module_eh_cfi(module, &bias);
	return DWARF_CB_OK;
}

int image_of_process(pid_t process, struct image *image)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = find_elf,
						  .find_debuginfo = no_debuginfo };
	int err;

	*image = (struct image){ process, need_memory(dwfl_begin(&callbacks)), -1, NULL };
	err = dwfl_linux_proc_report(image->dwfl, process);
	dwfl_report_end(image->dwfl, NULL, NULL);
	if (!err)
		err = dwfl_linux_proc_attach(image->dwfl, process, true);
	dwfl_getmodules(image->dwfl, prepare, image, 0);
	/* A process in execve(2) has no maps, or no program. */
	return err < 0 || err == ENOEXEC ? -EAGAIN : -err;
}

int image_of_core(const char *file, struct image *image)
{
	static const Dwfl_Callbacks callbacks = { .find_elf = core_find_elf,
						  .find_debuginfo = no_debuginfo };

	*image = (struct image){ .dwfl = need_memory(dwfl_begin(&callbacks)),
				 .file = regular_open(file) };
	if (image->file < 0)
		return image->file;
	elf_version(EV_CURRENT);
	image->core = elf_begin(image->file, ELF_C_READ_MMAP, NULL);
	if (gelf_getclass(image->core) != ELFCLASS64)
		return -ENOEXEC;
	core_report(image);
	dwfl_getmodules(image->dwfl, prepare, image, 0);
	image->process = dwfl_core_file_attach(image->dwfl, image->core);
	return image->process < 0 ? -ENOEXEC : 0;
}

void image_close(struct image *image)
{
	dwfl_end(image->dwfl);
	elf_end(image->core);
	if (image->file >= 0)
		close(image->file);
}
