/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a program with receive QPs gets: its own objects and no others, its own numbers, and verbs
 * that outlive main().
 */

#include <unistd.h>

#include <harness/thread_state.h>
#include "receiver.h"

ROW("a sender with two QPs sends to itself through a receive QP")
{
	struct ibv_qp *first;

	side_create_qp(&self, 16);
	first = self.qp;
	send_through_new_qp(rcv_qp_num);
	must_eq(ibv_reg_xrc_rcv_qp(self.domain, rcv_qp_num), 0);
	must_eq(ibv_destroy_qp(first), 0);
}

/* GASNet compares the number in completions with that of ibv_create_xrc_rcv_qp (contract 5.3). */
ROW("a receive QP keeps its number beside an XRC QP that only receives")
{
	struct ibv_qp *sending, *receiving;
	uint32_t later;

	send_through_new_qp(rcv_qp_num);
	sending = self.qp;
	/* This QP has a hidden half, so the library looks at every completion from now on. */
	side_create_qp(&self, 0);
	receiving = self.qp;
	self.qp = sending;
	receive_through(&self, rcv_qp_num);
	side_destroy_qp(&self);
	later = receive_qp(self.domain);
	send_through_new_qp(later);
	end_receive_qp(self.domain, later);
	must_eq(ibv_destroy_qp(receiving), 0);
}

/*
 * The emulator finds the memory and the descriptors of the process only in /proc/PID/task/TID of
 * this thread.
 */
static void *outlive_main(void *unused)
{
	while (thread_state(getpid()) != 'Z')	/* the row's time limit ends this */
		usleep(1000);
	send_through_new_qp(rcv_qp_num);
	row_ok();
	return unused;
}

ROW("a thread calls verbs after main() has ended by pthread_exit(3), and ends the process")
{
	start_thread(outlive_main, NULL);
	pthread_exit(NULL);
}
