/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Preloaded into the self-test, whose processes create one CQ each. A member of each completed
 * receive is wrong: GARBLE has its name. With "cq", no CQ can be created.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

/* The self-test posts receives with smaller numbers (tools/selftest/actor.c). */
#define SLOTS 4

static int (*real_poll_cq)(struct ibv_cq *cq, int count, struct ibv_wc *wc);

static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	int got = real_poll_cq(cq, count, wc);
	const char *member = getenv("GARBLE");

	if (got < 1 || wc->opcode != IBV_WC_RECV || !member)
		return got;
	if (!strcmp(member, "status"))
		wc->status = IBV_WC_LOC_PROT_ERR;
	else if (!strcmp(member, "wr_id"))
		wc->wr_id = SLOTS;
	else if (!strcmp(member, "opcode"))
		wc->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	else if (!strcmp(member, "qp_num"))
		wc->qp_num ^= 1;
	else if (!strcmp(member, "byte_len"))
		wc->byte_len--;
	return got;
}

__attribute__((visibility("default"))) struct ibv_cq *ibv_create_cq(
	struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
	int vector)
{
	/* Without a version, RTLD_NEXT of glibc 2.31 finds that of IBVERBS_1.0. */
	__typeof__(ibv_create_cq) *real =
		(__typeof__(ibv_create_cq) *)dlvsym(RTLD_NEXT, "ibv_create_cq", "IBVERBS_1.1");
	const char *member = getenv("GARBLE");

	if (member && !strcmp(member, "cq")) {
		errno = ENOSYS;
		return NULL;
	}
	real_poll_cq = context->ops.poll_cq;
	context->ops.poll_cq = poll_cq;
	return real(context, cqe, cq_context, channel, vector);
}
