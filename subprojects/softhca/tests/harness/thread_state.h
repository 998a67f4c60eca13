/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Whether a thread waits, or has ended: so that a test need not guess how long it takes. */
#ifndef HARNESS_THREAD_STATE_H
#define HARNESS_THREAD_STATE_H

#include <stdio.h>
#include <sys/types.h>

/*
 * Returns the state of a thread of this process, a letter as in ps(1): S when it waits, Z for the
 * thread of main() after pthread_exit(3). 0: there is no such thread.
 */
static inline char thread_state(pid_t thread)
{
	char path[64], state;
	FILE *file;
	int read;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
	file = fopen(path, "re");
	if (!file)
		return 0;
	read = fscanf(file, "%*d (%*[^)]) %c", &state);
	fclose(file);
	return read == 1 ? state : 0;
}

#endif
