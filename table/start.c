/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* When a process started. */
#include "start.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* It is the 22nd number. The second one, the command in parentheses, may contain ")". */
uint64_t regtab_start(const char *stat)
{
	char text[1024], *field;
	int fd = open(stat, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
	field = strrchr(text, ')');
	for (int number = 2; field && number < 22; number++)
		field = strchr(field + 1, ' ');
	return field ? strtoull(field, NULL, 10) : 0;
}
