/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which descriptor a command names by its number: the daemon needs the file itself. */
#include "client.h"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>

static int fd_at(const void *data, size_t length, size_t offset)
{
	int fd;

	if (length < offset + sizeof(fd))
		return -1;
	memcpy(&fd, (const char *)data + offset, sizeof(fd));
	return fd >= 0 && fcntl(fd, F_GETFD) >= 0 ? fd : -1;
}

int named_fd(const void *data, size_t length)
{
	const struct ib_uverbs_cmd_hdr *hdr = data;
	size_t offset;

	if (length < sizeof(*hdr))
		return -1;
	switch (hdr->command) {
	case IB_USER_VERBS_CMD_CREATE_CQ:
		offset = sizeof(*hdr) + offsetof(struct ib_uverbs_create_cq, comp_channel);
		break;
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ:
		offset = sizeof(*hdr) + sizeof(struct ib_uverbs_ex_cmd_hdr) +
			 offsetof(struct ib_uverbs_ex_create_cq, comp_channel);
		break;
	case IB_USER_VERBS_CMD_OPEN_XRCD:
		offset = sizeof(*hdr) + offsetof(struct ib_uverbs_open_xrcd, fd);
		break;
	default:
		return -1;
	}
	return fd_at(data, length, offset);
}

int named_fd_cm(const void *data, size_t length)
{
	const struct rdma_ucm_cmd_hdr *hdr = data;

	if (length < sizeof(*hdr) || hdr->cmd != RDMA_USER_CM_CMD_MIGRATE_ID)
		return -1;
	return fd_at(data, length, sizeof(*hdr) + offsetof(struct rdma_ucm_migrate_id, fd));
}
