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
	self.memory[0] = (uint8_t)byte;
	self.peer.srq_num = srq_num;
	side_send(&self, IBV_WR_SEND, 0, 1);
	return (int)side_poll(&self).status;
}

static uint32_t receive_byte(uint32_t byte)
{
	struct ibv_wc wc = side_poll(&self);

	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(self.memory[THEIRS], byte);
	return wc.qp_num;
}

static void obey(const char *line)
{
	uint32_t n = 0, lid = 0, qp_num = 0, byte = 0;

	if (!strncmp(line, "create", 6)) {
		printf("%u\n", receive_qp(self.domain));
	} else if (sscanf(line, "reg %u", &n) == 1) {
		printf("%d\n", ibv_reg_xrc_rcv_qp(self.domain, n));
	} else if (sscanf(line, "unreg %u", &n) == 1) {
		printf("%d\n", ibv_unreg_xrc_rcv_qp(self.domain, n));
	} else if (sscanf(line, "connect %u %u %u", &n, &lid, &qp_num) == 3) {
		self.peer = (struct address){ .lid = lid, .qp_num = qp_num, .psn = SIDE_PSN };
		bring_receive_qp(&self, n);
		printf("0\n");
	} else if (sscanf(line, "sender %u %u", &lid, &n) == 2) {
		side_create_qp(&self, 4);
		self.own.psn = SIDE_PSN;
		self.peer = (struct address){ .lid = lid, .qp_num = n, .psn = SIDE_PSN };
		side_bring(&self, IBV_QPS_RTS);
		printf("%u\n", self.own.qp_num);
	} else if (!strncmp(line, "post", 4)) {
		side_post_recv(&self, 0, THEIRS, 1);
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
	side_open(&self, atoi(argv[1]), fd, false);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%d %d %u %u\n", (int)sizeof(void *) * 8, (int)getpid(), self.own.lid,
	       self.own.srq_num);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
