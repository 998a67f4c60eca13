/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the kernel refuses, one row per refusal with its errno, over the modern API. A row with the
 * errno 0 is accepted: it differs little from a refused row, or another setting refuses it.
 */
#include <tests/rc_masks.h>
#include <tests/e2e/emulated.h>
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The objects of a row. Each row creates its own. Without XRC the XRC objects are NULL. */
struct objects {
	struct host *host;
	int fd;
	struct ibv_xrcd *xrcd; /* on fd */
	struct ibv_xrcd *private;
	struct ibv_srq *xsrq; /* with a CQ of its own */
	struct ibv_cq *xcq;
	struct ibv_srq *srq;
	struct ibv_qp *rc, *send, *recv; /* the first is on the SRQ */
};

/* How the HCA is set up. */
static enum mode { USUAL = 1, STRICT = 2, NO_OPEN_QP = 4, NO_XRC = 8 } mode;
static int ran, failures;

/* real mlx4 differs, see softhca(1); SOFTHCA_TEST_DRIVEN says that it is asked */
#define NOT_DRIVEN 32
#define WITH_XRC  (USUAL | STRICT | NO_OPEN_QP)
#define WITH_OPEN (USUAL | STRICT)
#define ALWAYS	  (WITH_XRC | NO_XRC)

/* Errno of a call that returns a pointer, or 0. */
static int errno_of_object(const void *object)
{
	return object ? 0 : errno;
}

/* Errno of a call that returns 0, an errno, or -1 with errno. */
static int errno_of_result(int result)
{
	return result < 0 ? errno : result;
}

static struct objects objects_create(bool xrc)
{
	struct objects g = { .host = rig_host(0), .fd = xrc_file() };
	struct ibv_cq *cq = g.host->cq;

	g.srq = MADE(rig_srq(g.host, 8));
	g.rc = rig_qp(g.host, IBV_QPT_RC, g.srq);
	if (!xrc)
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

/* Succeeds only if the row has left nothing behind. */
static void objects_destroy(struct objects *g)
{
	NEED(!ibv_destroy_qp(g->rc) && !ibv_destroy_srq(g->srq));
	if (g->xrcd) {
		NEED(!ibv_destroy_qp(g->recv) && !ibv_destroy_qp(g->send) &&
		     !ibv_destroy_srq(g->xsrq) && !ibv_destroy_cq(g->xcq));
		NEED(!ibv_close_xrcd(g->xrcd) && !ibv_close_xrcd(g->private));
	}
	rig_free_host(g->host);
	close(g->fd);
}

static bool applies(int modes)
{
	return (modes & (int)mode) && !(modes & NOT_DRIVEN && getenv("SOFTHCA_TEST_DRIVEN"));
}

static void judge(const char *name, int err, int wanted)
{
	ran++;
	if (err == wanted)
		return;
	failures++;
	printf("FAIL %s: got %s, the kernel has %s\n", name, strerrorname_np(err),
	       strerrorname_np(wanted));
}

/*
 * A row that holds in these modes: @attempt is an expression over the objects @g. Its value is the
 * errno of the call, or 0.
 */
#define ROW(name, modes, wanted, attempt) \
	do { \
		if (applies(modes)) { \
			struct objects created = objects_create(mode != NO_XRC); \
			struct objects *g = &created; \
			int err = attempt; \
			objects_destroy(g); \
			judge(name, err, wanted); \
		} \
	} while (0)

/* ---- domains ---- */

static int domain_opened_and_closed(struct objects *g, int fd, int oflags)
{
	struct ibv_xrcd *xrcd = xrc_domain(g->host, fd, oflags);

	return xrcd ? errno_of_result(ibv_close_xrcd(xrcd)) : errno;
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

/* Two pages, of which the one at @offset is not mapped. */
static uint8_t *gap(size_t offset)
{
	uint8_t *at = rig_map(8192);

	munmap(at + offset, 4096);
	return at;
}

static uint8_t *read_only(void)
{
	uint8_t *at = rig_map(4096);

	NEED(!mprotect(at, 4096, PROT_READ));
	return at;
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

/* ---- creation ---- */

static int cq_resized_and_back(struct objects *g)
{
	struct ibv_cq *cq = MADE(ibv_create_cq(g->host->ctx, 100, NULL, NULL, 0));
	int err = errno_of_result(ibv_resize_cq(cq, 10));

	if (!err)
		err = errno_of_result(ibv_resize_cq(cq, 200));
	NEED(rig_quiet(cq, 0) && !ibv_destroy_cq(cq));
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

static void of_domains_and_numbers(void)
{
	ROW("device: query of port 0", ALWAYS, EINVAL, query_port_0(g));
	ROW("domain: unknown file without O_CREAT", WITH_XRC, EAGAIN,
	    errno_of_object(xrc_domain(g->host, xrc_file(), 0)));
	ROW("domain: known file with O_EXCL", WITH_XRC, EINVAL,
	    errno_of_object(xrc_domain(g->host, g->fd, O_CREAT | O_EXCL)));
	ROW("domain: closed descriptor", WITH_XRC, EBADF,
	    errno_of_object(xrc_domain(g->host, 9999, O_CREAT)));
	/* It names a file, but was not opened for reading or writing. */
	ROW("domain: descriptor of O_PATH", WITH_XRC, EBADF,
	    errno_of_object(xrc_domain(g->host, open("/", O_PATH), O_CREAT)));
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

static void of_queues(void)
{
	ROW("pd: in use", ALWAYS, EBUSY, errno_of_result(ibv_dealloc_pd(g->host->pd)));
	ROW("cq: in use", ALWAYS, EBUSY, errno_of_result(ibv_destroy_cq(g->host->cq)));
	ROW("cq: in use by an XRC SRQ", WITH_XRC, EBUSY,
	    errno_of_result(ibv_destroy_cq(g->xcq)));
	ROW("cq: no such vector", ALWAYS, EINVAL,
	    errno_of_object(
		    ibv_create_cq(g->host->ctx, 4, NULL, NULL, g->host->ctx->num_comp_vectors)));
	ROW("srq: in use", ALWAYS, EBUSY, errno_of_result(ibv_destroy_srq(g->srq)));
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

static void of_memory(void)
{
	ROW("mr: remote write without local write", ALWAYS, EINVAL,
	    region(g, g->host->buffer, 4096, IBV_ACCESS_REMOTE_WRITE));
	ROW("mr: remote atomic without local write", ALWAYS, EINVAL,
	    region(g, g->host->buffer, 4096, IBV_ACCESS_REMOTE_ATOMIC));
	ROW("mr: on-demand paging", ALWAYS, EINVAL, on_demand(g));
	ROW("mr: not mapped", ALWAYS, EFAULT, region(g, gap(4096), 8192, IBV_ACCESS_LOCAL_WRITE));
	ROW("mr: read-only memory", ALWAYS, EFAULT,
	    region(g, read_only(), 4096, IBV_ACCESS_LOCAL_WRITE));
	ROW("mr: read-only memory, for reading", ALWAYS, 0,
	    region(g, read_only(), 4096, IBV_ACCESS_REMOTE_READ));
	ROW("mr: hint of huge pages", ALWAYS, 0,
	    region(g, g->host->buffer, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_HUGETLB));
	ROW("mr: no bytes", ALWAYS, EINVAL, region(g, g->host->buffer, 0, 0));
	ROW("mr: moved", ALWAYS, 0,
	    region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, g->host->buffer + 4096, 8192, 0));
	ROW("mr: moved to unmapped memory", ALWAYS, EFAULT,
	    region_again(g, IBV_REREG_MR_CHANGE_TRANSLATION, gap(0), 8192, 0));
	ROW("mr: changed to remote write without local write", ALWAYS, EINVAL,
	    region_again(g, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, IBV_ACCESS_REMOTE_WRITE));
}

/* ---- refused state changes of QPs (contract 5.9) ---- */

static struct ibv_qp_attr good(struct objects *g, enum ibv_qp_state state)
{
	const struct ibv_qp_attr attr = {
		.qp_state = state, .port_num = 1, .path_mtu = IBV_MTU_1024, .dest_qp_num = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1, .ah_attr = { .dlid = g->host->lid, .port_num = 1 },
		.timeout = 10, .retry_cnt = 1,
		.rnr_retry = 1, .max_rd_atomic = 1, .cur_qp_state = IBV_QPS_RTS,
		/* no adapter has so many P_Keys */
		.alt_ah_attr = { .dlid = g->host->lid, .port_num = 1 }, .alt_port_num = 1,
		.alt_pkey_index = 1000,
	};

	return attr;
}

/* Attributes for this state, with one change. */
#define BUT(state, change) \
	({ \
		struct ibv_qp_attr changed = good(g, state); \
\
		changed.change; \
		changed; \
	})

#define SENDERS_RTR (MASK_RTR & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
#define TARGETS_RTS (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN)

/* Modifies a QP that has been brought to @from. */
static int modify(struct objects *g, struct ibv_qp *qp, enum ibv_qp_state from,
		  struct ibv_qp_attr attr, int mask)
{
	struct ibv_qp_attr init = good(g, IBV_QPS_INIT), rtr = good(g, IBV_QPS_RTR);

	if (from >= IBV_QPS_INIT)
		NEED(!ibv_modify_qp(qp, &init, MASK_INIT));
	if (from >= IBV_QPS_RTR)
		NEED(!ibv_modify_qp(qp, &rtr, qp == g->send ? SENDERS_RTR : MASK_RTR));
	return errno_of_result(ibv_modify_qp(qp, &attr, mask));
}

static int go(struct objects *g, struct ibv_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to,
	      int mask)
{
	return modify(g, qp, from, good(g, to), mask);
}

static struct ibv_port_attr port_of(struct objects *g)
{
	struct ibv_port_attr port;

	NEED(!ibv_query_port(g->host->ctx, 1, &port));
	return port;
}

static int rtr_with_gid(struct objects *g, int index)
{
	struct ibv_qp_attr attr = BUT(IBV_QPS_RTR, ah_attr.is_global = 1);

	attr.ah_attr.grh.sgid_index = (uint8_t)index;
	return modify(g, g->rc, IBV_QPS_INIT, attr, MASK_RTR);
}

static void of_init(void)
{
	ROW("modify: RESET to RTR", ALWAYS, EINVAL,
	    go(g, g->rc, IBV_QPS_RESET, IBV_QPS_RTR, MASK_RTR));
	ROW("modify: RESET to ERR", ALWAYS, EINVAL,
	    go(g, g->rc, IBV_QPS_RESET, IBV_QPS_ERR, IBV_QP_STATE));
	ROW("modify: INIT without a port", ALWAYS, EINVAL,
	    go(g, g->rc, IBV_QPS_RESET, IBV_QPS_INIT, MASK_INIT & ~IBV_QP_PORT));
	ROW("modify: INIT with a bit too many", ALWAYS, EINVAL,
	    go(g, g->rc, IBV_QPS_RESET, IBV_QPS_INIT, MASK_INIT | IBV_QP_TIMEOUT));
	ROW("modify: INIT on a port that is not there", ALWAYS, EINVAL,
	    modify(g, g->rc, IBV_QPS_RESET, BUT(IBV_QPS_INIT, port_num = 2), MASK_INIT));
	ROW("modify: INIT with a P_Key that is not there", ALWAYS, EINVAL,
	    modify(g, g->rc, IBV_QPS_RESET,
		   BUT(IBV_QPS_INIT, pkey_index = port_of(g).pkey_tbl_len), MASK_INIT));
}

/* uverbs ignores some bits of old masks for XRC QPs; the strict setting refuses them. */
static void of_rtr_and_rts(void)
{
	ROW("modify: RTR with a bad MTU", ALWAYS, EINVAL,
	    modify(g, g->rc, IBV_QPS_INIT, BUT(IBV_QPS_RTR, path_mtu = 6), MASK_RTR));
	ROW("modify: RTR with too many reads", ALWAYS, EINVAL,
	    modify(g, g->rc, IBV_QPS_INIT, BUT(IBV_QPS_RTR, max_dest_rd_atomic = 17), MASK_RTR));
	ROW("modify: RTR with a GID that is not there", ALWAYS, EINVAL,
	    rtr_with_gid(g, port_of(g).gid_tbl_len));
	ROW("modify: RTR with an alternate P_Key that is not there", ALWAYS | NOT_DRIVEN, EINVAL,
	    go(g, g->rc, IBV_QPS_INIT, IBV_QPS_RTR, MASK_RTR | IBV_QP_ALT_PATH));
	ROW("modify: RTR twice", ALWAYS, EINVAL,
	    go(g, g->rc, IBV_QPS_RTR, IBV_QPS_RTR, MASK_RTR));
	ROW("modify: wrong current state", ALWAYS, EINVAL,
	    go(g, g->rc, IBV_QPS_RTR, IBV_QPS_RTS, MASK_RTS | IBV_QP_CUR_STATE));
	ROW("modify: sender with the masks of old", USUAL | NO_OPEN_QP, 0,
	    go(g, g->send, IBV_QPS_INIT, IBV_QPS_RTR, MASK_RTR));
	ROW("modify: sender with the masks of old, strictly", STRICT, EINVAL,
	    go(g, g->send, IBV_QPS_INIT, IBV_QPS_RTR, MASK_RTR));
	ROW("modify: target with the masks of old", USUAL | NO_OPEN_QP, 0,
	    go(g, g->recv, IBV_QPS_RTR, IBV_QPS_RTS, MASK_RTS));
	ROW("modify: target with the masks of old, strictly", STRICT, EINVAL,
	    go(g, g->recv, IBV_QPS_RTR, IBV_QPS_RTS, MASK_RTS));
	ROW("modify: sender with its own masks", WITH_XRC, 0,
	    go(g, g->send, IBV_QPS_RTR, IBV_QPS_RTS, MASK_RTS));
	ROW("modify: target with its own masks", WITH_XRC, 0,
	    go(g, g->recv, IBV_QPS_RTR, IBV_QPS_RTS, TARGETS_RTS));
	ROW("modify: target without its RNR timer", WITH_XRC, EINVAL,
	    go(g, g->recv, IBV_QPS_INIT, IBV_QPS_RTR, MASK_RTR & ~IBV_QP_MIN_RNR_TIMER));
}

static enum mode find_mode(const char *name)
{
	static const char *const names[] = { "usual", "strict", "no-open-qp", "no-xrc" };

	for (int i = 0; i < 4; i++) {
		if (!strcmp(names[i], name))
			return (enum mode)(1 << i);
	}
	fprintf(stderr,
		"usage: refusals usual|strict|no-open-qp|no-xrc (the settings that the HCA runs with)\n");
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	mode = find_mode(argc >= 2 ? argv[1] : "");
	of_domains_and_numbers();
	of_queues();
	of_memory();
	of_init();
	of_rtr_and_rts();
	printf("%d rows, %d failures\n", ran, failures);
	return failures || !ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
