/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program of today that ends a handle from ibv_open_qp by the verbs alone, which libmlx5 does not
 * survive.
 *
 *	opened-end destroy|reset	0: it did; 2: there was no such handle; 3: the verb refused
 */
#include <softhca/tests/e2e/xrc.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int fd = xrc_file();
	struct host *one = rig_host(0), *other = rig_host(0);
	struct ibv_xrcd *first = xrc_domain(one, fd, O_CREAT),
			*second = xrc_domain(other, fd, O_CREAT);
	struct ibv_qp *target = first ? xrc_target(one, first) : NULL;
	struct ibv_qp *opened = target && second ? xrc_open(other, second, target->qp_num) : NULL;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	if (argc != 2 || !opened)
		return 2;
	if (!strcmp(argv[1], "reset"))
		return ibv_modify_qp(opened, &attr, IBV_QP_STATE) ? 3 : 0;
	return ibv_destroy_qp(opened) ? 3 : 0;
}
