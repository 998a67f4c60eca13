/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which channel gets which event, when, and every call that waits for it. */

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "rig.h"

static struct ibv_comp_channel *channel, *other_channel;
static struct ibv_cq *cq, *other_cq;
static struct ibv_srq *srq, *other_srq;

/* Two CQs, each with an SRQ of its own, on one channel or on two. */
static void set_up(bool one_channel)
{
	rig_open();
	channel = rig_channel();
	other_channel = one_channel ? channel : rig_channel();
	cq = rig_cq(channel, &cq);
	other_cq = rig_cq(other_channel, &other_cq);
	srq = rig_srq(cq);
	other_srq = rig_srq(other_cq);
}

static void event_and_ack(struct ibv_comp_channel *of, struct ibv_cq *want)
{
	rig_event(of, want);
	ibv_ack_cq_events(want, 1);
}

static void take_down(void)
{
	must_eq(ibv_destroy_srq(srq), 0);
	must_eq(ibv_destroy_srq(other_srq), 0);
	must_eq(ibv_destroy_cq(cq), 0);
	must_eq(ibv_destroy_cq(other_cq), 0);
	must_eq(ibv_destroy_comp_channel(channel), 0);
	if (other_channel != channel)
		must_eq(ibv_destroy_comp_channel(other_channel), 0);
}

static void the_srqs_own_channel(void)
{
	set_up(false);
	rig_arm(cq, 0);
	rig_arm(other_cq, 0);
	rig_send(other_srq, 0);
	event_and_ack(other_channel, other_cq);
	rig_no_event(channel);
	rig_send(srq, 0);
	event_and_ack(channel, cq);
	rig_no_event(other_channel);
	rig_arrived(cq);
	rig_arrived(other_cq);
	take_down();
}

static void one_channel_for_several(void)
{
	set_up(true);
	rig_arm(cq, 0);
	rig_arm(other_cq, 0);
	rig_send(other_srq, 0);
	rig_send(srq, 0);
	event_and_ack(channel, other_cq);	/* in the order of the completions */
	event_and_ack(channel, cq);
	rig_no_event(channel);
	take_down();
}

/*
 * The opened device that created the receive QP gets no event for a message to another one's SRQ.
 */
static void only_the_device_with_the_srq(void)
{
	struct ibv_comp_channel *makers;
	struct ibv_cq *makers_cq;

	set_up(true);
	makers = ibv_create_comp_channel(rig.maker);
	makers_cq = ibv_create_cq(rig.maker, 4, NULL, makers, 0);
	must(makers && makers_cq);
	rig_arm(makers_cq, 0);
	rig_arm(cq, 0);
	rig_send(srq, 0);
	event_and_ack(channel, cq);
	rig_no_event(makers);
	must_eq(ibv_destroy_cq(makers_cq), 0);
	must_eq(ibv_destroy_comp_channel(makers), 0);
	take_down();
}

static void once_per_request(void)
{
	set_up(true);
	rig_send(srq, 0);
	rig_arrived(cq);
	rig_no_event(channel);		/* the CQ was not armed */
	rig_arm(cq, 0);
	rig_send(srq, 0);
	rig_send(srq, 0);
	event_and_ack(channel, cq);
	rig_no_event(channel);
	rig_arrived(cq);
	rig_arrived(cq);
	rig_arm(cq, 0);
	rig_send(srq, 0);
	event_and_ack(channel, cq);
	take_down();
}

static void solicited_only(void)
{
	set_up(true);
	rig_arm(cq, 1);
	rig_send(srq, 0);
	rig_arrived(cq);
	rig_no_event(channel);
	rig_send(srq, IBV_SEND_SOLICITED);
	event_and_ack(channel, cq);
	rig_arrived(cq);
	take_down();
}

/* ---- Ways to wait ---- */

static bool by_poll(int milliseconds)
{
	return rig_readable(channel, milliseconds);
}

static int epoll_fd;

static void add_to_epoll(uint32_t events)
{
	struct epoll_event event = { .events = events };

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	must(epoll_fd >= 0);
	must_eq(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, channel->fd, &event), 0);
}

static bool by_epoll(int milliseconds)
{
	struct epoll_event event = { 0 };

	return epoll_wait(epoll_fd, &event, 1, milliseconds) == 1 && (event.events & EPOLLIN);
}

static void waits(bool (*readable)(int milliseconds))
{
	for (int round = 0; round < 3; round++) {
		must(!readable(0));
		rig_arm(cq, 0);
		must(!readable(0));
		rig_send(srq, 0);
		must(readable(PATIENCE_MS));
		event_and_ack(channel, cq);
		rig_arrived(cq);
	}
	must(!readable(0));
	take_down();
}

static void with_poll(void)
{
	set_up(true);
	waits(by_poll);
}

static void with_epoll_edges(void)
{
	set_up(true);
	add_to_epoll(EPOLLIN | EPOLLET);
	rig_non_blocking(channel);
	waits(by_epoll);
}

static void level_stays_until_all_is_read(void)
{
	set_up(true);
	rig_arm(cq, 0);
	rig_arm(other_cq, 0);
	rig_send(srq, 0);
	rig_send(other_srq, 0);
	event_and_ack(channel, cq);
	must(rig_readable(channel, PATIENCE_MS));
	event_and_ack(channel, other_cq);
	must(!rig_readable(channel, 0));
	take_down();
}

static void non_blocking(void)
{
	set_up(true);
	rig_no_event(channel);
	rig_arm(cq, 0);
	rig_no_event(channel);
	rig_send(srq, 0);
	event_and_ack(channel, cq);
	rig_no_event(channel);
	must_eq(fcntl(channel->fd, F_SETFL, 0), 0);	/* now blocking */
	rig_arm(cq, 0);
	rig_send(srq, 0);
	event_and_ack(channel, cq);
	take_down();
}

static void *wait_blocked(void *got_at)
{
	struct ibv_cq **got = got_at;
	void *context;

	return ibv_get_cq_event(channel, got, &context) ? NULL : context;
}

static void blocked_in_another_thread(void)
{
	struct ibv_cq *got = NULL;
	void *context = NULL;
	pthread_t thread;

	set_up(true);
	rig_arm(cq, 0);
	must_eq(pthread_create(&thread, NULL, wait_blocked, &got), 0);
	rig_send(srq, 0);
	must_eq(pthread_join(thread, &context), 0);
	must(got == cq && context == &cq);
	ibv_ack_cq_events(cq, 1);
	take_down();
}

static const struct row wake_rows[] = {
	{ "each SRQ wakes the channel of its own XRC CQ", the_srqs_own_channel },
	{ "several CQs on one channel: every event names its own", one_channel_for_several },
	{ "only the opened device that has the SRQ is woken", only_the_device_with_the_srq },
	{ "one event for each request, none without", once_per_request },
	{ "solicited only", solicited_only },
	{ "poll", with_poll },
	{ "epoll, edge-triggered", with_epoll_edges },
	{ "readable until the last event is read", level_stays_until_all_is_read },
	{ "non-blocking: EAGAIN", non_blocking },
	{ "blocked in another thread", blocked_in_another_thread },
};

GROUP(wake);
