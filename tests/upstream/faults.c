/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Programs of today that meet the faults of docs/upstream. Each prints "reached" before the library
 * can go wrong. Status 0: the library is right.
 *
 *	faults destroy|reset	ends a handle from ibv_open_qp by the verbs alone
 *	faults plain-srq	asks for the XRC number of an ordinary SRQ, which has none
 *	faults polled-late	polls the completion of an XRC SRQ that is destroyed
 */
#include <e2e/rig.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 8
#define RECEIVED 4096 /* in the buffer */
#define NUMBER_OF_MLNX_OFED 152	/* docs/contract.md 2.6 */

static void reached(void)
{
	puts("reached");
	fflush(stdout);
}

static int end_opened_handle(bool reset)
{
	int fd = xrc_file();
	struct host *one = rig_host(0), *other = rig_host(0);
	struct ibv_qp *target = MADE(xrc_target(one, MADE(xrc_domain(one, fd, O_CREAT))));
	struct ibv_xrcd *second = MADE(xrc_domain(other, fd, O_CREAT));
	struct ibv_qp *opened = MADE(xrc_open(other, second, target->qp_num));
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	reached();
	must(!(reset ? ibv_modify_qp(opened, &attr, IBV_QP_STATE) : ibv_destroy_qp(opened)));
	return 0;
}

static int number_of_plain_srq(void)
{
	struct host *host = rig_host(0);
	struct ibv_srq *srq = MADE(rig_srq(host, 4));
	uint32_t shown, answered = 0;
	int err;

	reached();
	memcpy(&shown, (const char *)srq + NUMBER_OF_MLNX_OFED, sizeof(shown));
	err = ibv_get_srq_num(srq, &answered);
	printf("shown %#x, ibv_get_srq_num %d with %#x\n", shown, err, answered);
	return err != EOPNOTSUPP || shown;
}

static int poll_destroyed_srq(void)
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	struct ibv_srq *srq = MADE(xrc_srq(host, xrcd, 4, 1));
	struct ibv_qp *sender = MADE(rig_qp(host, IBV_QPT_XRC_SEND, NULL));
	struct ibv_qp *target = MADE(xrc_target(host, xrcd));
	struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, 0, LENGTH);
	struct ibv_wc wc;

	rig_connect(host, sender, host, target);
	must(!rig_post_srq(host, srq, RECEIVED, LENGTH, 1));
	wr.qp_type.xrc.remote_srqn = xrc_srq_number(srq);
	wr.send_flags = 0;
	must(!ibv_req_notify_cq(host->cq, 0) && !rig_post(sender, &wr));
	rig_must_be_notified(host);
	must(!ibv_destroy_srq(srq));
	reached();
	return ibv_poll_cq(host->cq, 1, &wc);
}

int main(int argc, char **argv)
{
	const char *fault = argc == 2 ? argv[1] : "";

	if (!strcmp(fault, "plain-srq"))
		return number_of_plain_srq();
	if (!strcmp(fault, "polled-late"))
		return poll_destroyed_srq() != 0;
	if (strcmp(fault, "destroy") && strcmp(fault, "reset"))
		return 2;
	return end_opened_handle(!strcmp(fault, "reset"));
}
