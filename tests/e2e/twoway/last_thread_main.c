/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program that ends with the last of its threads, and not with main(). */

#include <pthread.h>
#include <unistd.h>

#include "end.h"
#include "receiver.h"
#include "row.h"

static void *linger(void *arg)
{
	usleep(50000);
	row_ok();
	return arg;
}

int main(void)
{
	static struct end end;
	pthread_t other;

	row_begin("main() has left, and the program goes on");
	end_open(&end, 0, shared_file(), false);
	receive_qp(end.domain);
	must(!pthread_create(&other, NULL, linger, NULL));
	pthread_exit(NULL);
}
