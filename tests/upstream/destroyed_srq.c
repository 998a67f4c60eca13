/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program of today that destroys an XRC SRQ whose completion it has not polled, and polls then.
 *
 * Status 0: there is no completion. 1: there is one, or the CQ fails.
 */
#include <softhca/tests/e2e/xrc.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define LENGTH 8
#define RECEIVED 4096 /* in the buffer */

int main(void)
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	struct ibv_srq *srq = MADE(xrc_srq(host, xrcd, 4, 1));
	struct ibv_qp *sender = MADE(rig_qp(host, IBV_QPT_XRC_SEND, NULL));
	struct ibv_qp *target = MADE(xrc_target(host, xrcd));
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(host, &sge, IBV_WR_SEND, 0, LENGTH);
	struct ibv_wc wc;
	int polled;

	rig_connect(host, sender, host, target, rig_link_to(0, host->lid));
	NEED(!rig_post_srq(host, srq, RECEIVED, LENGTH, 1));
	wr.qp_type.xrc.remote_srqn = xrc_srq_number(srq);
	wr.send_flags = 0;
	host->buffer[LENGTH - 1] = 1;
	NEED(!rig_post(sender, &wr));
	NEED(rig_changes(&host->buffer[RECEIVED + LENGTH - 1]));
	usleep(100000);	/* the completion follows the data */
	NEED(!ibv_destroy_srq(srq));
	polled = ibv_poll_cq(host->cq, 1, &wc);
	printf("ibv_poll_cq %d\n", polled);
	return polled != 0;
}
