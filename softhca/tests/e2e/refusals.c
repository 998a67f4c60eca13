/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the kernel refuses, one row per refusal with its errno, over the modern API. A row with the
 * errno 0 is accepted: it differs little from a refused row, or another setting refuses it.
 */
#include <tests/rc_masks.h>
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int errno_of_object(const void *object)
{
	return object ? 0 : errno;
}

int errno_of_result(int result)
{
	return result < 0 ? errno : result;
}

struct objects objects_create(bool xrc)
{
	struct objects g = { .host = rig_host(0), .fd = xrc_file() };

	g.srq = MADE(rig_srq(g.host, 8));
	g.rc = rig_qp(g.host, IBV_QPT_RC, NULL);
	if (!xrc)
		return g;
	g.xrcd = MADE(xrc_domain(g.host, g.fd, O_CREAT));
	g.private = MADE(xrc_domain(g.host, -1, O_CREAT));
	g.xsrq = MADE(xrc_srq(g.host, g.xrcd, 8, 2));
	g.send = rig_qp(g.host, IBV_QPT_XRC_SEND, NULL);
	g.recv = MADE(xrc_target(g.host, g.xrcd));
	return g;
}

void objects_destroy(struct objects *g)
{
	NEED(!ibv_destroy_qp(g->rc) && !ibv_destroy_srq(g->srq));
	if (g->xrcd) {
		NEED(!ibv_destroy_qp(g->recv) && !ibv_destroy_qp(g->send) &&
		     !ibv_destroy_srq(g->xsrq));
		NEED(!ibv_close_xrcd(g->xrcd) && !ibv_close_xrcd(g->private));
	}
	rig_free_host(g->host);
	close(g->fd);
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

bool refusals_apply(const struct refusals *run, int modes)
{
	return (modes & (int)run->mode) && !(modes & NOT_DRIVEN && getenv("SOFTHCA_TEST_DRIVEN"));
}

void refusals_judge(struct refusals *run, const char *name, int err, int wanted)
{
	run->ran++;
	if (err == wanted)
		return;
	run->failures++;
	printf("FAIL %s: got %s, the kernel has %s\n", name, strerrorname_np(err),
	       strerrorname_np(wanted));
}

/* ---- what is refused when QPs change their state (contract 5.9) ---- */

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

static void refusals_of_init(struct refusals *run)
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
static void refusals_of_rtr_and_rts(struct refusals *run)
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

int main(int argc, char **argv)
{
	struct refusals run = { .mode = find_mode(argc >= 2 ? argv[1] : "") };

	refusals_of_objects(&run);
	refusals_of_init(&run);
	refusals_of_rtr_and_rts(&run);
	printf("%d rows, %d failures\n", run.ran, run.failures);
	return run.failures || !run.ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
