/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program of today that destroys or resets a handle from ibv_open_qp, which crashes libmlx5. usage: opened destroy|reset */
#include "xrc.h"

#include <fcntl.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	struct ibv_qp *target = MADE(xrc_target(host, xrcd)), *opened = MADE(xrc_open(host, xrcd, target->qp_num));

	NEED(argc == 2);
	return strcmp(argv[1], "reset") ? ibv_destroy_qp(opened) : rig_to_state(opened, IBV_QPS_RESET);
}
