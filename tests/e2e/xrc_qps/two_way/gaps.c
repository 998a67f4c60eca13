/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * To be preloaded: before each of the first GAPS QPs that the process creates (default: each QP),
 * another context creates one. So the process gets no two neighbouring numbers.
 */

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static bool creates_qp(const void *data, size_t length)
{
	const struct ib_uverbs_cmd_hdr *header = data;

	return length >= sizeof(*header) && (header->command == IB_USER_VERBS_CMD_CREATE_QP ||
					     header->command == (IB_USER_VERBS_CMD_FLAG_EXTENDED |
								 IB_USER_VERBS_EX_CMD_CREATE_QP));
}

/*
 * Creates a QP on a context of its own, and never destroys it, so that its number is not given out
 * again.
 */
static void take_number(void)
{
	static struct ibv_pd *pd;
	static struct ibv_cq *cq;
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_send_sge = 1 },
					 .qp_type = IBV_QPT_RC };

	if (!pd) {
		struct ibv_device **list = ibv_get_device_list(NULL);
		struct ibv_context *context = ibv_open_device(list[0]);

		pd = ibv_alloc_pd(context);
		cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	}
	attr.send_cq = attr.recv_cq = cq;
	if (!ibv_create_qp(pd, &attr))
		abort();
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t length)
{
	static int taken;
	static bool inside;
	const char *gaps = getenv("GAPS");
	ssize_t (*next)(int, const void *, size_t);

	if (!inside && creates_qp(data, length) && (!gaps || taken < atoi(gaps))) {
		inside = true;
		take_number();
		taken++;
		inside = false;
	}
	*(void **)&next = dlsym(RTLD_NEXT, "write");
	return next(fd, data, length);
}
