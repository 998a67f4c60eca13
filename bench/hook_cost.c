/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One data-path call, many times, for an instruction counter: hook_cost CASE COUNT [BATCH]. See
 * hook_cost.py.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <compat/ops.h>
#include <compat/srq.h>
#include <shim/shim.h>

/* hook_cost.py polls as many. */
#define MAX_BATCH 16

static int provider_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
				  struct ibv_recv_wr **bad_wr)
{
	(void)srq;
	(void)wr;
	(void)bad_wr;
	return 0;
}

/* A receive completion of a target, as every message of a two-way program gives one. */
static int provider_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	(void)cq;
	for (int i = 0; i < num_entries; i++) {
		wc[i].status = IBV_WC_SUCCESS;
		wc[i].opcode = IBV_WC_RECV;
		wc[i].qp_num = 0x800049;
	}
	return num_entries;
}

static struct ibv_context context = {
	.ops = { .post_srq_recv = provider_post_srq_recv, .poll_cq = provider_poll_cq },
};

static void post(struct ibv_srq *srq, long count)
{
	struct ibv_recv_wr wr = { 0 }, *bad_wr;

	while (count--)
		ibv_post_srq_recv(srq, &wr, &bad_wr);
}

static void poll_many(long count, int batch)
{
	struct ibv_cq cq = { .context = &context };
	struct ibv_wc wc[MAX_BATCH];

	while (count--)
		ibv_poll_cq(&cq, batch, wc);
}

int main(int argc, char **argv)
{
	struct ibv_srq real = { .context = &context };
	struct srq_image image = { .srq = &real, .post_recv = provider_post_srq_recv };
	const char *name = argc >= 3 ? argv[1] : "";
	long count = argc >= 3 ? atol(argv[2]) : 0;
	int batch = argc == 4 ? atoi(argv[3]) : 1;

	if (batch < 1 || batch > MAX_BATCH)
		name = "";

	image.ofed.context = &context;
	image.ofed.handle = SRQ_IMAGE_HANDLE;
	if (!strcmp(name, "post-plain")) {
		post(&real, count);
	} else if (!strcmp(name, "post-image")) {
		ops_hook_post_srq_recv(&context, shim_post_srq_recv);
		post((struct ibv_srq *)&image, count);
	} else if (!strcmp(name, "poll-plain")) {
		poll_many(count, batch);
	} else if (!strcmp(name, "poll-two-way")) {
		ops_hook_poll_cq(&context, shim_poll_cq_tagged);
		poll_many(count, batch);
	} else if (!strcmp(name, "poll-two-way-untagged")) {
		ops_hook_poll_cq(&context, shim_poll_cq_untagged);
		poll_many(count, batch);
	} else {
		fprintf(stderr,
			"usage: hook_cost post-plain|post-image|poll-plain|poll-two-way|poll-two-way-untagged COUNT "
			"[BATCH]\n");
		return 2;
	}
	return 0;
}
