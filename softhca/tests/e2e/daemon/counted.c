/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Makes traffic for the counters: 5 messages of 1000 bytes arrive, one waits for a buffer, one
 * fails.
 */
#include <softhca/tests/e2e/rig.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MESSAGES 5
#define BYTES	 1000u

static void send_one(struct host *host, struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t rkey)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(host, &sge, opcode, 0, BYTES);

	wr.wr.rdma.rkey = rkey;
	NEED(!rig_post(qp, &wr));
}

static void wait_for(struct host *host, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	NEED(rig_poll(host->cq, &wc));
	NEED(wc.status == status);
}

/* Prints the numbers of the sender, of the receiver, of the waiting QP and of the failed one. */
int main(void)
{
	struct host *a = rig_host(0), *b = rig_host(1);
	struct ibv_qp *sender = rig_qp(a, IBV_QPT_RC, NULL),
		      *receiver = rig_qp(b, IBV_QPT_RC, NULL);
	struct ibv_qp *refused = rig_qp(a, IBV_QPT_RC, NULL),
		      *refuser = rig_qp(b, IBV_QPT_RC, NULL);
	struct rig_link patient = rig_link_to(0, 0);

	patient.rnr_retry = 7;
	rig_connect(a, sender, b, receiver, patient);
	rig_connect(a, refused, b, refuser, patient);
	for (int i = 0; i < MESSAGES; i++) {
		NEED(!rig_post_recv(b, receiver, 0, BYTES, 1));
		send_one(a, sender, IBV_WR_SEND, 0);
		wait_for(a, IBV_WC_SUCCESS);
		wait_for(b, IBV_WC_SUCCESS);
	}
	send_one(a, refused, IBV_WR_RDMA_WRITE, 0xdead00);
	wait_for(a, IBV_WC_REM_ACCESS_ERR);
	send_one(a, sender, IBV_WR_SEND, 0);
	printf("%u %u %u\n", sender->qp_num, receiver->qp_num, refused->qp_num);
	fflush(stdout);
	pause();
}
