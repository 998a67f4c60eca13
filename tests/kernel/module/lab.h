/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An HCA's control path and nothing more: what mlx4_ib or mlx5_ib tell ib_core, without an adapter behind it.
 * Every object is in one list, so that what is left can be asked.
 */
#ifndef XRC_LAB_H
#define XRC_LAB_H

#include <linux/idr.h>
#include <linux/platform_device.h>

#include "api.h"

#define LAB_DEVICES_MAX 4

enum lab_kind { LAB_CONTEXT, LAB_PD, LAB_AH, LAB_XRCD, LAB_CQ, LAB_SRQ, LAB_QP, LAB_MR, LAB_MW, LAB_KINDS };

struct lab_object {
	struct list_head link;
	struct lab_device *device;
	enum lab_kind kind;
	u32 number;
	pid_t pid;	/* of who made it */
};

/* Memory of the program that stays pinned as long as the object is there. */
struct lab_memory {
	struct ib_umem *buffer, *doorbell;
};

struct lab_context {
	struct ib_ucontext ib;
	struct lab_object object;
};

struct lab_pd {
	struct ib_pd ib;
	struct lab_object object;
};

struct lab_ah {
	struct ib_ah ib;
	struct lab_object object;
	struct rdma_ah_attr attr;
};

struct lab_xrcd {
	struct ib_xrcd ib;
	struct lab_object object;
};

/* The ring is where the program has it. */
struct lab_cq {
	struct ib_cq ib;
	struct lab_object object;
	struct lab_memory memory;
	u64 ring;
	u32 entry_size, producer;
};

struct lab_srq {
	struct ib_srq ib;
	struct lab_object object;
	struct lab_memory memory;
	u32 size, max_sge, limit;
};

struct lab_qp {
	struct ib_qp ib;
	struct lab_object object;
	struct lab_memory memory;
	enum ib_qp_state state;
	struct ib_qp_attr attr;
	struct ib_qp_cap cap;
	enum ib_sig_type sq_sig_type;
};

struct lab_mr {
	struct ib_mr ib;
	struct lab_object object;
	struct ib_umem *umem;
};

struct lab_mw {
	struct ib_mw ib;
	struct lab_object object;
};

/* What the user ABI of a provider fixes: its driver parts, and the rules of its kernel driver that they depend on. */
struct lab_model {
	const char *name, *device_names;	/* mlx4, mlx4_%d */
	enum rdma_driver_id driver_id;
	u32 abi_version, part_id;
	u32 target_tag;		/* in the numbers of target QPs */
	bool srqs_share_numbers;	/* QPs and SRQs are counted together */
	bool sqd_from_rts;	/* RTS to SQD exists */
	u64 mmap_offsets;	/* pages that can be mapped, a bit each */
	int (*context_response)(struct lab_device *device, struct ib_udata *udata);
	int (*pd_response)(u32 pdn, struct ib_udata *udata);
	int (*cq)(struct lab_cq *cq, u32 entries, struct ib_udata *udata);
	int (*resize)(struct lab_cq *cq, u32 entries, struct ib_udata *udata);
	int (*srq)(struct lab_srq *srq, struct ib_udata *udata);
	int (*qp)(struct lab_qp *qp, const struct ib_qp_init_attr *attr, struct ib_udata *udata);
	int (*mw)(struct ib_udata *udata);
};

extern const struct lab_model lab_mlx4, lab_mlx5;

struct lab_device {
	struct ib_device ib;
	struct platform_device *parent;
	const struct lab_model *model;
	int index;
	struct xarray qps;
	u32 next_qp, next_srq;
	atomic_t count[LAB_KINDS];
	struct page *uar;
	struct dentry *control;
};

static inline struct lab_device *to_lab(struct ib_device *device)
{
	return container_of(device, struct lab_device, ib);
}

/* ---- limits, settable when the module is loaded: main.c ---- */
struct lab_limits {
	int qp, qp_wr, sge, srq, srq_wr, srq_sge, cq, cqe, mr, mr_pages, pd, rd_atom, init_rd_atom, pkeys, gids, ports;
};

extern struct lab_limits lab_limits;
extern bool lab_open_qp, lab_xrc;

/* ---- object.c ---- */
/* -ENOMEM when the device has as many as it can. */
int lab_object_add(struct lab_object *object, struct lab_device *device, enum lab_kind kind, u32 number);
void lab_object_remove(struct lab_object *object);
int lab_number(struct lab_device *device, enum lab_kind kind, u32 tag, u32 *number);
void lab_number_free(struct lab_device *device, u32 number);
int lab_memory_pin(struct lab_memory *memory, struct ib_device *device, u64 buffer, u64 size, u64 doorbell);
void lab_memory_unpin(struct lab_memory *memory);
typedef bool (*lab_visit)(struct lab_object *object, void *argument);
bool lab_objects(lab_visit visit, void *argument);
extern const char *const lab_kind_names[LAB_KINDS];

/* ---- device.c ---- */
struct lab_device *lab_device_new(const struct lab_model *model, int index);
void lab_device_free(struct lab_device *device);

/* ---- what ib_core calls ---- */
int lab_query_device(struct ib_device *device, struct ib_device_attr *attr, struct ib_udata *udata);
int lab_query_port(struct ib_device *device, port_number port, struct ib_port_attr *attr);
int lab_get_port_immutable(struct ib_device *device, port_number port, struct ib_port_immutable *immutable);
enum rdma_link_layer lab_get_link_layer(struct ib_device *device, port_number port);
int lab_query_gid(struct ib_device *device, port_number port, int index, union ib_gid *gid);
int lab_query_pkey(struct ib_device *device, port_number port, u16 index, u16 *pkey);
void lab_get_fw(struct ib_device *device, char *text);

int lab_alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata);
void lab_dealloc_ucontext(struct ib_ucontext *context);
int lab_mmap(struct ib_ucontext *context, struct vm_area_struct *vma);
int lab_alloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int lab_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata);
int lab_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int lab_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr);
int lab_destroy_ah(struct ib_ah *ah, u32 flags);
int lab_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);
int lab_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata);

int lab_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr, CREATE_CQ_ARGUMENT);
bool lab_cq_odd_turn(const struct lab_cq *cq);
/* Gives the program's old ring up for a new one, with this in the last byte of its last entry. */
int lab_cq_move(struct lab_cq *cq, u64 ring, u32 entries, u32 entry_size, u8 last);
int lab_resize_cq(struct ib_cq *cq, cq_entries entries, struct ib_udata *udata);
int lab_destroy_cq(struct ib_cq *cq, struct ib_udata *udata);
int lab_poll_cq(struct ib_cq *cq, int entries, struct ib_wc *wc);
int lab_req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags);

int lab_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int lab_modify_srq(struct ib_srq *srq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask, struct ib_udata *udata);
int lab_query_srq(struct ib_srq *srq, struct ib_srq_attr *attr);
int lab_destroy_srq(struct ib_srq *srq, struct ib_udata *udata);

#if KERNEL_FROM(5, 15)
int lab_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
#else
struct ib_qp *lab_create_qp(struct ib_pd *pd, struct ib_qp_init_attr *attr, struct ib_udata *udata);
#endif
int lab_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata);
int lab_query_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init);
int lab_destroy_qp(struct ib_qp *qp, struct ib_udata *udata);
int lab_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid);
int lab_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid);
int lab_post_send(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad);
int lab_post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad);

struct ib_mr *lab_get_dma_mr(struct ib_pd *pd, int access);
#if KERNEL_FROM(6, 18)
struct ib_mr *lab_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access, struct ib_dmah *dmah,
			      struct ib_udata *udata);
#else
struct ib_mr *lab_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access, struct ib_udata *udata);
#endif
#if KERNEL_FROM(5, 11)
struct ib_mr *lab_rereg_user_mr(struct ib_mr *mr, int flags, u64 start, u64 length, u64 address, int access, struct ib_pd *pd,
				struct ib_udata *udata);
#else
int lab_rereg_user_mr(struct ib_mr *mr, int flags, u64 start, u64 length, u64 address, int access, struct ib_pd *pd,
		      struct ib_udata *udata);
#endif
int lab_dereg_mr(struct ib_mr *mr, struct ib_udata *udata);
int lab_alloc_mw(struct ib_mw *mw, struct ib_udata *udata);
int lab_dealloc_mw(struct ib_mw *mw);

/* ---- control.c ---- */
int lab_control_start(void);
void lab_control_add(struct lab_device *device);
void lab_control_stop(void);

#endif
