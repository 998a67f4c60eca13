// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* What the kernel refuses, one row per refusal with its errno, over the modern API. */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the rows work on; made anew for each row. */
struct ground {
	struct host *host;
	int fd;
	struct ibv_xrcd *xrcd;	/* on fd; NULL without XRC */
	struct ibv_xrcd *private;
	struct ibv_srq *xsrq;
	struct ibv_srq *srq;
	struct ibv_qp *rc, *send, *recv;
};

/* Errno of a call that returns a pointer, or 0. */
static int made(const void *object)
{
	return object ? 0 : errno;
}

/* Errno of a call that returns 0, an errno, or -1 with errno. */
static int done(int result)
{
	return result < 0 ? errno : result;
}

static struct ibv_xrcd *domain(struct ground *g, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = oflags
	};

	return ibv_open_xrcd(g->host->ctx, &attr);
}

static struct ibv_srq *xrc_srq(struct ground *g, struct ibv_xrcd *xrcd, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge }, .srq_type = IBV_SRQT_XRC, .xrcd = xrcd,
		.cq = g->host->cq, .pd = g->host->pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
	};

	return ibv_create_srq_ex(g->host->ctx, &attr);
}

static struct ibv_qp *target(struct ground *g, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd, .comp_mask = IBV_QP_INIT_ATTR_XRCD
	};

	return ibv_create_qp_ex(g->host->ctx, &attr);
}

static struct ibv_qp *open_target(struct ground *g, struct ibv_xrcd *xrcd, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(g->host->ctx, &attr);
}

static int temporary_file(void)
{
	char path[] = "/tmp/softhca-test-XXXXXX";
	int fd = mkstemp(path);

	NEED(fd >= 0);
	unlink(path);
	return fd;
}

static struct ground lay_ground(bool xrc)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 2 } };
	struct ground g = { .host = rig_host(0), .fd = temporary_file() };

	g.srq = ibv_create_srq(g.host->pd, &init);
	g.rc = rig_qp(g.host, IBV_QPT_RC, NULL);
	NEED(g.srq);
	if (!xrc)
		return g;
	g.xrcd = domain(&g, g.fd, O_CREAT);
	g.private = domain(&g, -1, O_CREAT);
	NEED(g.xrcd && g.private);
	g.xsrq = xrc_srq(&g, g.xrcd, 8, 2);
	g.send = rig_qp(g.host, IBV_QPT_XRC_SEND, NULL);
	g.recv = target(&g, g.xrcd);
	NEED(g.xsrq && g.recv);
	return g;
}

/* A row must leave what it found; that this all goes away again is part of the test. */
static void clear_ground(struct ground *g)
{
	NEED(!ibv_destroy_qp(g->rc) && !ibv_destroy_srq(g->srq));
	if (g->xrcd) {
		NEED(!ibv_destroy_qp(g->recv) && !ibv_destroy_qp(g->send) && !ibv_destroy_srq(g->xsrq));
		NEED(!ibv_close_xrcd(g->xrcd) && !ibv_close_xrcd(g->private));
	}
	rig_free_host(g->host);
	close(g->fd);
}

/* ---- domains ---- */

static int no_domain_no_creat(struct ground *g)
{
	int fd = temporary_file();
	int error = made(domain(g, fd, 0));

	close(fd);
	return error;
}

static int domain_exists_excl(struct ground *g)
{
	return made(domain(g, g->fd, O_CREAT | O_EXCL));
}

static int domain_bad_fd(struct ground *g)
{
	return made(domain(g, 9999, O_CREAT));
}

static int domain_joined_again(struct ground *g)
{
	struct ibv_xrcd *again = domain(g, g->fd, 0);

	return again ? done(ibv_close_xrcd(again)) : errno;
}

static int close_used_domain(struct ground *g)
{
	return done(ibv_close_xrcd(g->xrcd));
}

/* ---- in use ---- */

static int pd_in_use(struct ground *g)
{
	return done(ibv_dealloc_pd(g->host->pd));
}

static int cq_in_use(struct ground *g)
{
	return done(ibv_destroy_cq(g->host->cq));
}

static int srq_in_use(struct ground *g)
{
	struct ibv_qp *qp = rig_qp(g->host, IBV_QPT_RC, g->srq);
	int error = done(ibv_destroy_srq(g->srq));

	NEED(!ibv_destroy_qp(qp));
	return error;
}

static int cq_of_xrc_srq(struct ground *g)
{
	struct ibv_cq *cq = g->host->cq, *own = ibv_create_cq(g->host->ctx, 4, NULL, NULL, 0);
	struct ibv_srq *srq;
	int error;

	g->host->cq = own;
	srq = xrc_srq(g, g->xrcd, 8, 1);
	g->host->cq = cq;
	NEED(srq);
	error = done(ibv_destroy_cq(own));
	NEED(!ibv_destroy_srq(srq) && !ibv_destroy_cq(own));
	return error;
}

/* ---- memory ---- */

static int region(struct ground *g, void *at, size_t length, unsigned int access)
{
	struct ibv_mr *mr = ibv_reg_mr(g->host->pd, at, length, access);

	return mr ? done(ibv_dereg_mr(mr)) : errno;
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
	return region(g, g->host->buffer, 4096, IBV_ACCESS_ON_DEMAND);
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

static int no_bytes(struct ground *g)
{
	return region(g, g->host->buffer, 0, 0);
}

/* ---- creation ---- */

static int cq_bad_vector(struct ground *g)
{
	return made(ibv_create_cq(g->host->ctx, 4, NULL, NULL, g->host->ctx->num_comp_vectors));
}

static int srq_too_deep(struct ground *g)
{
	return made(xrc_srq(g, g->xrcd, 20000, 1));
}

static int srq_too_many_sge(struct ground *g)
{
	return made(xrc_srq(g, g->xrcd, 8, 32));
}

static int rc_on_xrc_srq(struct ground *g)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = g->host->cq, .recv_cq = g->host->cq, .srq = g->xsrq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};

	return made(ibv_create_qp(g->host->pd, &attr));
}

static int raw_packet(struct ground *g)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = g->host->cq, .recv_cq = g->host->cq, .qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
	};

	return made(ibv_create_qp(g->host->pd, &attr)) ? EOPNOTSUPP : 0;
}

/* ---- opening targets ---- */

static int open_unknown(struct ground *g)
{
	return made(open_target(g, g->xrcd, 0x800000 | 12345));
}

static int open_other_domain(struct ground *g)
{
	return made(open_target(g, g->private, g->recv->qp_num));
}

static int open_no_target(struct ground *g)
{
	return made(open_target(g, g->xrcd, g->rc->qp_num));
}

static int open_without_the_bit(struct ground *g)
{
	return made(open_target(g, g->xrcd, g->recv->qp_num & ~0x800000u));
}

static int open_good(struct ground *g)
{
	struct ibv_qp *qp = open_target(g, g->xrcd, g->recv->qp_num);

	return qp ? done(ibv_destroy_qp(qp)) : errno;
}

/* ---- SRQ attributes ---- */

static int srq_limit_too_high(struct ground *g)
{
	struct ibv_srq_attr attr = { .srq_limit = 16 };

	return done(ibv_modify_srq(g->srq, &attr, IBV_SRQ_LIMIT));
}

static int srq_resize(struct ground *g)
{
	struct ibv_srq_attr attr = { .max_wr = 4 };

	return done(ibv_modify_srq(g->srq, &attr, IBV_SRQ_MAX_WR));
}

/* ---- transitions (contract 5.9; uverbs forgives some bits to XRC QPs, the strict setting does not) ---- */

#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR                                                                                                         \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |    \
	 IBV_QP_MIN_RNR_TIMER)
#define TO_RTS                                                                                                         \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)

static struct ibv_qp_attr good_attr(struct ground *g, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {
		.qp_state = state, .port_num = 1, .path_mtu = IBV_MTU_1024, .dest_qp_num = 1, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 1, .ah_attr = { .dlid = g->host->lid, .port_num = 1 }, .timeout = 10, .retry_cnt = 1,
		.rnr_retry = 1, .max_rd_atomic = 1,
	};

	return attr;
}

static int go(struct ground *g, struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = good_attr(g, state);

	return done(ibv_modify_qp(qp, &attr, mask));
}

static int reset_to_rtr(struct ground *g)
{
	return go(g, g->rc, IBV_QPS_RTR, TO_RTR);
}

static int reset_to_err(struct ground *g)
{
	return go(g, g->rc, IBV_QPS_ERR, IBV_QP_STATE);
}

static int init_without_port(struct ground *g)
{
	return go(g, g->rc, IBV_QPS_INIT, TO_INIT & ~IBV_QP_PORT);
}

static int init_with_too_much(struct ground *g)
{
	return go(g, g->rc, IBV_QPS_INIT, TO_INIT | IBV_QP_TIMEOUT);
}

static int init_port_2(struct ground *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_INIT);

	attr.port_num = 2;
	return done(ibv_modify_qp(g->rc, &attr, TO_INIT));
}

static int init_pkey_1(struct ground *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_INIT);

	attr.pkey_index = 1;
	return done(ibv_modify_qp(g->rc, &attr, TO_INIT));
}

static int rtr_bad_mtu(struct ground *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTR);

	NEED(!go(g, g->rc, IBV_QPS_INIT, TO_INIT));
	attr.path_mtu = 6;
	return done(ibv_modify_qp(g->rc, &attr, TO_RTR));
}

static int rtr_too_many_reads(struct ground *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTR);

	NEED(!go(g, g->rc, IBV_QPS_INIT, TO_INIT));
	attr.max_dest_rd_atomic = 17;
	return done(ibv_modify_qp(g->rc, &attr, TO_RTR));
}

static int rtr_bad_gid_index(struct ground *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTR);

	NEED(!go(g, g->rc, IBV_QPS_INIT, TO_INIT));
	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = 5;
	return done(ibv_modify_qp(g->rc, &attr, TO_RTR));
}

static int rtr_twice(struct ground *g)
{
	NEED(!go(g, g->rc, IBV_QPS_INIT, TO_INIT) && !go(g, g->rc, IBV_QPS_RTR, TO_RTR));
	return go(g, g->rc, IBV_QPS_RTR, TO_RTR);
}

static int wrong_current_state(struct ground *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTS);

	NEED(!go(g, g->rc, IBV_QPS_INIT, TO_INIT) && !go(g, g->rc, IBV_QPS_RTR, TO_RTR));
	attr.cur_qp_state = IBV_QPS_RTS;
	return done(ibv_modify_qp(g->rc, &attr, TO_RTS | IBV_QP_CUR_STATE));
}

static int sender_legacy_rtr(struct ground *g)
{
	NEED(!go(g, g->send, IBV_QPS_INIT, TO_INIT));
	return go(g, g->send, IBV_QPS_RTR, TO_RTR);
}

static int target_legacy_rts(struct ground *g)
{
	NEED(!go(g, g->recv, IBV_QPS_INIT, TO_INIT) && !go(g, g->recv, IBV_QPS_RTR, TO_RTR));
	return go(g, g->recv, IBV_QPS_RTS, TO_RTS);
}

static int sender_modern(struct ground *g)
{
	NEED(!go(g, g->send, IBV_QPS_INIT, TO_INIT));
	NEED(!go(g, g->send, IBV_QPS_RTR, TO_RTR & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)));
	return go(g, g->send, IBV_QPS_RTS, TO_RTS);
}

static int target_modern(struct ground *g)
{
	NEED(!go(g, g->recv, IBV_QPS_INIT, TO_INIT) && !go(g, g->recv, IBV_QPS_RTR, TO_RTR));
	return go(g, g->recv, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN);
}

static int target_without_rnr_timer(struct ground *g)
{
	NEED(!go(g, g->recv, IBV_QPS_INIT, TO_INIT));
	return go(g, g->recv, IBV_QPS_RTR, TO_RTR & ~IBV_QP_MIN_RNR_TIMER);
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
	struct ibv_xrcd *xrcd = domain(g, -1, O_CREAT);

	return xrcd ? done(ibv_close_xrcd(xrcd)) : errno;
}

static int xrc_sender(struct ground *g)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = g->host->cq, .qp_type = IBV_QPT_XRC_SEND, .pd = g->host->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD, .cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp_ex(g->host->ctx, &attr);

	return qp ? done(ibv_destroy_qp(qp)) : errno;
}

enum mode { USUAL = 1, STRICT = 2, NO_OPEN_QP = 4, NO_XRC = 8 };
#define WITH_XRC  (USUAL | STRICT | NO_OPEN_QP)
#define WITH_OPEN (USUAL | STRICT)
#define ALWAYS	  (WITH_XRC | NO_XRC)

static const struct {
	const char *name;
	int (*attempt)(struct ground *g);
	int modes; /* in which this row holds */
	int error;
} rows[] = {
	{ "domain: unknown file without O_CREAT", no_domain_no_creat, WITH_XRC, EAGAIN },
	{ "domain: known file with O_EXCL", domain_exists_excl, WITH_XRC, EINVAL },
	{ "domain: closed descriptor", domain_bad_fd, WITH_XRC, EBADF },
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
	{ "mr: remote write without local write", remote_write_alone, ALWAYS, EINVAL },
	{ "mr: remote atomic without local write", remote_atomic_alone, ALWAYS, EINVAL },
	{ "mr: on-demand paging", on_demand, ALWAYS, EINVAL },
	{ "mr: not mapped", not_mapped, ALWAYS, EFAULT },
	{ "mr: read-only memory", read_only_memory, ALWAYS, EFAULT },
	{ "mr: read-only memory, for reading", read_only_memory_for_reading, ALWAYS, 0 },
	{ "mr: no bytes", no_bytes, ALWAYS, EINVAL },
	{ "qp: RC on an XRC SRQ", rc_on_xrc_srq, WITH_XRC, EINVAL },
	{ "qp: raw packets", raw_packet, ALWAYS, EOPNOTSUPP },
	{ "open_qp: unknown number", open_unknown, WITH_OPEN, EINVAL },
	{ "open_qp: other domain", open_other_domain, WITH_OPEN, EINVAL },
	{ "open_qp: not a target", open_no_target, WITH_OPEN, EINVAL },
	{ "open_qp: number without bit 23", open_without_the_bit, WITH_OPEN, EINVAL },
	{ "open_qp: opened and closed", open_good, WITH_OPEN, 0 },
	{ "open_qp: on a device without it", open_good, NO_OPEN_QP, EOPNOTSUPP },
	{ "modify: RESET to RTR", reset_to_rtr, ALWAYS, EINVAL },
	{ "modify: RESET to ERR", reset_to_err, ALWAYS, EINVAL },
	{ "modify: INIT without a port", init_without_port, ALWAYS, EINVAL },
	{ "modify: INIT with a bit too many", init_with_too_much, ALWAYS, EINVAL },
	{ "modify: INIT on a port that is not there", init_port_2, ALWAYS, EINVAL },
	{ "modify: INIT with a P_Key that is not there", init_pkey_1, ALWAYS, EINVAL },
	{ "modify: RTR with a bad MTU", rtr_bad_mtu, ALWAYS, EINVAL },
	{ "modify: RTR with too many reads", rtr_too_many_reads, ALWAYS, EINVAL },
	{ "modify: RTR with a GID that is not there", rtr_bad_gid_index, ALWAYS, EINVAL },
	{ "modify: RTR twice", rtr_twice, ALWAYS, EINVAL },
	{ "modify: wrong current state", wrong_current_state, ALWAYS, EINVAL },
	{ "modify: sender with the masks of old", sender_legacy_rtr, USUAL | NO_OPEN_QP, 0 },
	{ "modify: sender with the masks of old, strictly", sender_legacy_rtr, STRICT, EINVAL },
	{ "modify: target with the masks of old", target_legacy_rts, USUAL | NO_OPEN_QP, 0 },
	{ "modify: target with the masks of old, strictly", target_legacy_rts, STRICT, EINVAL },
	{ "modify: sender with its own masks", sender_modern, WITH_XRC, 0 },
	{ "modify: target with its own masks", target_modern, WITH_XRC, 0 },
	{ "modify: target without its RNR timer", target_without_rnr_timer, WITH_XRC, EINVAL },
};

static enum mode find_mode(const char *name)
{
	static const char *const names[] = { "usual", "strict", "no-open-qp", "no-xrc" };

	for (int i = 0; i < 4; i++) {
		if (!strcmp(names[i], name))
			return (enum mode)(1 << i);
	}
	fprintf(stderr, "usage: refusals usual|strict|no-open-qp|no-xrc (the settings that the HCA runs with)\n");
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	enum mode mode = find_mode(argc == 2 ? argv[1] : "");
	int failures = 0, ran = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ground ground;
		int error;

		if (!(rows[i].modes & (int)mode))
			continue;
		ground = lay_ground(mode != NO_XRC);
		error = rows[i].attempt(&ground);
		clear_ground(&ground);
		if (error != rows[i].error) {
			printf("FAIL %s: got %s, the kernel has %s\n", rows[i].name, strerrorname_np(error),
			       strerrorname_np(rows[i].error));
			failures++;
		}
		ran++;
	}
	printf("%d rows, %d failures\n", ran, failures);
	return failures || !ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
