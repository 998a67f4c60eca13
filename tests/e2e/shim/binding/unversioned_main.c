/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A legacy program whose XRC verbs are all called by a library. */

#include <stdio.h>
#include <infiniband/verbs.h>

int open_and_close(struct ibv_context *context);

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;

	if (!context || open_and_close(context) || ibv_close_device(context))
		return 1;
	printf("unversioned: done\n");
	return 0;
}
