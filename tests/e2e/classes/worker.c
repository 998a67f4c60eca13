/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One process of a job. It reads commands from its standard input and answers each with a line of
 * numbers:
 *
 *	create				number of a new receive QP of the domain
 *	reg N, unreg N			result
 *	connect N LID QP		receive QP N to RTR, with that sender: 0
 *	sender LID N			our XRC QP to RTS, with that receive QP: our QP's number
 *	post				a receive on our SRQ: 0
 *	send SRQ BYTE			its completion's status
 *	receive BYTE			receive QP's number
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../xrc_qps/one_way/receiver.h"

#define LIFETIME 60	/* seconds, also if the test dies */
#define THEIRS 4096	/* offset of received bytes in our memory */

static int send_byte(uint32_t srq_num, uint32_t byte)
{
	end.memory[0] = (uint8_t)byte;
	end.peer.srq_num = srq_num;
	end_send(&end, IBV_WR_SEND, 0, 1);
	return (int)end_poll(&end).status;
}

static uint32_t receive_byte(uint32_t byte)
{
	struct ibv_wc wc = end_poll(&end);

	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(end.memory[THEIRS], byte);
	return wc.qp_num;
}

static void obey(const char *line)
{
	uint32_t n = 0, lid = 0, qp_num = 0, byte = 0;

	if (!strncmp(line, "create", 6)) {
		printf("%u\n", receive_qp(end.domain));
	} else if (sscanf(line, "reg %u", &n) == 1) {
		printf("%d\n", ibv_reg_xrc_rcv_qp(end.domain, n));
	} else if (sscanf(line, "unreg %u", &n) == 1) {
		printf("%d\n", ibv_unreg_xrc_rcv_qp(end.domain, n));
	} else if (sscanf(line, "connect %u %u %u", &n, &lid, &qp_num) == 3) {
		end.peer = (struct address){ .lid = lid, .qp_num = qp_num, .psn = END_PSN };
		bring_receive_qp(&end, n);
		printf("0\n");
	} else if (sscanf(line, "sender %u %u", &lid, &n) == 2) {
		end_create_qp(&end, 4);
		end.own.psn = END_PSN;
		end.peer = (struct address){ .lid = lid, .qp_num = n, .psn = END_PSN };
		end_bring(&end, IBV_QPS_RTS);
		printf("%u\n", end.own.qp_num);
	} else if (!strncmp(line, "post", 4)) {
		end_post_recv(&end, 0, THEIRS, 1);
		printf("0\n");
	} else if (sscanf(line, "send %u %u", &n, &byte) == 2) {
		printf("%d\n", send_byte(n, byte));
	} else if (sscanf(line, "receive %u", &byte) == 1) {
		printf("%u\n", receive_byte(byte));
	} else {
		exit(2);
	}
}

int main(int argc, char **argv)
{
	char line[128];
	int fd;

	if (argc != 3)
		return 2;
	alarm(LIFETIME);
	row_begin("worker");
	fd = open(argv[2], O_RDWR | O_CREAT, 0600);
	must(fd >= 0);
	end_open(&end, atoi(argv[1]), fd, false);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%d %d %u %u\n", (int)sizeof(void *) * 8, (int)getpid(), end.own.lid,
	       end.own.srq_num);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
