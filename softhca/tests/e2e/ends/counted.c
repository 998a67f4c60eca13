/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Makes traffic for the counters: 5 messages of 1000 bytes arrive, one waits for a buffer, one
 * fails. Prints the QP numbers of the sender, which then waits, of the receiver and of the failed
 * QP.
 */
#include <softhca/tests/e2e/pair.h>

#include <stdio.h>
#include <unistd.h>

#define BYTES 1000u

int main(void)
{
	struct pair pair = pair_up(IBV_QPT_RC), failed = pair;
	struct ibv_send_wr write = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, BYTES),
			   send = pair_wr(&pair, IBV_WR_SEND, 0, 0, BYTES);

	failed.qa = rig_qp(pair.a, IBV_QPT_RC, NULL);
	failed.qb = rig_qp(pair.b, IBV_QPT_RC, NULL);
	rig_connect(pair.a, failed.qa, pair.b, failed.qb);
	for (int i = 0; i < 5; i++)
		NEED(!rig_post_recv(pair.b, pair.qb, 0, BYTES, 1) &&
		     pair_send(&pair, BYTES, IBV_WC_SUCCESS));
	write.wr.rdma.rkey = 0xdead00;
	NEED(rig_send(failed.qa, &write, IBV_WC_REM_ACCESS_ERR) && !rig_post(pair.qa, &send));
	printf("%u %u %u\n", pair.qa->qp_num, pair.qb->qp_num, failed.qa->qp_num);
	fflush(stdout);
	pause();
}
