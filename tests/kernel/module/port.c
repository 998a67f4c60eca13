// SPDX-License-Identifier: GPL-2.0-only
/* What a device says about itself and its ports. */

#include "lab.h"

static void sizes(struct ib_device_attr *attr)
{
	const struct lab_limits *limits = &lab_limits;

	attr->max_mr_size = ~0ull;
	attr->page_size_cap = 0xfffff000;
	attr->max_qp = limits->qp;
	attr->max_qp_wr = limits->qp_wr;
	attr->max_send_sge = attr->max_recv_sge = limits->sge;
	attr->max_sge_rd = limits->sge;
	attr->max_cq = limits->cq;
	attr->max_cqe = limits->cqe;
	attr->max_mr = limits->mr;
	attr->max_pd = limits->pd;
	attr->max_qp_rd_atom = limits->rd_atom;
	attr->max_qp_init_rd_atom = limits->init_rd_atom;
	attr->max_res_rd_atom = limits->qp * limits->rd_atom;
	attr->max_mw = INT_MAX;
	attr->max_mcast_grp = 1 << 13;
	attr->max_mcast_qp_attach = 248;
	attr->max_total_mcast_qp_attach = attr->max_mcast_grp * attr->max_mcast_qp_attach;
	attr->max_ah = INT_MAX;
	attr->max_srq = limits->srq;
	attr->max_srq_wr = limits->srq_wr;
	attr->max_srq_sge = limits->srq_sge;
	attr->max_pkeys = limits->pkeys;
}

int lab_query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct lab_device *device = to_lab(ib);

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = 2ull << 32 | 42 << 16 | 5000;
	attr->sys_image_guid = ib->node_guid;
	attr->vendor_id = 0x2c9;
	attr->vendor_part_id = device->model->part_id;
	attr->hw_ver = 1;
	attr->device_cap_flags = IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_MEM_WINDOW;
	if (lab_xrc)
		attr->device_cap_flags |= IB_DEVICE_XRC;
	attr->atomic_cap = IB_ATOMIC_HCA;
	sizes(attr);
	return 0;
}

int lab_query_port(struct ib_device *ib, port_number port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->max_mtu = attr->active_mtu = IB_MTU_4096;
	attr->gid_tbl_len = lab_limits.gids;
	attr->pkey_tbl_len = lab_limits.pkeys;
	attr->max_msg_sz = 0x40000000;
	attr->lid = 1 + to_lab(ib)->index * 2 + port - 1;
	attr->sm_lid = 1;
	attr->max_vl_num = 4;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = 8;
	attr->phys_state = 5;
	return 0;
}

/* No MADs: nobody could answer them. */
int lab_get_port_immutable(struct ib_device *ib, port_number port, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = lab_limits.gids;
	immutable->pkey_tbl_len = lab_limits.pkeys;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	return 0;
}

enum rdma_link_layer lab_get_link_layer(struct ib_device *ib, port_number port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

int lab_query_gid(struct ib_device *ib, port_number port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (index)
		return 0;
	gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ull);
	gid->global.interface_id = cpu_to_be64(be64_to_cpu(ib->node_guid) + port);
	return 0;
}

int lab_query_pkey(struct ib_device *ib, port_number port, u16 index, u16 *pkey)
{
	*pkey = index ? 0 : 0xffff;
	return 0;
}

void lab_get_fw(struct ib_device *ib, char *text)
{
	snprintf(text, IB_FW_VERSION_NAME_MAX, "2.42.5000");
}
