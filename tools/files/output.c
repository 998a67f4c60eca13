/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opens the files that commands write, each under a name that no file has yet. */
#include "output.h"
#include <tools/job/job.h>
#include <tools/text/memory.h>
#include <tools/text/message.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The text in place of %@letter; NULL: these two characters stay. */
static const char *replacement(char letter)
{
	char host[HOST_NAME_MAX + 1];
	int ranks, rank;

	switch (letter) {
	case '%':
		return "%";
	case 'p':
		return format_string("%d", (int)getpid());
	case 'h':
		return gethostname(host, sizeof(host)) ? "unknown" : copy_string(host);
	case 'r':
		rank = job_rank(&ranks);
		return rank < 0 ? "none" : format_string("%d", rank);
	default:
		return NULL;
	}
}

static const char *expand(const char *pattern)
{
	const char *name = "";

	while (*pattern) {
		const char *instead = *pattern == '%' ? replacement(pattern[1]) : NULL;

		name = instead ? format_string("%s%s", name, instead)
			       : format_string("%s%c", name, *pattern);
		pattern += instead ? 2 : 1;
	}
	return name;
}

/* What @name is; NULL: a regular file, or it has gone meanwhile. */
static const char *kind_of(const char *name)
{
	struct stat st;

	if (lstat(name, &st) || S_ISREG(st.st_mode))
		return NULL;
	return S_ISLNK(st.st_mode)    ? "a symbolic link"
	       : S_ISFIFO(st.st_mode) ? "a FIFO"
	       : S_ISDIR(st.st_mode)  ? "a directory"
				      : "a device or socket";
}

/*
 * Creates a new file, under another number while the name exists: another process may be writing
 * that file. In a directory that others can write, a link may lead to any file, and opening a FIFO
 * blocks for ever. So *kind names what exists, unless that is a regular file.
 */
static int create(const char *first, const char **name, const char **kind)
{
	int fd, number = 0;

	while ((fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0 &&
	       errno == EEXIST && !(*kind = kind_of(*name)))
		*name = format_string("%s.%d", first, ++number);
	return fd;
}

FILE *output_open(const char *pattern, const char *what, const char **name)
{
	const char *first = expand(pattern), *kind = NULL;
	int fd = !strcmp(first, "/dev/stdout")	 ? STDOUT_FILENO
		 : !strcmp(first, "/dev/stderr") ? STDERR_FILENO
						 : -1;

	*name = first;
	/* Do not reopen it: a new description starts at offset 0, over the program's output. */
	if (fd >= 0)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	else
		fd = create(first, name, &kind);
	if (kind)
		say("%s is %s; the %s goes to a new file only", *name, kind, what);
	else if (fd < 0)
		say("cannot write the %s to %s: %s", what, *name, strerror(errno));
	if (fd < 0) {
		advise("name a file in a directory of your own, or /dev/stdout for a pipe");
		return NULL;
	}
	if (*name != first)
		say("%s is there already; the %s goes to %s", first, what, *name);
	return need_memory(fdopen(fd, "w"));
}
