/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Makes receive QPs and connects them. */

#include <stdlib.h>
#include <unistd.h>

#include "receiver.h"
#include "row.h"

int shared_file(void)
{
	char path[] = "/tmp/twoway-XXXXXX";
	int fd = mkstemp(path);

	must(fd >= 0 && !unlink(path));
	return fd;
}

uint32_t receive_qp(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = domain };
	uint32_t qp_num;

	must_eq(ibv_create_xrc_rcv_qp(&init_attr, &qp_num), 0);
	return qp_num;
}

void connect_to_itself(struct end *end, uint32_t qp_num)
{
	end->peer = end->own;
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTR; state++) {
		int mask;
		struct ibv_qp_attr attr = end_attr(end, state, &mask);

		must_eq(ibv_modify_xrc_rcv_qp(end->domain, qp_num, &attr, mask), 0);
	}
	end->peer.qp_num = qp_num;
	end_bring(end, IBV_QPS_RTS);
}
