/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The event channel as a file: poll, epoll, blocking, signals, cancelled threads, forks. Also: ids
 * that move to another channel.
 */
#define GROUP "channel"

#include <harness/thread_state.h>

#include "ground.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static bool readable(const struct rdma_event_channel *file)
{
	struct pollfd fd = { .fd = file->fd, .events = POLLIN };

	must(poll(&fd, 1, 0) >= 0);
	return fd.revents & POLLIN;
}

/* Raises an event for @id at once. */
static void raise_event(struct rdma_cm_id *id)
{
	must(!rdma_resolve_addr(id, NULL, address(THERE, PORT), 20000));
}

/* Raises more events than a socket's buffer holds messages of one byte. */
ROW("the channel is readable while events wait")
{
	enum { MANY = 3000 };
	static struct rdma_cm_id *ids[MANY];

	must(!readable(channel));
	for (int i = 0; i < MANY; i++) {
		ids[i] = new_id(RDMA_PS_TCP);
		raise_event(ids[i]);
	}
	/* Destroying an id discards its event. */
	must(!rdma_destroy_id(ids[0]));
	for (int i = 1; i < MANY; i++) {
		must(readable(channel));
		take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	}
	must(!readable(channel));
}

ROW("each event is an edge")
{
	struct epoll_event wanted = { .events = EPOLLIN | EPOLLET }, got;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	must(epoll >= 0);
	must(!epoll_ctl(epoll, EPOLL_CTL_ADD, channel->fd, &wanted));
	must(!epoll_wait(epoll, &got, 1, 0));
	raise_event(idle);
	must(epoll_wait(epoll, &got, 1, 0) == 1);
	must(!epoll_wait(epoll, &got, 1, 0));
	raise_event(second);
	must(epoll_wait(epoll, &got, 1, 0) == 1);
	must(!epoll_wait(epoll, &got, 1, 0));
	take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

/* ---- waiting ---- */

static volatile sig_atomic_t signals;
static _Atomic int signals_at_most; /* 0: the wait has ended */

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* Sends signals while the other thread waits, then raises an event. */
static void *interrupt_and_raise(void *thread)
{
	for (int i = 0; i < signals_at_most; i++) {
		usleep(5000);
		must(!pthread_kill(*(pthread_t *)thread, SIGUSR1));
	}
	usleep(5000);
	raise_event(idle);
	return NULL;
}

/* What rdma_get_cm_event() returns in the main thread when these signals come. */
static int wait_among_signals(int flags, int at_most)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };
	pthread_t self = pthread_self(), other;
	struct rdma_cm_event *event;
	int result;

	must(!sigaction(SIGUSR1, &action, NULL));
	signals_at_most = at_most;
	must(!pthread_create(&other, NULL, interrupt_and_raise, &self));
	result = rdma_get_cm_event(channel, &event) ? errno : 0;
	signals_at_most = 0;
	pthread_join(other, NULL);
	if (!result)
		rdma_ack_cm_event(event);
	return result;
}

ROW("signals with SA_RESTART do not end the wait")
{
	must_eq(wait_among_signals(SA_RESTART, 20), 0);
	must(signals > 0);
}

ROW("signals without SA_RESTART end the wait")
{
	must_eq(wait_among_signals(0, INT32_MAX), EINTR);
}

static _Atomic pid_t waiting; /* the thread that waits, or is just about to */

static void *wait_for_ever(void *file)
{
	struct rdma_cm_event *event;

	waiting = gettid();
	rdma_get_cm_event(file, &event);
	return NULL;
}

ROW("a waiting thread can be cancelled")
{
	void *result;
	pthread_t thread;

	for (int i = 0; i < 50; i++) {
		must(!pthread_create(&thread, NULL, wait_for_ever, channel));
		usleep((useconds_t)i * 100);
		must(!pthread_cancel(thread));
		must(!pthread_join(thread, &result));
		must(result == PTHREAD_CANCELED);
	}
	raise_event(idle);
	take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

ROW("a channel blocks unless it is non-blocking")
{
	struct rdma_cm_event *event;
	pthread_t thread;

	must(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	must(rdma_get_cm_event(channel, &event));
	must_eq(errno, EAGAIN);
	must(!fcntl(channel->fd, F_SETFL, 0));
	must(!pthread_create(&thread, NULL, wait_for_ever, channel));
	while (!waiting || thread_state(waiting) != 'S')
		usleep(1000);
	/* Other threads run commands meanwhile. */
	must(!rdma_listen(bound, 1));
	must(still_waits(thread));
	must(!pthread_cancel(thread));
	must(!pthread_join(thread, NULL));
}

static void *wait_or_get_ebadf(void *file)
{
	struct rdma_cm_event *event;

	must(rdma_get_cm_event(file, &event) == -1);
	must_eq(errno, EBADF);
	return NULL;
}

/* Closes the channel after @spins, while the thread asks. */
static void close_after(int spins)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	pthread_t thread;

	must(own != NULL);
	must(!pthread_create(&thread, NULL, wait_or_get_ebadf, own));
	for (volatile int spin = 0; spin < spins; spin++)
		;
	close(own->fd);
	usleep(1000);		/* A thread that has just begun asks, and then ends or waits. */
	pthread_cancel(thread);	/* before glibc 2.34 ESRCH, if it has ended */
	must(!pthread_join(thread, NULL));
	free(own);
}

/*
 * rping's thread asks for the next event while main closes the channel. The process must not get
 * SIGPIPE. A thread that waits goes on waiting until it is cancelled. A later one gets EBADF.
 */
ROW("closing the channel while a thread asks raises no signal")
{
	for (int i = 0; i < 500; i++)
		close_after(i * 100);
}

static void *destroy(void *id)
{
	must(!rdma_destroy_id(id));
	return NULL;
}

/* librdmacm waits for as many acknowledgements as the connection manager has reported events. */
ROW("destroying waits for acknowledgements")
{
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
	struct rdma_cm_event *event;
	pthread_t thread;

	raise_event(id);
	event = next_event(RDMA_CM_EVENT_ADDR_RESOLVED);
	must(!pthread_create(&thread, NULL, destroy, id));
	must(still_waits(thread));
	rdma_ack_cm_event(event);
	must(!pthread_join(thread, NULL));
}

ROW("a forked child gets EIO and leaves the channel intact")
{
	pid_t child = fork();

	if (!child) {
		struct rdma_cm_event *event;

		must(rdma_listen(bound, 1) == -1);
		must_eq(errno, EIO);
		must(rdma_get_cm_event(channel, &event) == -1);
		must_eq(errno, EIO);
		rdma_destroy_event_channel(channel);
		_exit(0);
	}
	must_end(child, 0);
	raise_event(idle);
	take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

/* ---- migration ---- */

/* Moves @id to a new channel, which next_event() and take_event() then use. */
static void move(struct rdma_cm_id *id)
{
	struct rdma_event_channel *other = rdma_create_event_channel();

	must(other != NULL);
	must(!rdma_migrate_id(id, other));
	channel = other;
}

ROW("events move with their id")
{
	struct rdma_event_channel *old = channel;

	raise_event(idle);
	move(idle);
	must(!readable(old));
	must(readable(channel));
	take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	must(!rdma_resolve_route(idle, 20000));
	take_event(RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

ROW("an unread request moves with its listener")
{
	struct rdma_event_channel *old = channel;
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *child;

	must(!rdma_connect(routed, &param));
	move(listener);
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	must(!rdma_reject(child, NULL, 0));
	channel = old;
	take_event(RDMA_CM_EVENT_REJECTED, NULL);
}

/* ---- without the main thread ---- */

static void *lay_again(void *arg)
{
	(void)arg;
	while (thread_state(getpid()) != 'Z')
		usleep(1000);
	ground_clear();
	ground_lay();
	ground_clear();
	row_ok();
	exit(EXIT_SUCCESS);
}

/* The daemon can reach the memory only by the id of another thread, not by the pid. */
ROW("a program without its main thread is served")
{
	pthread_t other;

	must(!pthread_create(&other, NULL, lay_again, NULL));
	pthread_exit(NULL);
}
