/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program of today that ends or resets a handle from ibv_open_qp by the verbs that are meant for it. usage: opened destroy|reset */
#include "rig.h"

#include <fcntl.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = rig_domain(host, -1, O_CREAT);
	struct ibv_qp *target = rig_target(host, xrcd), *opened;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = target->qp_num, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};

	NEED(argc == 2);
	opened = ibv_open_qp(host->ctx, &open_attr);
	NEED(opened);
	if (!strcmp(argv[1], "reset"))
		return ibv_modify_qp(opened, &attr, IBV_QP_STATE);
	return ibv_destroy_qp(opened);
}
