/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Initiator QPs of today: XRC_SEND QPs. */

#include "modern.h"

int modern_create_ini_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, struct ibv_qp **qp)
{
	struct ibv_qp_init_attr ini = *attr;
	int err;

	ini.qp_type = IBV_QPT_XRC_SEND;
	ini.srq = NULL;
	/* The old libmlx4 zeroed the receive capacities of an XRC QP whatever the caller had left there (contract 5.3). */
	ini.cap.max_recv_wr = 0;
	ini.cap.max_recv_sge = 0;
	err = modern_create_qp(pd, &ini, qp);
	if (err)
		return err;
	attr->cap = ini.cap;
	return 0;
}
