/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the kernel refuses, one row per refusal with its errno, over the modern API. A row with the
 * errno 0 is accepted: it differs little from a refused row, or another setting refuses it.
 */
#include <harness/emulated.h>
#include "refusals.h"

#include <fcntl.h>
#include <unistd.h>

static enum mode mode;

/* Errno of a call that returns a pointer, or 0. */
static int errno_of_object(const void *object)
{
	return object ? 0 : errno;
}

int errno_of_result(int result)
{
	return result < 0 ? errno : result;
}

struct objects objects_create(void)
{
	struct objects g = { .host = rig_host(0), .fd = xrc_file() };
	struct ibv_cq *cq = g.host->cq;

	g.srq = MADE(rig_srq(g.host, 8));
	g.rc = rig_qp(g.host, IBV_QPT_RC, g.srq);
	if (mode == NO_XRC)
		return g;
	g.xrcd = MADE(xrc_domain(g.host, g.fd, O_CREAT));
	g.private = MADE(xrc_domain(g.host, -1, O_CREAT));
	g.host->cq = g.xcq = MADE(ibv_create_cq(g.host->ctx, 4, NULL, NULL, 0));
	g.xsrq = MADE(xrc_srq(g.host, g.xrcd, 8, 2));
	g.host->cq = cq;
	g.send = rig_qp(g.host, IBV_QPT_XRC_SEND, NULL);
	g.recv = MADE(xrc_target(g.host, g.xrcd));
	return g;
}

void objects_destroy(struct objects *g)
{
	must_eq(ibv_destroy_qp(g->rc), 0);
	must_eq(ibv_destroy_srq(g->srq), 0);
	if (g->xrcd) {
		must_eq(ibv_destroy_qp(g->recv), 0);
		must_eq(ibv_destroy_qp(g->send), 0);
		must_eq(ibv_destroy_srq(g->xsrq), 0);
		must_eq(ibv_destroy_cq(g->xcq), 0);
		must_eq(ibv_close_xrcd(g->xrcd), 0);
		must_eq(ibv_close_xrcd(g->private), 0);
	}
	rig_free_host(g->host);
	close(g->fd);
}

/* ---- domains ---- */

static int domain_opened_and_closed(struct objects *g, int fd, int oflags)
{
	struct ibv_xrcd *xrcd = xrc_domain(g->host, fd, oflags);

	return xrcd ? errno_of_result(ibv_close_xrcd(xrcd)) : errno;
}

/* By the last of two handles, so that it can be made anew. */
static int domain_ended(struct objects *g, int oflags)
{
	int fd = xrc_file();
	struct ibv_xrcd *one = MADE(xrc_domain(g->host, fd, O_CREAT | O_EXCL)),
			*two = MADE(xrc_domain(g->host, fd, 0));
	int err;

	must_eq(ibv_close_xrcd(one), 0);
	must_eq(ibv_close_xrcd(MADE(xrc_domain(g->host, fd, 0))), 0);
	must_eq(ibv_close_xrcd(two), 0);
	err = domain_opened_and_closed(g, fd, oflags);
	close(fd);
	return err;
}

/* ---- creation ---- */

static int cq_resized_and_back(struct objects *g)
{
	struct ibv_cq *cq = MADE(ibv_create_cq(g->host->ctx, 100, NULL, NULL, 0));
	int err = errno_of_result(ibv_resize_cq(cq, 10));

	if (!err)
		err = errno_of_result(ibv_resize_cq(cq, 200));
	rig_must_be_quiet(cq, 0);
	must_eq(ibv_destroy_cq(cq), 0);
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

/* mlx4_ib says EOPNOTSUPP, mlx5_ib EINVAL. */
static int create_scattered(struct objects *g)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = g->host->cq, .recv_cq = g->host->cq, .pd = g->host->pd,
		.qp_type = IBV_QPT_RC, .create_flags = IBV_QP_CREATE_SCATTER_FCS,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
	};
	int err = errno_of_object(ibv_create_qp_ex(g->host->ctx, &attr));

	return !emulated_is_mlx5() && err == EOPNOTSUPP ? EINVAL : err;
}

/* ---- opening targets ---- */

static int open_good(struct objects *g)
{
	struct ibv_qp *qp = xrc_open(g->host, g->xrcd, g->recv->qp_num);

	return qp ? errno_of_result(emulated_destroy_opened(qp)) : errno;
}

/* ---- SRQ attributes ---- */

static int srq_limit_too_high(struct objects *g)
{
	struct ibv_srq_attr attr;

	/* The provider may have made it larger than was asked for. */
	must_eq(ibv_query_srq(g->srq, &attr), 0);
	attr.srq_limit = attr.max_wr + 1;
	return errno_of_result(ibv_modify_srq(g->srq, &attr, IBV_SRQ_LIMIT));
}

/* The command's handle is not that of any CQ. */
static int srq_of_unknown_cq(struct objects *g)
{
	struct ibv_cq unknown = *g->host->cq;
	struct host host = *g->host;

	unknown.handle = 12345;
	host.cq = &unknown;
	return errno_of_object(xrc_srq(&host, g->xrcd, 8, 2));
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
#define GROUP_LID 0xc001
#define GID(...) ((union ibv_gid){ .raw = { __VA_ARGS__ } })

static struct ibv_qp *ud_qp(struct objects *g)
{
	struct ibv_qp *qp = rig_qp(g->host, IBV_QPT_UD, NULL);
	const struct rig_link link = rig_link_to(0, 0);

	must_eq(rig_init(qp, &link), 0);
	return qp;
}

static int attached(struct objects *g, uint16_t at_lid, union ibv_gid gid)
{
	struct ibv_qp *qp = ud_qp(g);
	int err = errno_of_result(ibv_attach_mcast(qp, &gid, at_lid));

	must_eq(errno_of_result(ibv_detach_mcast(qp, &gid, at_lid)), err);
	must_eq(ibv_destroy_qp(qp), 0);
	return err;
}

static int qp_in_a_group(struct objects *g)
{
	struct ibv_qp *qp = ud_qp(g);
	int err;

	must_eq(ibv_attach_mcast(qp, &group, GROUP_LID), 0);
	err = errno_of_result(ibv_destroy_qp(qp));
	must_eq(ibv_detach_mcast(qp, &group, GROUP_LID), 0);
	must_eq(ibv_destroy_qp(qp), 0);
	return err;
}

/* ---- devices that lack something ---- */

static int xrc_capability(struct objects *g)
{
	struct ibv_device_attr attr;

	must_eq(ibv_query_device(g->host->ctx, &attr), 0);
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

CALL("device: query of port 0", ALWAYS, EINVAL, query_port_0(g))
CALL("domain: unknown file without O_CREAT", WITH_XRC, EAGAIN,
     errno_of_object(xrc_domain(g->host, xrc_file(), 0)))
CALL("domain: known file with O_EXCL", WITH_XRC, EINVAL,
     errno_of_object(xrc_domain(g->host, g->fd, O_CREAT | O_EXCL)))
CALL("domain: closed descriptor", WITH_XRC, EBADF,
     errno_of_object(xrc_domain(g->host, 9999, O_CREAT)))
/* The descriptor names a file, but was not opened for reading or writing. */
CALL("domain: descriptor of O_PATH", WITH_XRC, EBADF,
     errno_of_object(xrc_domain(g->host, open("/", O_PATH), O_CREAT)))
CALL("domain: joined after its end", WITH_XRC, EAGAIN, domain_ended(g, 0))
CALL("domain: made anew after its end", WITH_XRC, 0, domain_ended(g, O_CREAT | O_EXCL))
CALL("domain: joined again and left", WITH_XRC, 0, domain_opened_and_closed(g, g->fd, 0))
CALL("domain: closed while in use", WITH_XRC, EBUSY, errno_of_result(ibv_close_xrcd(g->xrcd)))
CALL("domain: on a device without XRC", NO_XRC, EOPNOTSUPP,
     domain_opened_and_closed(g, -1, O_CREAT))
CALL("capability: XRC", WITH_XRC, 0, xrc_capability(g))
CALL("capability: no XRC", NO_XRC, ENOSYS, xrc_capability(g))
CALL("sender: on a device without XRC", NO_XRC, ENOSYS, xrc_sender(g))
CALL("sender: created", WITH_XRC, 0, xrc_sender(g))
CALL("open_qp: unknown number", WITH_OPEN, EINVAL,
     errno_of_object(xrc_open(g->host, g->xrcd, emulated_target_tag() | 12345)))
CALL("open_qp: other domain", WITH_OPEN, EINVAL,
     errno_of_object(xrc_open(g->host, g->private, g->recv->qp_num)))
CALL("open_qp: not a target", WITH_OPEN, EINVAL,
     errno_of_object(xrc_open(g->host, g->xrcd, g->rc->qp_num)))
CALL("open_qp: number with bit 23 turned", WITH_OPEN, EINVAL,
     errno_of_object(xrc_open(g->host, g->xrcd, g->recv->qp_num ^ 0x800000u)))
CALL("open_qp: opened and closed", WITH_OPEN, 0, open_good(g))
CALL("open_qp: on a device without it", NO_OPEN_QP, EOPNOTSUPP, open_good(g))

CALL("pd: in use", ALWAYS, EBUSY, errno_of_result(ibv_dealloc_pd(g->host->pd)))
CALL("cq: in use", ALWAYS, EBUSY, errno_of_result(ibv_destroy_cq(g->host->cq)))
CALL("cq: in use by an XRC SRQ", WITH_XRC, EBUSY, errno_of_result(ibv_destroy_cq(g->xcq)))
CALL("cq: no such vector", ALWAYS, EINVAL,
     errno_of_object(
	     ibv_create_cq(g->host->ctx, 4, NULL, NULL, g->host->ctx->num_comp_vectors)))
CALL("srq: in use", ALWAYS, EBUSY, errno_of_result(ibv_destroy_srq(g->srq)))
CALL("srq: too deep", WITH_XRC, EINVAL, errno_of_object(xrc_srq(g->host, g->xrcd, 40000, 1)))
CALL("srq: too many entries", WITH_XRC, EINVAL, errno_of_object(xrc_srq(g->host, g->xrcd, 8, 32)))
CALL("srq: XRC with a CQ that is not there", WITH_XRC, ENOENT, srq_of_unknown_cq(g))
CALL("srq: limit too high", ALWAYS, EINVAL, srq_limit_too_high(g))
CALL("srq: cannot be resized", ALWAYS, EINVAL, srq_modified(g, IBV_SRQ_MAX_WR))
/* The drivers ignore all bits but the two that they know. */
CALL("srq: unknown attribute", ALWAYS, 0, srq_modified(g, 4))
CALL("cq: resized and back", ALWAYS, 0, cq_resized_and_back(g))
CALL("group: joined and left", ALWAYS, 0, attached(g, GROUP_LID, group))
CALL("group: the address of no group", ALWAYS, EINVAL, attached(g, GROUP_LID, GID(0xfe, 0x80)))
CALL("group: the first LID", ALWAYS | NOT_DRIVEN, 0, attached(g, 0xc000, GID(0xff)))
CALL("group: the last LID", ALWAYS | NOT_DRIVEN, 0, attached(g, 0xfffe, GID(0xff)))
CALL("group: a LID before the first", ALWAYS, EINVAL, attached(g, 0xbfff, GID(0xff)))
CALL("group: a LID behind the last", ALWAYS, EINVAL, attached(g, 0xffff, GID(0xff)))
CALL("group: one of IPv4", ALWAYS | NOT_DRIVEN, 0,
     attached(g, GROUP_LID, GID([10] = 0xff, 0xff, 239, 255, 0, 1)))
CALL("group: an address of IPv4", ALWAYS | NOT_DRIVEN, EINVAL,
     attached(g, GROUP_LID, GID([10] = 0xff, 0xff, 198, 18, 0, 1)))
CALL("group: joined by an RC QP", ALWAYS, EINVAL,
     errno_of_result(ibv_attach_mcast(g->rc, &group, GROUP_LID)))
CALL("group: joined by a QP that is destroyed", ALWAYS, EBUSY, qp_in_a_group(g))
CALL("qp: RC on an XRC SRQ", WITH_XRC, EINVAL, create_qp(g, IBV_QPT_RC, g->xsrq))
CALL("qp: an unknown creation flag", ALWAYS | NOT_DRIVEN, EINVAL, create_scattered(g))
CALL("qp: raw packets", ALWAYS | NOT_DRIVEN, EOPNOTSUPP,
     create_qp(g, IBV_QPT_RAW_PACKET, NULL))

/* ---- limits, as test_softhca_verbs.py sets them: the objects of a row are all that may be ---- */

static int limits_reported(struct objects *g)
{
	struct ibv_device_attr attr;

	must_eq(ibv_query_device(g->host->ctx, &attr), 0);
	must_eq(attr.max_qp, 3);
	must_eq(attr.max_cq, 2);
	must_eq(attr.max_srq, 2);
	must_eq(attr.max_mr, 1);
	must_eq(attr.max_pd, 1);
	must_eq(attr.max_qp_wr, 20);
	must_eq(attr.max_sge, 4);
	must_eq(attr.max_cqe, 127);
	must_eq(attr.max_srq_wr, 31);
	must_eq(attr.max_srq_sge, 3);
	must_eq(attr.max_qp_rd_atom, 4);
	must_eq(attr.max_qp_init_rd_atom, 8);
	return 0;
}

/* A QP with these queues in place of another one. */
static int queues(struct objects *g, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = g->host->cq, .recv_cq = g->host->cq, .qp_type = IBV_QPT_RC, .cap = cap,
	};
	struct ibv_qp *qp;
	int err;

	must_eq(ibv_destroy_qp(g->rc), 0);
	qp = ibv_create_qp(g->host->pd, &attr);
	err = qp ? errno_of_result(ibv_destroy_qp(qp)) : errno;
	g->rc = rig_qp(g->host, IBV_QPT_RC, g->srq);
	return err;
}

/* An SRQ and its CQ as long as they may be. */
static int longest_srq_and_cq(struct objects *g)
{
	struct ibv_cq *cq = g->host->cq;

	must_eq(ibv_destroy_srq(g->xsrq), 0);
	must_eq(ibv_destroy_cq(g->xcq), 0);
	g->host->cq = g->xcq = MADE(ibv_create_cq(g->host->ctx, 127, NULL, NULL, 0));
	g->xsrq = MADE(xrc_srq(g->host, g->xrcd, 31, 3));
	g->host->cq = cq;
	return 0;
}

#define QUEUES(...) queues(g, (struct ibv_qp_cap){ __VA_ARGS__ })

CALL("limits: reported", LIMITED, 0, limits_reported(g))
CALL("limits: the longest queues", LIMITED, 0, QUEUES(20, 20, 4, 4, 0))
CALL("limits: a longer send queue", LIMITED, EINVAL, QUEUES(21, 1, 1, 1, 0))
CALL("limits: a longer receive queue", LIMITED, EINVAL, QUEUES(1, 21, 1, 1, 0))
CALL("limits: more pieces of a request", LIMITED, EINVAL, QUEUES(1, 1, 5, 1, 0))
CALL("limits: more pieces of a receive", LIMITED, EINVAL, QUEUES(1, 1, 1, 5, 0))
CALL("limits: one more QP", LIMITED, ENOMEM, create_qp(g, IBV_QPT_RC, NULL))
CALL("limits: the longest SRQ and CQ", LIMITED, 0, longest_srq_and_cq(g))
CALL("limits: one more CQ", LIMITED, ENOMEM,
     errno_of_object(ibv_create_cq(g->host->ctx, 1, NULL, NULL, 0)))
CALL("limits: a longer CQ", LIMITED, EINVAL,
     errno_of_object(ibv_create_cq(g->host->ctx, 128, NULL, NULL, 0)))
CALL("limits: a CQ made longer", LIMITED, EINVAL, errno_of_result(ibv_resize_cq(g->xcq, 128)))
CALL("limits: one more SRQ", LIMITED, ENOMEM, errno_of_object(rig_srq(g->host, 1)))
CALL("limits: a longer SRQ", LIMITED, EINVAL, errno_of_object(rig_srq(g->host, 32)))
CALL("limits: more pieces of an SRQ", LIMITED, EINVAL,
     errno_of_object(xrc_srq(g->host, g->xrcd, 8, 4)))
CALL("limits: one more region", LIMITED, ENOMEM, region(g, g->host->buffer, 10, 0))
CALL("limits: one more PD", LIMITED, ENOMEM, errno_of_object(ibv_alloc_pd(g->host->ctx)))

static enum mode find_mode(const char *name)
{
	static const char *const names[] = { "usual", "strict", "no-open-qp", "no-xrc", "limits",
					     "memlock", "no-memlock" };

	for (int i = 0; i < 7; i++) {
		if (!strcmp(names[i], name))
			return (enum mode)(1 << i);
	}
	fputs("usage: refusals usual|strict|no-open-qp|no-xrc|limits|memlock|no-memlock\n", stderr);
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	const char *driven = getenv("SOFTHCA_TEST_DRIVEN");
	bool good = true;

	mode = find_mode(argc >= 2 ? argv[1] : "");
	if (mode & (MEMLOCK | NO_MEMLOCK))
		limit_locked_memory();
	for (const struct row *row = row_first(); row; row = row->next) {
		if (row->needs & (int)mode && !(row->needs & NOT_DRIVEN && driven) &&
		    !(row->needs & NOT_MLX5 && driven && !strcmp(driven, "mlx5")))
			good &= row_run(row, row->name);
	}
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
