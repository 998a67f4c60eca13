/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Makes traffic for the counters: 5 messages of 1000 bytes arrive, one waits for a buffer, one
 * fails.
 */
#include <softhca/tests/e2e/rig.h>

#include <stdio.h>
#include <unistd.h>

#define MESSAGES 5
#define BYTES	 1000u

/* Prints the QP numbers of the sender, which then waits, of the receiver and of the failed QP. */
int main(void)
{
	struct host *a = rig_host(0), *b = rig_host(1);
	struct ibv_qp *sender = rig_qp(a, IBV_QPT_RC, NULL),
		      *receiver = rig_qp(b, IBV_QPT_RC, NULL);
	struct ibv_qp *failed = rig_qp(a, IBV_QPT_RC, NULL),
		      *refuser = rig_qp(b, IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr send = rig_wr(a, &sge, IBV_WR_SEND, 0, BYTES),
			   write = rig_wr(a, &sge, IBV_WR_RDMA_WRITE, 0, BYTES);
	struct ibv_wc wc;

	rig_connect(a, sender, b, receiver, rig_link_to(0, 0));
	rig_connect(a, failed, b, refuser, rig_link_to(0, 0));
	for (int i = 0; i < MESSAGES; i++) {
		NEED(!rig_post_recv(b, receiver, 0, BYTES, 1));
		NEED(rig_send(sender, &send, IBV_WC_SUCCESS));
		NEED(rig_poll_success(b->cq, &wc));
	}
	write.wr.rdma.rkey = 0xdead00;
	NEED(rig_send(failed, &write, IBV_WC_REM_ACCESS_ERR));
	NEED(!rig_post(sender, &send));
	printf("%u %u %u\n", sender->qp_num, receiver->qp_num, failed->qp_num);
	fflush(stdout);
	pause();
}
