/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program for `xrc-compat ps --stacks`: hang-in-call FILE. It creates a receive QP, prints
 * the QP's number, and after a line of input unregisters from the QP. "crash" as that line makes
 * it pass an invalid pointer to a legacy function.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../xrc_qps/one_way/receiver.h"

__attribute__((noinline)) static int unregister(uint32_t number)
{
	int err = ibv_unreg_xrc_rcv_qp(self.domain, number);

	__asm__ volatile("" ::: "memory");	/* no tail call */
	return err;
}

__attribute__((noinline)) static int crash(uint32_t number)
{
	struct ibv_qp_attr *invalid = (void *)8;

	return 1 + ibv_modify_xrc_rcv_qp(self.domain, number, invalid, IBV_QP_STATE);
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	char line[16] = "";
	uint32_t number;

	must(fd >= 0);
	alarm(300);
	side_open_without_srq(&self, 0, fd, false);
	number = receive_qp(self.domain);
	printf("%u\n", number);
	fflush(stdout);
	must(fgets(line, sizeof(line), stdin) != NULL);
	return strcmp(line, "crash\n") ? unregister(number) : crash(number);
}
