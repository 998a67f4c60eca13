/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a program with receive QPs gets: its own objects and no others, its own numbers, and verbs
 * that outlive main().
 */

#include <unistd.h>

#include "../../../thread_state.h"
#include "receiver.h"

ROW("a sender with two QPs sends to itself through a receive QP")
{
	struct ibv_qp *first;

	end_create_qp(&end, 16);
	first = end.qp;
	end_create_qp(&end, 16);
	connect_to_itself(&end, rcv_qp_num);
	receive_through(&end, rcv_qp_num);
	must_eq(ibv_reg_xrc_rcv_qp(end.domain, rcv_qp_num), 0);
	must_eq(ibv_destroy_qp(first), 0);
}

/* GASNet compares the number in completions with that of ibv_create_xrc_rcv_qp (contract 5.3). */
ROW("a receive QP keeps its number beside an XRC QP that only receives")
{
	struct ibv_qp *sending, *receiving;
	uint32_t later;

	end_create_qp(&end, 16);
	connect_to_itself(&end, rcv_qp_num);
	receive_through(&end, rcv_qp_num);
	sending = end.qp;
	/* This QP has a hidden half, so the library looks at every completion from now on. */
	end_create_qp(&end, 0);
	receiving = end.qp;
	end.qp = sending;
	receive_through(&end, rcv_qp_num);
	end_destroy_qp(&end);
	end_create_qp(&end, 16);
	later = receive_qp(end.domain);
	connect_to_itself(&end, later);
	receive_through(&end, later);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, later), 0);
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
	end_create_qp(&end, END_DEPTH);
	connect_to_itself(&end, rcv_qp_num);
	receive_through(&end, rcv_qp_num);
	row_ok();
	return unused;	/* with the device open, for which the emulator has a thread */
}

ROW("a thread calls verbs after main() has ended by pthread_exit(3), and ends the process")
{
	start_thread(outlive_main, NULL);
	pthread_exit(NULL);
}
