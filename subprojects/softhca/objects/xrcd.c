/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC domains: found by inode, gone with the last handle. */
#include "objects.h"

#include <base/refuse.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hca_xrcd *find_xrcd(struct hca_device *device, const struct stat *st)
{
	list_for_each(struct hca_xrcd, xrcd, &device->xrcds, link) {
		if (xrcd->pin >= 0 && xrcd->ino == st->st_ino && xrcd->dev == st->st_dev)
			return xrcd;
	}
	return NULL;
}

/* Keeps the inode, by a description of our own: the client's would keep its flock() locks. */
static int pin_inode(int fd)
{
	char path[32];
	int pin;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	pin = open(path, O_PATH | O_CLOEXEC);
	return pin >= 0 ? pin : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static struct hca_xrcd *create(struct hca_device *device, int fd, const struct stat *st)
{
	struct hca_xrcd *xrcd = calloc(1, sizeof(*xrcd));

	if (!xrcd)
		return NULL;
	xrcd->pin = -1;
	if (fd >= 0) {
		xrcd->pin = pin_inode(fd);
		if (xrcd->pin < 0) {
			free(xrcd);
			return NULL;
		}
		xrcd->dev = st->st_dev;
		xrcd->ino = st->st_ino;
	}
	list_add(&device->xrcds, &xrcd->link);
	return xrcd;
}

static void put(struct hca_xrcd *xrcd)
{
	if (xrcd->handles)
		return;
	if (xrcd->pin >= 0)
		close(xrcd->pin);
	list_del(&xrcd->link);
	free(xrcd);
}

/* The kernel takes a descriptor of O_PATH for a closed one. */
static bool is_open_file(int fd, struct stat *st)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH) && !fstat(fd, st);
}

/* The domain to join, or NULL with *err 0 when one is to be made. */
static struct hca_xrcd *join(struct hca_device *device, int fd, int oflags, struct stat *st,
			     int *err)
{
	struct hca_xrcd *xrcd;

	*err = 0;
	if (fd < 0)
		return NULL;
	if (!is_open_file(fd, st)) {
		*err = refuse(-EBADF, "no such descriptor");
		return NULL;
	}
	xrcd = find_xrcd(device, st);
	if (!xrcd && !(oflags & O_CREAT))
		*err = refuse(-EAGAIN, "no domain of this file, and no O_CREAT");
	if (xrcd && oflags & O_EXCL)
		*err = refuse(-EINVAL, "O_EXCL, and there is one");
	return xrcd;
}

/* Uses of a domain count for each handle: another handle does not keep it. */
static void release(struct hca_object *object)
{
	struct hca_xrcd *xrcd = container_of(object, struct hca_xrcd_handle, obj)->xrcd;

	xrcd->handles--;
	put(xrcd);
}

int xrcd_open(struct hca_context *ctx, int fd, int oflags, struct hca_xrcd_handle **result)
{
	struct hca_xrcd_handle *handle;
	struct stat st;
	int err;
	struct hca_xrcd *xrcd = join(ctx->device, fd, oflags, &st, &err);

	if (err)
		return err;
	if (!xrcd)
		xrcd = create(ctx->device, fd, &st);
	if (!xrcd)
		return -ENOMEM;
	handle = object_new(ctx, HCA_XRCD, sizeof(*handle), release);
	if (!handle) {
		put(xrcd);
		return -ENOMEM;
	}
	handle->xrcd = xrcd;
	xrcd->handles++;
	*result = handle;
	return 0;
}

int cmd_open_xrcd(struct cmd *cmd)
{
	const struct ib_uverbs_open_xrcd *in = cmd->in;
	struct ib_uverbs_open_xrcd_resp resp;
	struct hca_xrcd_handle *handle;
	int err;

	/* Named, but the preload had nothing to attach: no such descriptor is open. */
	if (in->fd != UINT32_MAX && cmd->fd < 0)
		return refuse(-EBADF, "no such descriptor");
	err = xrcd_open(cmd->ctx, in->fd == UINT32_MAX ? -1 : cmd->fd, (int)in->oflags, &handle);
	if (err)
		return err;
	resp.xrcd_handle = handle->obj.handle;
	return cmd_introduce(cmd, &handle->obj, &resp, sizeof(resp), NULL, 0);
}
