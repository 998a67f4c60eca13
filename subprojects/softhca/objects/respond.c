/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The responses of commands, in the client's memory. */
#include "objects.h"

#include <base/refuse.h>
#include <machine/client.h>

#include <errno.h>

static int put(const struct cmd *cmd, uint64_t to, const void *from, size_t length, size_t room)
{
	static const uint8_t zeroes[512];
	size_t part = length < room ? length : room;

	if (part && client_write(&cmd->ctx->client, to, from, part))
		return refuse(-EFAULT, "response address");
	for (size_t at = part; at < room; at += sizeof(zeroes)) {
		if (client_write(&cmd->ctx->client, to + at, zeroes,
				 room - at < sizeof(zeroes) ? room - at : sizeof(zeroes)))
			return refuse(-EFAULT, "response address");
	}
	return 0;
}

int cmd_respond(const struct cmd *cmd, const void *out, size_t size, const void *driver,
		size_t driver_size)
{
	int err = put(cmd, cmd->response, out, size, cmd->out_size);

	return err ? err
		   : put(cmd, cmd->response + cmd->out_size, driver, driver_size,
			 cmd->driver_out_size);
}

int cmd_introduce(const struct cmd *cmd, struct hca_object *object, const void *out, size_t size,
		  const void *driver, size_t driver_size)
{
	int err = cmd_respond(cmd, out, size, driver, driver_size);

	if (err)
		object_destroy(object);
	return err;
}
