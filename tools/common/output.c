/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opens files under names that no other process has. */
#include "common.h"
#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_TRIES 100000

/* What stands for %@letter; NULL: nothing does. */
static const char *replacement(char letter, char *text, size_t size)
{
	int32_t ranks, rank;

	if (letter == '%')
		return "%";
	if (letter == 'p')
		snprintf(text, size, "%d", (int)getpid());
	else if (letter == 'h' && gethostname(text, size))
		return "unknown";
	else if (letter == 'r' && (rank = job_rank(&ranks)) >= 0)
		snprintf(text, size, "%d", (int)rank);
	else if (letter == 'r')
		return "none";
	return strchr("phr", letter) && letter ? text : NULL;
}

/* 0, or a positive errno. EINVAL: % with a letter that stands for nothing. */
static int expand(const char *pattern, char *name, size_t size)
{
	char text[HOST_NAME_MAX + 1];
	size_t used = 0;

	for (; *pattern && used < size; pattern++) {
		const char *instead = NULL;

		if (*pattern == '%') {
			instead = replacement(*++pattern, text, sizeof(text));
			if (!instead)
				return EINVAL;
		}
		if (instead)
			used += (size_t)snprintf(name + used, size - used, "%s", instead);
		else
			name[used++] = *pattern;
	}
	if (used >= size)
		return ENAMETOOLONG;
	name[used] = '\0';
	return 0;
}

/*
 * A file that is made here, or an empty one as mktemp(1) makes it. The lock tells the process that
 * writes it: until the end there may be nothing in it. File systems without locks, as Lustre may be
 * mounted, still tell which process has made a file.
 */
static int claim(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool made = fd >= 0;
	struct stat st;

	if (!made && errno == EEXIST)
		fd = open(name, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) ? made && errno != EWOULDBLOCK
					 : made || (!fstat(fd, &st) && !st.st_size))
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

FILE *output_open(const char *pattern, const char *what, char *name, size_t size)
{
	int err = expand(pattern, name, size), fd = -1;
	size_t length = err ? 0 : strlen(name);

	if (err == EINVAL) {
		refuse(0,
		       "cannot write the %s to %s: after %% stands p (process), h (host), r (rank) or %%",
		       what, pattern);
		return NULL;
	}
	for (int number = 1; !err && fd < 0 && number < MOST_TRIES; number++) {
		fd = claim(name);
		if (fd >= 0 || errno != EEXIST)
			break;
		snprintf(name + length, size - length, ".%d", number);
	}
	if (fd >= 0 && name[length])
		refuse(0, "%.*s is there already; the %s goes to %s", (int)length, name, what,
		       name);
	if (fd < 0)
		refuse(0, "cannot write the %s to %s: %s", what, pattern,
		       strerror(err ? err : errno));
	return fd < 0 ? NULL : fdopen(fd, "w");
}
