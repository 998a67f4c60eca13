/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The legacy call that is under way in each thread. */
#include "internal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Initial-exec: such a variable is there without memory being allocated for it in the program. */
static __thread __attribute__((tls_model("initial-exec"))) struct trace_record *current;

uint64_t trace_now(void)
{
	struct timespec time;
	int saved_errno = errno;

	clock_gettime(CLOCK_MONOTONIC, &time);
	errno = saved_errno;
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void trace_begin(struct trace_record *record, enum trace_call call)
{
	int saved_errno = errno;

	*record = (struct trace_record){ .magic = TRACE_MAGIC, .call = call, .fd = -1, .pid = (int32_t)getpid(),
		.tid = (int32_t)syscall(SYS_gettid) };
	errno = saved_errno;
	current = record;
	record->start = trace_now();
}

void trace_became(const char *name, uint64_t start, int error)
{
	struct trace_became *became;

	if (!current || current->became_count++ >= TRACE_BECAME)
		return;
	became = &current->became[current->became_count - 1];
	strncpy(became->function, name, sizeof(became->function) - 1);
	became->duration = trace_now() - start;
	became->error = error;
}

void trace_end(struct trace_record *record, int64_t result, bool failed)
{
	int saved_errno = errno;

	record->duration = trace_now() - record->start;
	current = NULL;
	record->result = result;
	record->error = failed ? saved_errno : 0;
	trace_stack(record);
	trace_send(record);
	errno = saved_errno;
}
