/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is refused when objects are made, opened and destroyed. */
#include <tests/e2e/emulated.h>
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- domains ---- */

static int no_domain_no_creat(struct objects *g)
{
	int fd = xrc_file();
	int err = errno_of_object(xrc_domain(g->host, fd, 0));

	close(fd);
	return err;
}

/* The descriptor names a file, but was not opened for reading or writing. */
static int domain_of_a_path(struct objects *g)
{
	int fd = open("/", O_PATH);
	int err = errno_of_object(xrc_domain(g->host, fd, O_CREAT));

	close(fd);
	return err;
}

static int domain_opened_and_closed(struct objects *g, int fd, int oflags)
{
	struct ibv_xrcd *xrcd = xrc_domain(g->host, fd, oflags);

	return xrcd ? errno_of_result(ibv_close_xrcd(xrcd)) : errno;
}

/* ---- in use ---- */

static int srq_in_use(struct objects *g)
{
	struct ibv_qp *qp = rig_qp(g->host, IBV_QPT_RC, g->srq);
	int err = errno_of_result(ibv_destroy_srq(g->srq));

	NEED(!ibv_destroy_qp(qp));
	return err;
}

static int cq_of_xrc_srq(struct objects *g)
{
	struct ibv_cq *cq = g->host->cq, *own = ibv_create_cq(g->host->ctx, 4, NULL, NULL, 0);
	struct ibv_srq *srq;
	int err;

	g->host->cq = own;
	srq = MADE(xrc_srq(g->host, g->xrcd, 8, 1));
	g->host->cq = cq;
	err = errno_of_result(ibv_destroy_cq(own));
	NEED(!ibv_destroy_srq(srq) && !ibv_destroy_cq(own));
	return err;
}

/* ---- memory ---- */

static int region(struct objects *g, void *at, size_t length, unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr(g->host->pd, at, length, access);

	return mr ? errno_of_result(ibv_dereg_mr(mr)) : errno;
}

static int on_demand(struct objects *g)
{
	int err = region(g, g->host->buffer, 4096, IBV_ACCESS_ON_DEMAND);

	/* Linux 7.2 says EOPNOTSUPP, those before EINVAL. */
	return err == EOPNOTSUPP ? EINVAL : err;
}

static int not_mapped(struct objects *g)
{
	uint8_t *at = rig_map(8192);

	munmap(at + 4096, 4096);
	return region(g, at, 8192, IBV_ACCESS_LOCAL_WRITE);
}

static int read_only_memory(struct objects *g, unsigned int access)
{
	void *at = rig_map(4096);

	NEED(!mprotect(at, 4096, PROT_READ));
	return region(g, at, 4096, access);
}

/* ibv_rereg_mr leaves the errno of the command behind. */
static int region_again(struct objects *g, int flags, void *at, size_t length, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(g->host->pd, g->host->buffer, 4096, IBV_ACCESS_LOCAL_WRITE);
	int err;

	NEED(mr);
	err = ibv_rereg_mr(mr, flags, NULL, at, length, access) ? errno : 0;
	NEED(!ibv_dereg_mr(mr));
	return err;
}

static int moved_to_nowhere(struct objects *g)
{
	uint8_t *at = rig_map(8192);

	munmap(at, 8192);
	return region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, at, 8192, 0);
}

/* ---- creation ---- */

static int cq_resized_and_back(struct objects *g)
{
	struct ibv_cq *cq = ibv_create_cq(g->host->ctx, 100, NULL, NULL, 0);
	struct ibv_wc wc;
	int err;

	NEED(cq && !ibv_resize_cq(cq, 10));
	err = errno_of_result(ibv_resize_cq(cq, 200));
	NEED(!ibv_poll_cq(cq, 1, &wc) && !ibv_destroy_cq(cq));
	return err;
}

static int create_qp(struct objects *g, enum ibv_qp_type type, struct ibv_srq *srq)
{
	const bool receives = type == IBV_QPT_RAW_PACKET;
	struct ibv_qp_init_attr attr = {
		.send_cq = g->host->cq, .recv_cq = g->host->cq, .srq = srq, .qp_type = type,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = receives,
			 .max_recv_sge = receives },
	};
	struct ibv_qp *qp = ibv_create_qp(g->host->pd, &attr);

	return qp ? errno_of_result(ibv_destroy_qp(qp)) : errno;
}

/* ---- opening targets ---- */

static int open_good(struct objects *g)
{
	struct ibv_qp *qp = xrc_open(g->host, g->xrcd, g->recv->qp_num);

	return qp ? errno_of_result(opened_destroy(qp)) : errno;
}

/* ---- SRQ attributes ---- */

static int srq_limit_too_high(struct objects *g)
{
	struct ibv_srq_attr attr;

	/* The provider may have made it larger than was asked for. */
	NEED(!ibv_query_srq(g->srq, &attr));
	attr.srq_limit = attr.max_wr + 1;
	return errno_of_result(ibv_modify_srq(g->srq, &attr, IBV_SRQ_LIMIT));
}

static int srq_modified(struct objects *g, int mask)
{
	struct ibv_srq_attr attr = { .max_wr = 4 };

	return errno_of_result(ibv_modify_srq(g->srq, &attr, mask));
}

/* ---- ports and multicast groups ---- */

static int query_port_0(struct objects *g)
{
	struct ibv_port_attr port;

	return errno_of_result(ibv_query_port(g->host->ctx, 0, &port));
}

static const union ibv_gid group = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 1 } };
static const union ibv_gid no_group = { .raw = { 0xfe, 0x80, [15] = 1 } };
#define GROUP_LID 0xc001

static struct ibv_qp *ud_qp(struct objects *g)
{
	struct ibv_qp *qp = rig_qp(g->host, IBV_QPT_UD, NULL);
	const struct rig_link link = rig_link_to(0, 0);

	NEED(!rig_init(qp, &link));
	return qp;
}

static int attached(struct objects *g, const union ibv_gid *gid)
{
	struct ibv_qp *qp = ud_qp(g);
	int err = errno_of_result(ibv_attach_mcast(qp, gid, GROUP_LID));

	if (!err)
		err = errno_of_result(ibv_detach_mcast(qp, gid, GROUP_LID));
	NEED(!ibv_destroy_qp(qp));
	return err;
}

static int qp_in_a_group(struct objects *g)
{
	struct ibv_qp *qp = ud_qp(g);
	int err;

	NEED(!ibv_attach_mcast(qp, &group, GROUP_LID));
	err = errno_of_result(ibv_destroy_qp(qp));
	NEED(!ibv_detach_mcast(qp, &group, GROUP_LID) && !ibv_destroy_qp(qp));
	return err;
}

/* ---- devices that lack something ---- */

static int xrc_capability(struct objects *g)
{
	struct ibv_device_attr attr;

	NEED(!ibv_query_device(g->host->ctx, &attr));
	return attr.device_cap_flags & IBV_DEVICE_XRC ? 0 : ENOSYS;
}

static int xrc_sender(struct objects *g)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = g->host->cq, .qp_type = IBV_QPT_XRC_SEND, .pd = g->host->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp_ex(g->host->ctx, &attr);
	int err = qp ? errno_of_result(ibv_destroy_qp(qp)) : errno;

	/* mlx4_ib says ENOSYS, mlx5_ib EOPNOTSUPP. */
	return emulated_is_mlx5() && err == EOPNOTSUPP ? ENOSYS : err;
}

/* ---- the rows ---- */

static void of_domains_and_numbers(struct refusals *run)
{
	ROW("device: query of port 0", ALWAYS, EINVAL, query_port_0(g));
	ROW("domain: unknown file without O_CREAT", WITH_XRC, EAGAIN, no_domain_no_creat(g));
	ROW("domain: known file with O_EXCL", WITH_XRC, EINVAL,
	    errno_of_object(xrc_domain(g->host, g->fd, O_CREAT | O_EXCL)));
	ROW("domain: closed descriptor", WITH_XRC, EBADF,
	    errno_of_object(xrc_domain(g->host, 9999, O_CREAT)));
	ROW("domain: descriptor of O_PATH", WITH_XRC, EBADF, domain_of_a_path(g));
	ROW("domain: joined again and left", WITH_XRC, 0, domain_opened_and_closed(g, g->fd, 0));
	ROW("domain: closed while in use", WITH_XRC, EBUSY,
	    errno_of_result(ibv_close_xrcd(g->xrcd)));
	ROW("domain: on a device without XRC", NO_XRC, EOPNOTSUPP,
	    domain_opened_and_closed(g, -1, O_CREAT));
	ROW("capability: XRC", WITH_XRC, 0, xrc_capability(g));
	ROW("capability: no XRC", NO_XRC, ENOSYS, xrc_capability(g));
	ROW("sender: on a device without XRC", NO_XRC, ENOSYS, xrc_sender(g));
	ROW("sender: created", WITH_XRC, 0, xrc_sender(g));
	ROW("open_qp: unknown number", WITH_OPEN, EINVAL,
	    errno_of_object(xrc_open(g->host, g->xrcd, emulated_target_tag() | 12345)));
	ROW("open_qp: other domain", WITH_OPEN, EINVAL,
	    errno_of_object(xrc_open(g->host, g->private, g->recv->qp_num)));
	ROW("open_qp: not a target", WITH_OPEN, EINVAL,
	    errno_of_object(xrc_open(g->host, g->xrcd, g->rc->qp_num)));
	ROW("open_qp: number with bit 23 turned", WITH_OPEN, EINVAL,
	    errno_of_object(xrc_open(g->host, g->xrcd, g->recv->qp_num ^ 0x800000u)));
	ROW("open_qp: opened and closed", WITH_OPEN, 0, open_good(g));
	ROW("open_qp: on a device without it", NO_OPEN_QP, EOPNOTSUPP, open_good(g));
}

static void of_queues(struct refusals *run)
{
	ROW("pd: in use", ALWAYS, EBUSY, errno_of_result(ibv_dealloc_pd(g->host->pd)));
	ROW("cq: in use", ALWAYS, EBUSY, errno_of_result(ibv_destroy_cq(g->host->cq)));
	ROW("cq: in use by an XRC SRQ", WITH_XRC, EBUSY, cq_of_xrc_srq(g));
	ROW("cq: no such vector", ALWAYS, EINVAL,
	    errno_of_object(
		    ibv_create_cq(g->host->ctx, 4, NULL, NULL, g->host->ctx->num_comp_vectors)));
	ROW("srq: in use", ALWAYS, EBUSY, srq_in_use(g));
	ROW("srq: too deep", WITH_XRC, EINVAL,
	    errno_of_object(xrc_srq(g->host, g->xrcd, 40000, 1)));
	ROW("srq: too many entries", WITH_XRC, EINVAL,
	    errno_of_object(xrc_srq(g->host, g->xrcd, 8, 32)));
	ROW("srq: limit too high", ALWAYS, EINVAL, srq_limit_too_high(g));
	ROW("srq: cannot be resized", ALWAYS, EINVAL, srq_modified(g, IBV_SRQ_MAX_WR));
	/* The drivers ignore all bits but the two that they know. */
	ROW("srq: unknown attribute", ALWAYS, 0, srq_modified(g, 4));
	ROW("cq: resized and back", ALWAYS, 0, cq_resized_and_back(g));
	ROW("group: joined and left", ALWAYS, 0, attached(g, &group));
	ROW("group: the address of no group", ALWAYS, EINVAL, attached(g, &no_group));
	ROW("group: joined by an RC QP", ALWAYS, EINVAL,
	    errno_of_result(ibv_attach_mcast(g->rc, &group, GROUP_LID)));
	ROW("group: joined by a QP that is destroyed", ALWAYS, EBUSY, qp_in_a_group(g));
	ROW("qp: RC on an XRC SRQ", WITH_XRC, EINVAL, create_qp(g, IBV_QPT_RC, g->xsrq));
	ROW("qp: raw packets", ALWAYS | NOT_DRIVEN, EOPNOTSUPP,
	    create_qp(g, IBV_QPT_RAW_PACKET, NULL) ? EOPNOTSUPP : 0);
}

static void of_memory(struct refusals *run)
{
	ROW("mr: remote write without local write", ALWAYS, EINVAL,
	    region(g, g->host->buffer, 4096, IBV_ACCESS_REMOTE_WRITE));
	ROW("mr: remote atomic without local write", ALWAYS, EINVAL,
	    region(g, g->host->buffer, 4096, IBV_ACCESS_REMOTE_ATOMIC));
	ROW("mr: on-demand paging", ALWAYS, EINVAL, on_demand(g));
	ROW("mr: not mapped", ALWAYS, EFAULT, not_mapped(g));
	ROW("mr: read-only memory", ALWAYS, EFAULT,
	    read_only_memory(g, IBV_ACCESS_LOCAL_WRITE));
	ROW("mr: read-only memory, for reading", ALWAYS, 0,
	    read_only_memory(g, IBV_ACCESS_REMOTE_READ));
	ROW("mr: hint of huge pages", ALWAYS, 0,
	    region(g, g->host->buffer, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB));
	ROW("mr: no bytes", ALWAYS, EINVAL, region(g, g->host->buffer, 0, 0));
	ROW("mr: moved", ALWAYS, 0,
	    region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, g->host->buffer + 4096, 8192, 0));
	ROW("mr: moved to unmapped memory", ALWAYS, EFAULT, moved_to_nowhere(g));
	ROW("mr: changed to remote write without local write", ALWAYS, EINVAL,
	    region_again(g, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, IBV_ACCESS_REMOTE_WRITE));
}

void refusals_of_objects(struct refusals *run)
{
	of_domains_and_numbers(run);
	of_queues(run);
	of_memory(run);
}
