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
#include "receiver.h"

#define PATIENCE 20	/* seconds that a wait may take before the row fails */

static void wait_for_the_end_of_main(void)
{
	double deadline = seconds() + PATIENCE;

	while (thread_state(getpid()) != 'Z') {
		must(seconds() < deadline);
		usleep(1000);
	}
}

static void use_device(void)
{
	struct ibv_device_attr device;

	must_eq(ibv_query_device(end.context, &device), 0);
	end_create_qp(&end, END_DEPTH);
	connect_to_itself(&end, rcv_qp_num);
	receive_through(&end, rcv_qp_num);
}

/* Uses objects that main() created, and a device that is opened only now. */
static void *linger(void *unused)
{
	wait_for_the_end_of_main();
	use_device();
	close_receiver();
	open_receiver();
	use_device();
	row_ok();
	return unused;
}

static void clean_up(void)
{
	row_begin("an atexit() function destroys the objects");
	close_receiver();
	row_ok();
}

int main(void)
{
	row_begin("another thread calls verbs after main() has ended");
	open_receiver();
	must(!atexit(clean_up));
	start_thread(linger, NULL);
	pthread_exit(NULL);
}
