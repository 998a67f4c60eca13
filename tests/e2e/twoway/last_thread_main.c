/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * main() ends by pthread_exit(3), another thread calls verbs, and its end is the program's. After
 * the main thread has ended, the emulator finds memory and descriptors of the process only in
 * /proc/PID/task/TID of a remaining thread.
 */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../thread_state.h"
#include "end.h"
#include "receiver.h"
#include "../row.h"

#define PATIENCE 20	/* seconds that a wait may take before the row fails */

static struct end early;
static uint32_t early_qp_num;

static void wait_for_the_end_of_main(void)
{
	double deadline = seconds() + PATIENCE;

	while (thread_state(getpid()) != 'Z') {
		must(seconds() < deadline);
		usleep(1000);
	}
}

static void query(const struct end *end)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;

	must_eq(ibv_query_device(end->context, &device), 0);
	must_eq(ibv_query_port(end->context, 1, &port), 0);
}

static void send_to_itself(struct end *end, uint32_t qp_num)
{
	end_create_qp(end, END_DEPTH);
	connect_to_itself(end, qp_num);
	receive_through(end, qp_num);
}

/* Uses objects that main() created, and a device that is opened only now. */
static void use_early_and_late(void)
{
	struct end late;
	uint32_t qp_num;

	query(&early);
	send_to_itself(&early, early_qp_num);
	end_open(&late, 0, shared_file(), false);
	qp_num = receive_qp(late.domain);
	send_to_itself(&late, qp_num);
	must_eq(ibv_unreg_xrc_rcv_qp(late.domain, qp_num), 0);
	end_close(&late);
}

static void clean_up(void)
{
	row_begin("an atexit() function destroys the objects");
	must_eq(ibv_unreg_xrc_rcv_qp(early.domain, early_qp_num), 0);
	end_close(&early);
	row_ok();
}

static void *linger(void *unused)
{
	wait_for_the_end_of_main();
	use_early_and_late();
	row_ok();
	return unused;
}

int main(void)
{
	pthread_t other;

	row_begin("another thread calls verbs after main() has ended");
	end_open(&early, 0, shared_file(), false);
	early_qp_num = receive_qp(early.domain);
	must(!atexit(clean_up));
	must(!pthread_create(&other, NULL, linger, NULL));
	pthread_exit(NULL);
}
