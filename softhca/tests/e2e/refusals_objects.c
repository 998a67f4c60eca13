/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is refused when objects are made, opened and destroyed. */
#include <tests/e2e/opened.h>
#include "ground.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- domains ---- */

static int no_domain_no_creat(struct ground *g)
{
	int fd = xrc_file();
	int error = ground_made(xrc_domain(g->host, fd, 0));

	close(fd);
	return error;
}

static int domain_exists_excl(struct ground *g)
{
	return ground_made(xrc_domain(g->host, g->fd, O_CREAT | O_EXCL));
}

static int domain_bad_fd(struct ground *g)
{
	return ground_made(xrc_domain(g->host, 9999, O_CREAT));
}

/* It names a file, but is no open one. */
static int domain_of_a_path(struct ground *g)
{
	int fd = open("/", O_PATH);
	int error = ground_made(xrc_domain(g->host, fd, O_CREAT));

	close(fd);
	return error;
}

static int domain_joined_again(struct ground *g)
{
	struct ibv_xrcd *again = xrc_domain(g->host, g->fd, 0);

	return again ? ground_done(ibv_close_xrcd(again)) : errno;
}

static int close_used_domain(struct ground *g)
{
	return ground_done(ibv_close_xrcd(g->xrcd));
}

/* ---- in use ---- */

static int pd_in_use(struct ground *g)
{
	return ground_done(ibv_dealloc_pd(g->host->pd));
}

static int cq_in_use(struct ground *g)
{
	return ground_done(ibv_destroy_cq(g->host->cq));
}

static int srq_in_use(struct ground *g)
{
	struct ibv_qp *qp = rig_qp(g->host, IBV_QPT_RC, g->srq);
	int error = ground_done(ibv_destroy_srq(g->srq));

	NEED(!ibv_destroy_qp(qp));
	return error;
}

static int cq_of_xrc_srq(struct ground *g)
{
	struct ibv_cq *cq = g->host->cq, *own = ibv_create_cq(g->host->ctx, 4, NULL, NULL, 0);
	struct ibv_srq *srq;
	int error;

	g->host->cq = own;
	srq = xrc_srq(g->host, g->xrcd, 8, 1);
	g->host->cq = cq;
	NEED(srq);
	error = ground_done(ibv_destroy_cq(own));
	NEED(!ibv_destroy_srq(srq) && !ibv_destroy_cq(own));
	return error;
}

/* ---- memory ---- */

static int region(struct ground *g, void *at, size_t length, unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr(g->host->pd, at, length, access);

	return mr ? ground_done(ibv_dereg_mr(mr)) : errno;
}

static int remote_write_alone(struct ground *g)
{
	return region(g, g->host->buffer, 4096, IBV_ACCESS_REMOTE_WRITE);
}

static int remote_atomic_alone(struct ground *g)
{
	return region(g, g->host->buffer, 4096, IBV_ACCESS_REMOTE_ATOMIC);
}

static int on_demand(struct ground *g)
{
	int error = region(g, g->host->buffer, 4096, IBV_ACCESS_ON_DEMAND);

	/* Linux 7.2 says EOPNOTSUPP, those before EINVAL. */
	return error == EOPNOTSUPP ? EINVAL : error;
}

static int not_mapped(struct ground *g)
{
	uint8_t *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(at + 4096, 4096);
	return region(g, at, 8192, IBV_ACCESS_LOCAL_WRITE);
}

static int read_only_memory(struct ground *g)
{
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return region(g, at, 4096, IBV_ACCESS_LOCAL_WRITE);
}

static int read_only_memory_for_reading(struct ground *g)
{
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return region(g, at, 4096, IBV_ACCESS_REMOTE_READ);
}

static int hint_of_huge_pages(struct ground *g)
{
	return region(g, g->host->buffer, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB);
}

static int no_bytes(struct ground *g)
{
	return region(g, g->host->buffer, 0, 0);
}

/* ibv_rereg_mr leaves the errno of the command behind. */
static int region_again(struct ground *g, int flags, void *at, size_t length, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(g->host->pd, g->host->buffer, 4096, IBV_ACCESS_LOCAL_WRITE);
	int error;

	NEED(mr);
	error = ibv_rereg_mr(mr, flags, NULL, at, length, access) ? errno : 0;
	NEED(!ibv_dereg_mr(mr));
	return error;
}

static int moved(struct ground *g)
{
	return region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, g->host->buffer + 4096, 8192, 0);
}

static int moved_to_nowhere(struct ground *g)
{
	uint8_t *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(at, 8192);
	return region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, at, 8192, 0);
}

static int changed_to_remote_write_alone(struct ground *g)
{
	return region_again(g, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, IBV_ACCESS_REMOTE_WRITE);
}

/* ---- creation ---- */

static int cq_resized(struct ground *g)
{
	struct ibv_cq *cq = ibv_create_cq(g->host->ctx, 4, NULL, NULL, 0);
	int error;

	NEED(cq);
	error = ground_done(ibv_resize_cq(cq, 100));
	NEED((error || cq->cqe >= 100) && !ibv_destroy_cq(cq));
	return error;
}

static int cq_resized_and_back(struct ground *g)
{
	struct ibv_cq *cq = ibv_create_cq(g->host->ctx, 100, NULL, NULL, 0);
	struct ibv_wc wc;
	int error;

	NEED(cq && !ibv_resize_cq(cq, 10));
	error = ground_done(ibv_resize_cq(cq, 200));
	NEED(!ibv_poll_cq(cq, 1, &wc) && !ibv_destroy_cq(cq));
	return error;
}

static int cq_bad_vector(struct ground *g)
{
	return ground_made(ibv_create_cq(g->host->ctx, 4, NULL, NULL, g->host->ctx->num_comp_vectors));
}

static int srq_too_deep(struct ground *g)
{
	return ground_made(xrc_srq(g->host, g->xrcd, 40000, 1));
}

static int srq_too_many_sge(struct ground *g)
{
	return ground_made(xrc_srq(g->host, g->xrcd, 8, 32));
}

static int on_xrc_srq(struct ground *g, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = g->host->cq, .recv_cq = g->host->cq, .srq = g->xsrq, .qp_type = type,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};

	return ground_made(ibv_create_qp(g->host->pd, &attr));
}

static int rc_on_xrc_srq(struct ground *g)
{
	return on_xrc_srq(g, IBV_QPT_RC);
}

static int uc_on_xrc_srq(struct ground *g)
{
	return on_xrc_srq(g, IBV_QPT_UC);
}

static int ud_on_xrc_srq(struct ground *g)
{
	return on_xrc_srq(g, IBV_QPT_UD);
}

static int raw_packet(struct ground *g)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = g->host->cq, .recv_cq = g->host->cq, .qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
	};

	struct ibv_qp *qp = ibv_create_qp(g->host->pd, &attr);

	if (qp)
		NEED(!ibv_destroy_qp(qp));
	return ground_made(qp) ? EOPNOTSUPP : 0;
}

/* ---- opening targets ---- */

static int open_unknown(struct ground *g)
{
	return ground_made(xrc_open(g->host, g->xrcd, emulated_target_tag() | 12345));
}

static int open_other_domain(struct ground *g)
{
	return ground_made(xrc_open(g->host, g->private, g->recv->qp_num));
}

static int open_no_target(struct ground *g)
{
	return ground_made(xrc_open(g->host, g->xrcd, g->rc->qp_num));
}

static int open_with_another_bit(struct ground *g)
{
	return ground_made(xrc_open(g->host, g->xrcd, g->recv->qp_num ^ 0x800000u));
}

static int open_good(struct ground *g)
{
	struct ibv_qp *qp = xrc_open(g->host, g->xrcd, g->recv->qp_num);

	return qp ? ground_done(opened_destroy(qp)) : errno;
}

/* ---- SRQ attributes ---- */

static int srq_limit_too_high(struct ground *g)
{
	struct ibv_srq_attr attr;

	/* The provider may have made it larger than was asked for. */
	NEED(!ibv_query_srq(g->srq, &attr));
	attr.srq_limit = attr.max_wr + 1;
	return ground_done(ibv_modify_srq(g->srq, &attr, IBV_SRQ_LIMIT));
}

static int srq_resize(struct ground *g)
{
	struct ibv_srq_attr attr = { .max_wr = 4 };

	return ground_done(ibv_modify_srq(g->srq, &attr, IBV_SRQ_MAX_WR));
}

/* The drivers look for the two bits that they know. */
static int srq_unknown_attribute(struct ground *g)
{
	struct ibv_srq_attr attr = { .max_wr = 4 };

	return ground_done(ibv_modify_srq(g->srq, &attr, 4));
}

/* ---- memory windows and multicast groups ---- */

static int window(struct ground *g, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(g->host->pd, type);

	return mw ? ground_done(ibv_dealloc_mw(mw)) : errno;
}

static int window_type_1(struct ground *g)
{
	return window(g, IBV_MW_TYPE_1);
}

static int window_without_type(struct ground *g)
{
	return window(g, (enum ibv_mw_type)3);
}

static int pd_with_a_window(struct ground *g)
{
	struct ibv_pd *pd = ibv_alloc_pd(g->host->ctx);
	struct ibv_mw *mw = pd ? ibv_alloc_mw(pd, IBV_MW_TYPE_1) : NULL;
	int error;

	NEED(mw);
	error = ground_done(ibv_dealloc_pd(pd));
	NEED(!ibv_dealloc_mw(mw) && !ibv_dealloc_pd(pd));
	return error;
}

static const union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 1 } };
#define GROUP_LID 0xc001

static struct ibv_qp *datagrams(struct ground *g)
{
	struct ibv_qp *qp = rig_qp(g->host, IBV_QPT_UD, NULL);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };

	NEED(qp && !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	return qp;
}

static int group_joined_and_left(struct ground *g)
{
	struct ibv_qp *qp = datagrams(g);
	int error = ground_done(ibv_attach_mcast(qp, &group, GROUP_LID));

	/* Once is enough. */
	NEED(!ibv_attach_mcast(qp, &group, GROUP_LID));
	if (!error)
		error = ground_done(ibv_detach_mcast(qp, &group, GROUP_LID));
	NEED(!ibv_destroy_qp(qp));
	return error;
}

static int once(struct ground *g, int (*verb)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid), const union ibv_gid *gid)
{
	struct ibv_qp *qp = datagrams(g);
	int error = ground_done(verb(qp, gid, GROUP_LID));

	NEED(!ibv_destroy_qp(qp));
	return error;
}

static int group_never_joined(struct ground *g)
{
	return once(g, ibv_detach_mcast, &group);
}

static int group_that_is_none(struct ground *g)
{
	const union ibv_gid one = { .raw = { 0xfe, 0x80, [15] = 1 } };

	return once(g, ibv_attach_mcast, &one);
}

static int group_of_rc(struct ground *g)
{
	return ground_done(ibv_attach_mcast(g->rc, &group, GROUP_LID));
}

static int qp_in_a_group(struct ground *g)
{
	struct ibv_qp *qp = datagrams(g);
	int error;

	NEED(!ibv_attach_mcast(qp, &group, GROUP_LID));
	error = ground_done(ibv_destroy_qp(qp));
	NEED(!ibv_detach_mcast(qp, &group, GROUP_LID) && !ibv_destroy_qp(qp));
	return error;
}

/* ---- devices that lack something ---- */

static int xrc_capability(struct ground *g)
{
	struct ibv_device_attr attr;

	NEED(!ibv_query_device(g->host->ctx, &attr));
	return attr.device_cap_flags & IBV_DEVICE_XRC ? 0 : ENOSYS;
}

static int private_domain(struct ground *g)
{
	struct ibv_xrcd *xrcd = xrc_domain(g->host, -1, O_CREAT);

	return xrcd ? ground_done(ibv_close_xrcd(xrcd)) : errno;
}

static int xrc_sender(struct ground *g)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = g->host->cq, .qp_type = IBV_QPT_XRC_SEND, .pd = g->host->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp_ex(g->host->ctx, &attr);
	int error = qp ? ground_done(ibv_destroy_qp(qp)) : errno;

	/* mlx4_ib says ENOSYS, mlx5_ib EOPNOTSUPP. */
	return emulated_is_mlx5() && error == EOPNOTSUPP ? ENOSYS : error;
}

const struct refusal refusals_of_objects[] = {
	{ "domain: unknown file without O_CREAT", no_domain_no_creat, WITH_XRC, EAGAIN },
	{ "domain: known file with O_EXCL", domain_exists_excl, WITH_XRC, EINVAL },
	{ "domain: closed descriptor", domain_bad_fd, WITH_XRC, EBADF },
	{ "domain: descriptor of O_PATH", domain_of_a_path, WITH_XRC, EBADF },
	{ "domain: joined again and left", domain_joined_again, WITH_XRC, 0 },
	{ "domain: closed while in use", close_used_domain, WITH_XRC, EBUSY },
	{ "domain: on a device without XRC", private_domain, NO_XRC, EOPNOTSUPP },
	{ "capability: XRC", xrc_capability, WITH_XRC, 0 },
	{ "capability: no XRC", xrc_capability, NO_XRC, ENOSYS },
	{ "sender: on a device without XRC", xrc_sender, NO_XRC, ENOSYS },
	{ "sender", xrc_sender, WITH_XRC, 0 },
	{ "pd: in use", pd_in_use, ALWAYS, EBUSY },
	{ "cq: in use", cq_in_use, ALWAYS, EBUSY },
	{ "cq: in use by an XRC SRQ", cq_of_xrc_srq, WITH_XRC, EBUSY },
	{ "cq: no such vector", cq_bad_vector, ALWAYS, EINVAL },
	{ "srq: in use", srq_in_use, ALWAYS, EBUSY },
	{ "srq: too deep", srq_too_deep, WITH_XRC, EINVAL },
	{ "srq: too many entries", srq_too_many_sge, WITH_XRC, EINVAL },
	{ "srq: limit too high", srq_limit_too_high, ALWAYS, EINVAL },
	{ "srq: cannot be resized", srq_resize, ALWAYS, EINVAL },
	{ "srq: unknown attribute", srq_unknown_attribute, ALWAYS, 0 },
	{ "mr: remote write without local write", remote_write_alone, ALWAYS, EINVAL },
	{ "mr: remote atomic without local write", remote_atomic_alone, ALWAYS, EINVAL },
	{ "mr: on-demand paging", on_demand, ALWAYS, EINVAL },
	{ "mr: not mapped", not_mapped, ALWAYS, EFAULT },
	{ "mr: read-only memory", read_only_memory, ALWAYS, EFAULT },
	{ "mr: read-only memory, for reading", read_only_memory_for_reading, ALWAYS, 0 },
	{ "mr: hint of huge pages", hint_of_huge_pages, ALWAYS, 0 },
	{ "mr: no bytes", no_bytes, ALWAYS, EINVAL },
	{ "mr: moved", moved, ALWAYS, 0 },
	{ "mr: moved to what is not mapped", moved_to_nowhere, ALWAYS, EFAULT },
	{ "mr: changed to remote write without local write", changed_to_remote_write_alone, ALWAYS, EINVAL },
	{ "cq: resized", cq_resized, ALWAYS, 0 },
	{ "cq: resized and back", cq_resized_and_back, ALWAYS, 0 },
	{ "mw", window_type_1, BEYOND, 0 },
	{ "mw: no such type", window_without_type, BEYOND, EINVAL },
	{ "mw: keeps its PD", pd_with_a_window, BEYOND, EBUSY },
	{ "group: joined and left", group_joined_and_left, ALWAYS, 0 },
	{ "group: left without having been joined", group_never_joined, ALWAYS, EINVAL },
	{ "group: the address of no group", group_that_is_none, ALWAYS, EINVAL },
	{ "group: joined by an RC QP", group_of_rc, ALWAYS, EINVAL },
	{ "group: joined by a QP that is destroyed", qp_in_a_group, ALWAYS, EBUSY },
	{ "qp: RC on an XRC SRQ", rc_on_xrc_srq, WITH_XRC, EINVAL },
	{ "qp: UC on an XRC SRQ", uc_on_xrc_srq, WITH_XRC, EINVAL },
	{ "qp: UD on an XRC SRQ", ud_on_xrc_srq, WITH_XRC, EINVAL },
	{ "qp: raw packets", raw_packet, ALWAYS | NOT_DRIVEN, EOPNOTSUPP },
	{ "open_qp: unknown number", open_unknown, WITH_OPEN, EINVAL },
	{ "open_qp: other domain", open_other_domain, WITH_OPEN, EINVAL },
	{ "open_qp: not a target", open_no_target, WITH_OPEN, EINVAL },
	{ "open_qp: number with bit 23 turned", open_with_another_bit, WITH_OPEN, EINVAL },
	{ "open_qp: opened and closed", open_good, WITH_OPEN, 0 },
	{ "open_qp: on a device without it", open_good, NO_OPEN_QP, EOPNOTSUPP },
	{ NULL, NULL, 0, 0 },
};
