/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opens the files that commands write, each under a name that no file has yet. */
#include "output.h"
#include "job.h"
#include "memory.h"
#include "message.h"

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

/* The descriptor of a standard stream that is named as a file; -1: the name is another one. */
static int standard_stream(const char *name)
{
	return !strcmp(name, "/dev/stdout")   ? STDOUT_FILENO
	       : !strcmp(name, "/dev/stderr") ? STDERR_FILENO
					      : -1;
}

/* Opens no regular file that is there already: another process may be writing that file. */
static int claim(const char *name)
{
	int fd = standard_stream(name);
	struct stat st;

	/* Opened anew, a file would be written from its beginning, over what the program writes. */
	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (!stat(name, &st) && !S_ISREG(st.st_mode))
		return open(name, O_WRONLY | O_CLOEXEC);
	return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

FILE *output_open(const char *pattern, const char *what, const char **name)
{
	const char *first = expand(pattern);
	FILE *file = NULL;
	int fd;

	*name = first;
	for (int number = 1; (fd = claim(*name)) < 0 && errno == EEXIST; number++)
		*name = format_string("%s.%d", first, number);
	if (fd >= 0)
		file = fdopen(fd, "w");
	if (!file) {
		say("cannot write the %s to %s: %s", what, *name, strerror(errno));
		return NULL;
	}
	if (*name != first)
		say("%s is there already; the %s goes to %s", first, what, *name);
	return file;
}
