/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Open MPI: the event thread. It polls a command pipe and the async fds, which it makes
 * non-blocking.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "openmpi.h"

static pthread_t thread;
static int command_pipe[2], done_pipe[2];

/*
 * Finds its SRQ by the pointer. Posts more receives, and sets the limit again until all are posted.
 */
static void srq_limit_event(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = { .srq_limit = SRQ_LIMIT };
	struct queue *queue;
	int i, again;

	for (i = 0; i < QUEUES && device.queues[i].srq != srq; i++)
		;
	if (i == QUEUES)
		job_die("limit of an unknown SRQ");
	queue = &device.queues[i];
	pthread_mutex_lock(&queue->lock);
	queue->limit_events++;
	queue->wanted = queue->wanted * 2 > RD_NUM ? RD_NUM : queue->wanted * 2;
	again = queue->wanted < RD_NUM;
	pthread_mutex_unlock(&queue->lock);
	post_srr(i, 1);
	if (again)
		must_be_0(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), "ibv_modify_srq");
}

static int is_our_recv_qp(uint32_t qp_num)
{
	int i;

	for (i = 0; i < job.size; i++)
		if (endpoints[i].xrc_recv_qp_num == qp_num)
			return 1;
	return 0;
}

/* Clears the flag in a copy of the type, so that the ack gets the event as it came. */
static void take_event(struct ibv_async_event *event)
{
	int event_type = (int)event->event_type;
	int xrc_event = 0;

	if (IBV_XRC_QP_EVENT_FLAG & event->event_type) {
		xrc_event = 1;
		event_type ^= (int)IBV_XRC_QP_EVENT_FLAG;
	}
	switch (event_type) {
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		srq_limit_event(event->element.srq);
		break;
	case IBV_EVENT_COMM_EST:
		if (!xrc_event)
			job_die("COMM_EST of a QP that only sends");
		if (event->element.xrc_qp_num > 0xffffff)
			job_die("COMM_EST of receive QP 0x%x", event->element.xrc_qp_num);
		break;
	case IBV_EVENT_PATH_MIG:
		if (xrc_event && !is_our_recv_qp(event->element.xrc_qp_num))
			job_die("PATH_MIG of an unknown receive QP");
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		break;
	default:
		job_die("got %sevent 0x%x", xrc_event ? "XRC " : "", event_type);
	}
	ibv_ack_async_event(event);
}

/* Reads events until EWOULDBLOCK. */
static void take_events(void)
{
	struct ibv_async_event event;

	while (ibv_get_async_event(device.context, &event) >= 0)
		take_event(&event);
	if (errno != EWOULDBLOCK)
		job_die("ibv_get_async_event: %s", strerror(errno));
}

static void *async_main(void *arg)
{
	struct pollfd polls[2] = { { .fd = command_pipe[0], .events = POLLIN },
				   { .fd = -1, .events = POLLIN } };
	int command = 0;

	for (;;) {
		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			job_die("poll: %s", strerror(errno));
		if (polls[1].revents & POLLIN)
			take_events();
		if (!(polls[0].revents & POLLIN))
			continue;
		if (read(command_pipe[0], &command, sizeof(command)) != sizeof(command))
			job_die("the event thread's pipe is broken");
		if (!command)
			return arg;
		/* A descriptor to look at from now on; negative: no more. */
		polls[1].fd = command > 0 ? command : -1;
		polls[1].revents = 0;
		if (command > 0)
			fcntl(command, F_SETFL, fcntl(command, F_GETFL) | O_NONBLOCK);
		if (write(done_pipe[1], &command, sizeof(command)) != sizeof(command))
			job_die("the event thread's pipe is broken");
	}
}

static void command_thread(int command)
{
	int done;

	if (write(command_pipe[1], &command, sizeof(command)) != sizeof(command))
		job_die("the event thread's pipe is broken");
	if (command && read(done_pipe[0], &done, sizeof(done)) != sizeof(done))
		job_die("the event thread's pipe is broken");
}

void async_start(void)
{
	must_be_0(pipe(command_pipe), "pipe");
	must_be_0(pipe(done_pipe), "pipe");
	must_be_0(pthread_create(&thread, NULL, async_main, NULL), "pthread_create");
	command_thread(device.context->async_fd);
}

void async_stop(void)
{
	command_thread(-device.context->async_fd);
	command_thread(0);
	must_be_0(pthread_join(thread, NULL), "pthread_join");
}
