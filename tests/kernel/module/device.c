// SPDX-License-Identifier: GPL-2.0-only
/* A device: made, registered with ib_core, and taken away again. */

#include <linux/debugfs.h>
#include <linux/dma-mapping.h>

#include "lab.h"

static const struct ib_device_ops common_ops = {
	.owner = THIS_MODULE,
	.query_device = lab_query_device,
	.query_port = lab_query_port,
	.get_port_immutable = lab_get_port_immutable,
	.get_link_layer = lab_get_link_layer,
	.query_gid = lab_query_gid,
	.query_pkey = lab_query_pkey,
	.get_dev_fw_str = lab_get_fw,
	.alloc_ucontext = lab_alloc_ucontext,
	.dealloc_ucontext = lab_dealloc_ucontext,
	.mmap = lab_mmap,
	.alloc_pd = lab_alloc_pd,
	.dealloc_pd = lab_dealloc_pd,
	.create_ah = lab_create_ah,
#if KERNEL_FROM(5, 11)
	.create_user_ah = lab_create_ah,
#endif
	.query_ah = lab_query_ah,
	.destroy_ah = lab_destroy_ah,
	.create_cq = lab_create_cq,
#if KERNEL_FROM(7, 0)
	.create_user_cq = lab_create_cq,
#endif
	.RESIZE_CQ_OPERATION = lab_resize_cq,
	.destroy_cq = lab_destroy_cq,
	.poll_cq = lab_poll_cq,
	.req_notify_cq = lab_req_notify_cq,
	.create_srq = lab_create_srq,
	.modify_srq = lab_modify_srq,
	.query_srq = lab_query_srq,
	.destroy_srq = lab_destroy_srq,
	.create_qp = lab_create_qp,
	.modify_qp = lab_modify_qp,
	.query_qp = lab_query_qp,
	.destroy_qp = lab_destroy_qp,
	.attach_mcast = lab_attach_mcast,
	.detach_mcast = lab_detach_mcast,
	.post_send = lab_post_send,
	.post_recv = lab_post_recv,
	.get_dma_mr = lab_get_dma_mr,
	.reg_user_mr = lab_reg_user_mr,
	.rereg_user_mr = lab_rereg_user_mr,
	.dereg_mr = lab_dereg_mr,
	.alloc_mw = lab_alloc_mw,
	.dealloc_mw = lab_dealloc_mw,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, lab_context, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, lab_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_ah, lab_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, lab_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, lab_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, lab_srq, ib),
#if KERNEL_FROM(5, 15)
	INIT_RDMA_OBJ_SIZE(ib_qp, lab_qp, ib),
#endif
};

static const struct ib_device_ops xrc_ops = {
	.alloc_xrcd = lab_alloc_xrcd,
	.dealloc_xrcd = lab_dealloc_xrcd,
	INIT_RDMA_OBJ_SIZE(ib_xrcd, lab_xrcd, ib),
};

#define COMMAND(name) BIT_ULL(IB_USER_VERBS_CMD_##name)

static u64 commands(void)
{
	u64 mask = COMMAND(GET_CONTEXT) | COMMAND(QUERY_DEVICE) | COMMAND(QUERY_PORT) | COMMAND(ALLOC_PD) |
		   COMMAND(DEALLOC_PD) | COMMAND(CREATE_AH) | COMMAND(DESTROY_AH) | COMMAND(REG_MR) |
		   COMMAND(REREG_MR) | COMMAND(DEREG_MR) | COMMAND(ALLOC_MW) | COMMAND(DEALLOC_MW) |
		   COMMAND(CREATE_COMP_CHANNEL) | COMMAND(CREATE_CQ) | COMMAND(RESIZE_CQ) | COMMAND(DESTROY_CQ) |
		   COMMAND(CREATE_QP) | COMMAND(QUERY_QP) | COMMAND(MODIFY_QP) | COMMAND(DESTROY_QP) |
		   COMMAND(ATTACH_MCAST) | COMMAND(DETACH_MCAST) | COMMAND(CREATE_SRQ) | COMMAND(MODIFY_SRQ) |
		   COMMAND(QUERY_SRQ) | COMMAND(DESTROY_SRQ) | COMMAND(CREATE_XSRQ);

	if (lab_xrc)
		mask |= COMMAND(OPEN_XRCD) | COMMAND(CLOSE_XRCD);
	if (lab_xrc && lab_open_qp)
		mask |= COMMAND(OPEN_QP);
	return mask;
}

static void set_ops(struct lab_device *device)
{
	struct ib_device_ops model_ops = {
		.driver_id = device->model->driver_id,
		.uverbs_abi_ver = device->model->abi_version,
	};

	ib_set_device_ops(&device->ib, &common_ops);
	ib_set_device_ops(&device->ib, &model_ops);
	if (lab_xrc)
		ib_set_device_ops(&device->ib, &xrc_ops);
	device->ib.uverbs_cmd_mask = commands();
}

static void set_identity(struct lab_device *device)
{
	device->ib.node_type = RDMA_NODE_IB_CA;
	device->ib.node_guid = cpu_to_be64(0x0002c90300112200ull + device->index * 0x10);
	device->ib.phys_port_cnt = lab_limits.ports;
	device->ib.num_comp_vectors = 2;
	device->ib.dev.parent = &device->parent->dev;
	strscpy(device->ib.node_desc, "xrc_lab", sizeof(device->ib.node_desc));
}

static int make_parts(struct lab_device *device)
{
	device->parent = platform_device_register_simple("xrc_lab", device->index, NULL, 0);
	if (IS_ERR(device->parent)) {
		int error = PTR_ERR(device->parent);

		device->parent = NULL;
		return error;
	}
	device->uar = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!device->uar)
		return -ENOMEM;
	return dma_coerce_mask_and_coherent(&device->parent->dev, DMA_BIT_MASK(64));
}

static void free_parts(struct lab_device *device)
{
	struct platform_device *parent = device->parent;

	if (device->uar)
		__free_page(device->uar);
	xa_destroy(&device->qps);
	ib_dealloc_device(&device->ib);
	if (parent)
		platform_device_unregister(parent);
}

struct lab_device *lab_device_new(const struct lab_model *model, int index)
{
	struct lab_device *device = ib_alloc_device(lab_device, ib);
	int error;

	if (!device)
		return ERR_PTR(-ENOMEM);
	device->model = model;
	device->index = index;
	xa_init_flags(&device->qps, XA_FLAGS_ALLOC);
	/* Every device starts elsewhere, so that a number of one is not by chance valid on another. */
	device->next_qp = device->next_srq = 0x40 + 0x60 * (index + 1);
	error = make_parts(device);
	if (!error) {
		set_ops(device);
		set_identity(device);
		error = ib_register_device(&device->ib, model->device_names, &device->parent->dev);
	}
	if (error) {
		free_parts(device);
		return ERR_PTR(error);
	}
	lab_control_add(device);
	return device;
}

void lab_device_free(struct lab_device *device)
{
	debugfs_remove_recursive(device->control);
	ib_unregister_device(&device->ib);
	free_parts(device);
}
