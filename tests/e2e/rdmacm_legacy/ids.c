/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Old objects on the devices of librdmacm's ids. */

#include <fcntl.h>

#include "ids.h"

struct rdma_cm_id *ids_on_second_device(void)
{
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);

	must_eq(rdma_bind_addr(id, address(THERE, 0)), 0);
	must(id->verbs == listener->verbs);
	return id;
}

struct ibv_xrc_domain *ids_domain(struct rdma_cm_id *id)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(id->verbs, -1, O_CREAT);

	must(domain);
	return domain;
}

struct ibv_qp_init_attr ids_xrc_attr(struct rdma_cm_id *id, struct ibv_xrc_domain *domain)
{
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);

	must(cq);
	return (struct ibv_qp_init_attr){
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_XRC, .sq_sig_all = 1,
		.xrc_domain = domain,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
}
