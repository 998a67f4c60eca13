/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The event channel as a file: poll, epoll, blocking, signals, cancelled threads, forks. Also: ids
 * that move to another channel.
 */
#include <tests/thread_state.h>

#include "ground.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool readable(const struct rdma_event_channel *channel)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };

	NEED(poll(&fd, 1, 0) >= 0);
	return fd.revents & POLLIN;
}

/* Raises an event for @id at once. */
static void raise_event(struct rdma_cm_id *id)
{
	NEED(!rdma_resolve_addr(id, NULL, address(THERE, PORT), 20000));
}

TEST(destroying_an_id_discards_its_events)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_TCP);

	raise_event(id);
	NEED(readable(ground->channel));
	rdma_destroy_id(id);
	NEED(!readable(ground->channel));
}

/* Raises more events than a socket's buffer holds messages of one byte. */
TEST(readable_while_events_wait)
{
	enum { MANY = 3000 };
	static struct rdma_cm_id *ids[MANY];

	NEED(!readable(ground->channel));
	for (int i = 0; i < MANY; i++) {
		ids[i] = new_id(ground, RDMA_PS_TCP);
		raise_event(ids[i]);
	}
	for (int i = 0; i < MANY; i++) {
		NEED(readable(ground->channel));
		take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	}
	NEED(!readable(ground->channel));
	for (int i = 0; i < MANY; i++)
		NEED(!rdma_destroy_id(ids[i]));
}

TEST(each_event_is_an_edge)
{
	struct epoll_event wanted = { .events = EPOLLIN | EPOLLET }, got;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	NEED(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, ground->channel->fd, &wanted));
	NEED(!epoll_wait(epoll, &got, 1, 0));
	raise_event(ground->idle);
	NEED(epoll_wait(epoll, &got, 1, 0) == 1 && !epoll_wait(epoll, &got, 1, 0));
	raise_event(ground->second);
	NEED(epoll_wait(epoll, &got, 1, 0) == 1 && !epoll_wait(epoll, &got, 1, 0));
	take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	close(epoll);
}

/* ---- waiting ---- */

static volatile sig_atomic_t signals;
static struct rdma_cm_id *to_resolve;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* Sends some signals while the other thread waits, then raises an event. */
static void *interrupt_and_raise(void *thread)
{
	for (int i = 0; i < 5; i++) {
		usleep(20000);
		NEED(!pthread_kill(*(pthread_t *)thread, SIGUSR1));
	}
	usleep(20000);
	raise_event(to_resolve);
	return NULL;
}

static void catch_signals(int flags)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };

	NEED(!sigaction(SIGUSR1, &action, NULL));
	signals = 0;
}

TEST(signals_with_sa_restart_do_not_end_the_wait)
{
	pthread_t self = pthread_self(), other;

	catch_signals(SA_RESTART);
	to_resolve = ground->idle;
	NEED(!pthread_create(&other, NULL, interrupt_and_raise, &self));
	take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	pthread_join(other, NULL);
	NEED(signals > 0);
}

static void *interrupt_until_told(void *thread)
{
	while (to_resolve) {
		usleep(5000);
		NEED(!pthread_kill(*(pthread_t *)thread, SIGUSR1));
	}
	return NULL;
}

TEST(signals_without_sa_restart_end_the_wait)
{
	pthread_t self = pthread_self(), other;
	struct rdma_cm_event *event;

	catch_signals(0);
	to_resolve = ground->idle;
	NEED(!pthread_create(&other, NULL, interrupt_until_told, &self));
	NEED(rdma_get_cm_event(ground->channel, &event) && errno == EINTR);
	to_resolve = NULL;
	pthread_join(other, NULL);
}

static _Atomic pid_t waiting; /* the thread that waits, or is just about to */

static void *wait_for_ever(void *channel)
{
	struct rdma_cm_event *event;

	waiting = gettid();
	rdma_get_cm_event(channel, &event);
	return NULL;
}

/* Starts a thread that waits on @channel. Returns once it waits. */
static pthread_t start_waiting(struct rdma_event_channel *channel)
{
	pthread_t thread;
	char state;

	waiting = 0;
	NEED(!pthread_create(&thread, NULL, wait_for_ever, channel));
	while (!waiting)
		usleep(1000);
	while ((state = thread_state(waiting)) != 'S') {
		NEED(state);
		usleep(1000);
	}
	return thread;
}

TEST(a_waiting_thread_can_be_cancelled)
{
	void *result;
	pthread_t thread;

	for (int i = 0; i < 50; i++) {
		NEED(!pthread_create(&thread, NULL, wait_for_ever, ground->channel));
		usleep((useconds_t)i * 100);
		NEED(!pthread_cancel(thread) && !pthread_join(thread, &result) &&
		     result == PTHREAD_CANCELED);
	}
	raise_event(ground->idle);
	take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

TEST(a_channel_blocks_unless_it_is_non_blocking)
{
	struct rdma_cm_event *event;
	pthread_t thread;

	NEED(!fcntl(ground->channel->fd, F_SETFL, O_NONBLOCK));
	NEED(rdma_get_cm_event(ground->channel, &event) && errno == EAGAIN);
	NEED(!fcntl(ground->channel->fd, F_SETFL, 0));
	thread = start_waiting(ground->channel);
	NEED(still_waits(thread));
	NEED(!pthread_cancel(thread) && !pthread_join(thread, NULL));
}

TEST(other_threads_run_commands_while_one_waits)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	struct rdma_cm_id *id;
	pthread_t thread;

	NEED(own != NULL);
	NEED(!rdma_create_id(own, &id, NULL, RDMA_PS_TCP));
	thread = start_waiting(own);
	NEED(!rdma_bind_addr(id, address(HERE, PORT + 9)));
	NEED(!rdma_listen(id, 1));
	raise_event(ground->idle);
	take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	NEED(!pthread_cancel(thread) && !pthread_join(thread, NULL));
	rdma_destroy_id(id);
	rdma_destroy_event_channel(own);
}

/*
 * rping closes the channel's descriptor at its end. The waiting thread must go on waiting, and must
 * not get an error.
 */
TEST(closing_the_channel_does_not_end_the_wait)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	pthread_t thread;

	NEED(own != NULL);
	thread = start_waiting(own);
	close(own->fd);
	NEED(still_waits(thread));
	NEED(!pthread_cancel(thread) && !pthread_join(thread, NULL));
	free(own);
}

static bool gives_way; /* the thread lets a main thread on the same processor go on first */

static void *wait_or_get_ebadf(void *channel)
{
	struct rdma_cm_event *event;

	if (gives_way)
		sched_yield();
	NEED(rdma_get_cm_event(channel, &event) == -1 && errno == EBADF);
	return NULL;
}

/* Returns whether the thread was waiting when the channel was closed after @spins. */
static bool close_after(int spins)
{
	struct rdma_event_channel *own = rdma_create_event_channel();
	pthread_t thread;
	void *result;

	NEED(own != NULL);
	NEED(!pthread_create(&thread, NULL, wait_or_get_ebadf, own));
	for (volatile int spin = 0; spin < spins; spin++)
		;
	close(own->fd);
	usleep(1000);		/* A thread that has just begun asks, and then ends or waits. */
	pthread_cancel(thread);	/* before glibc 2.34 ESRCH, if it has ended */
	NEED(!pthread_join(thread, &result));
	free(own);
	return result == PTHREAD_CANCELED;
}

/*
 * rping's thread asks for the next event while main closes the channel. The process must not get
 * SIGPIPE. The thread waits until it is cancelled, or gets EBADF. Both occur if the close comes
 * earlier and later than the request.
 */
TEST(closing_the_channel_while_a_thread_asks_raises_no_signal)
{
	int cancelled = 0, ebadf = 0;

	for (int i = 0; i < 500 || ((!cancelled || !ebadf) && i < 20000); i++) {
		gives_way = i & 1;
		if (close_after(i % 500 * 100))
			cancelled++;
		else
			ebadf++;
	}
	NEED(cancelled && ebadf);
}

static void *destroy(void *id)
{
	NEED(!rdma_destroy_id(id));
	return NULL;
}

/* librdmacm waits for as many acknowledgements as the connection manager has reported events. */
TEST(destroying_waits_for_acknowledgements)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_TCP);
	struct rdma_cm_event *event;
	pthread_t thread;

	raise_event(id);
	event = next_event(ground->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	NEED(!pthread_create(&thread, NULL, destroy, id));
	NEED(still_waits(thread));
	rdma_ack_cm_event(event);
	NEED(!pthread_join(thread, NULL));
}

TEST(a_forked_child_gets_eio_and_leaves_the_channel_intact)
{
	int status;
	pid_t child = fork();

	if (!child) {
		struct rdma_cm_event *event;

		if (rdma_listen(ground->bound, 1) != -1 || errno != EIO)
			_exit(1);
		if (rdma_get_cm_event(ground->channel, &event) != -1 || errno != EIO)
			_exit(2);
		rdma_destroy_event_channel(ground->channel);
		_exit(0);
	}
	NEED(child > 0);
	NEED(waitpid(child, &status, 0) == child);
	NEED(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	raise_event(ground->idle);
	take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

/* ---- migration ---- */

TEST(events_move_with_their_id)
{
	struct rdma_event_channel *old = ground->channel, *other = rdma_create_event_channel();

	NEED(other != NULL);
	raise_event(ground->idle);
	NEED(!rdma_migrate_id(ground->idle, other));
	NEED(!readable(old) && readable(other));
	ground->channel = other;
	take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	NEED(!rdma_resolve_route(ground->idle, 20000));
	take_event(ground, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	NEED(!rdma_migrate_id(ground->idle, old));
	rdma_destroy_event_channel(other);
	ground->channel = old;
}

TEST(an_unread_request_moves_with_its_listener)
{
	struct rdma_event_channel *old = ground->channel, *other = rdma_create_event_channel();
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *child;

	NEED(other != NULL);
	NEED(!rdma_connect(ground->routed, &param));
	NEED(!rdma_migrate_id(ground->listener, other));
	ground->channel = other;
	take_event(ground, RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	NEED(!rdma_reject(child, NULL, 0));
	NEED(!rdma_destroy_id(child));
	ground->channel = old;
	take_event(ground, RDMA_CM_EVENT_REJECTED, NULL);
	NEED(!rdma_migrate_id(ground->listener, old));
	rdma_destroy_event_channel(other);
}

/* ---- without the main thread ---- */

static void *lay_again(void *ground)
{
	while (thread_state(getpid()) != 'Z')
		usleep(1000);
	ground_clear(ground);
	ground_lay(ground);
	ground_clear(ground);
	exit(EXIT_SUCCESS);
}

/* The daemon can reach the memory only by the id of another thread, not by the pid. */
TEST(a_program_without_its_main_thread_is_served)
{
	pthread_t other;

	NEED(!pthread_create(&other, NULL, lay_again, ground));
	pthread_exit(NULL);
}

int main(void)
{
	return ground_run();
}
