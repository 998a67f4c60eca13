/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Files of the connection manager: the client's greeting, its memory, and what wakes it up. */
#ifndef SOFTHCA_CM_FILE_H
#define SOFTHCA_CM_FILE_H

#include "cm.h"

#include <softhca/proto.h>

/*
 * A file for the client @pid on @sock, which becomes the file's. 0 with file->ear for the program;
 * -ENODEV for a host that is not there, -EACCES when the client's memory is out of reach, -ENOMEM
 * or -errno.
 */
int cm_file_create(struct hca_machine *machine, const struct softhca_hello *hello, int sock,
		   pid_t pid, struct cm_file **file);

/* The client's memory. 0 or -EFAULT. */
int cm_file_read(const struct cm_file *file, void *to, uint64_t from, size_t length);
int cm_file_write(const struct cm_file *file, uint64_t to, const void *from, size_t length);

/* The file behind a descriptor that a client attached, or NULL when it is something else. */
struct cm_file *cm_file_find(const struct hca_machine *machine, int fd);

/* Makes the program's descriptor readable, as long as events wait. */
void cm_file_ring(struct cm_file *file);

#endif
