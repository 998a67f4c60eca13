/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program for `xrc-compat ps --stacks`: hang-in-call FILE. It creates a receive QP, prints
 * the QP's number, and after a line of input unregisters from the QP. "crash" as that line makes
 * it pass an invalid pointer to a legacy function. After "srq" or "qp" another thread gets an event
 * of this object, prints its own id, and acknowledges the event after a further line; meanwhile the
 * program destroys the object.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
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

static sem_t got;

static void *hold_event(void *unused)
{
	struct ibv_async_event event;
	char line[16];

	must_eq(ibv_get_async_event(self.context, &event), 0);
	printf("%d\n", (int)gettid());
	fflush(stdout);
	sem_post(&got);
	must(fgets(line, sizeof(line), stdin) != NULL);
	ibv_ack_async_event(&event);
	return unused;
}

/* Destroys the object while the other thread holds an event of it. */
static int destroy(bool is_srq)
{
	pthread_t thread;
	int err;

	if (is_srq)
		side_create_srq(&self);
	else
		side_create_qp(&self, 1);
	inject_event(0, is_srq ? "srq_limit_reached" : "sq_drained",
		     is_srq ? self.own.srq_num : self.qp->qp_num);
	must_eq(sem_init(&got, 0, 0), 0);
	must_eq(pthread_create(&thread, NULL, hold_event, NULL), 0);
	sem_wait(&got);
	err = is_srq ? ibv_destroy_srq(self.srq) : ibv_destroy_qp(self.qp);
	must_eq(pthread_join(thread, NULL), 0);
	return err;
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
	if (!strcmp(line, "srq\n") || !strcmp(line, "qp\n"))
		return destroy(line[0] == 's');
	return strcmp(line, "crash\n") ? unregister(number) : crash(number);
}
