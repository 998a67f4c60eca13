/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program of today that runs beside the old ones. It stops itself when it is ready. When
 * continued, it creates and destroys RC QPs on the first device at random, until it is killed.
 */

#include <infiniband/verbs.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define QPS 32
#define LIFETIME 60	/* seconds; it ends then even if its parent was killed */

int main(void)
{
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = 1, .max_send_sge = 1 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_qp *qps[QPS] = { 0 };

	alarm(LIFETIME);
	if (!pd)
		return 1;
	attr.send_cq = attr.recv_cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	srandom((unsigned)getpid());
	raise(SIGSTOP);
	for (;;) {
		int i = (int)(random() % QPS);

		if (qps[i] && ibv_destroy_qp(qps[i]))
			return 1;
		qps[i] = ibv_create_qp(pd, &attr);
		if (!qps[i])
			return 1;
		usleep((unsigned)(random() % 300));
	}
}
