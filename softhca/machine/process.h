/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The memory of another process. Its pid names the first thread, which loses the memory when it
 * leaves by pthread_exit(3); while other threads go on, they have it still.
 */
#ifndef SOFTHCA_PROCESS_H
#define SOFTHCA_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/**
 * process_read, process_write - process_vm_readv(2) and process_vm_writev(2). ESRCH: the process
 * has ended, or is about to.
 */
ssize_t process_read(pid_t pid, const struct iovec *here, const struct iovec *there, size_t count);
ssize_t process_write(pid_t pid, const struct iovec *here, const struct iovec *there, size_t count);

/**
 * process_thread - a thread of the process that has its memory: @pid itself if it does. 0 = none,
 * as for ESRCH above.
 */
pid_t process_thread(pid_t pid);

/** process_has_memory - whether this thread does. */
bool process_has_memory(pid_t thread);

#endif
