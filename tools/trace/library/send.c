/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The way from a traced process to the command. */
#include "internal.h"
#include "tools/common/job.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void trace_send(const struct trace_record *record)
{
	size_t unused = sizeof(record->frames[0]) * (TRACE_FRAMES - record->frame_count);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = secure_getenv("XRC_COMPAT_TRACE");
	int fd;

	if (!path || !path[0] || strlen(path) >= sizeof(address.sun_path))
		return;
	strcpy(address.sun_path, path);
	/*
	 * No descriptor stays open between calls: a program may close all descriptors, and ours
	 * would become another file.
	 */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* Waits while the command is busy printing; once it has ended this fails at once. */
	sendto(fd, record, sizeof(*record) - unused, MSG_NOSIGNAL, (struct sockaddr *)&address,
	       sizeof(address));
	close(fd);
}

char trace_program[256];

/*
 * The loader calls this when it has found every library and function that the program needs to
 * start.
 */
__attribute__((constructor)) static void tell_start(void)
{
	struct trace_record record = {
		.magic = TRACE_MAGIC, .verb = TRACE_STARTED, .pid = getpid(), .frame_count = 1
	};
	int err = errno;

	if (readlink("/proc/self/exe", trace_program, sizeof(trace_program) - 1) < 0)
		trace_program[0] = '\0';
	memcpy(record.frames[0].module, trace_program, sizeof(trace_program));
	record.rank = job_rank(&record.ranks);
	trace_send(&record);
	errno = err;
}
