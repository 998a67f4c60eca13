/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC domains: per device, shared by inode. */
#ifndef SOFTHCA_XRCD_H
#define SOFTHCA_XRCD_H

#include <softhca/machine/hca.h>

/*
 * @fd: file that names the domain, -1 for a private one; it stays the caller's. @oflags as for
 * ibv_open_xrcd. 0; -EAGAIN: no such domain and no O_CREAT; -EINVAL: it exists and O_EXCL; -EBADF;
 * -ENOMEM.
 */
int xrcd_open(struct hca_context *ctx, int fd, int oflags, struct hca_xrcd_handle **handle);

#endif
