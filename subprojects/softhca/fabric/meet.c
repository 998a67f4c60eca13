/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Machines meet. Of two the one that is later in the list connects to the other by TCP, again and
 * again until it answers. Each sends a greeting, and then an introduction (introduce.c). The
 * connection stays: its end tells that the other daemon, or its machine, has gone.
 */
#include "carrier.h"
#include "introduce.h"
#include "messages.h"

#include <base/loop.h>
#include <base/timer.h>
#include <machine/hca.h>

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define AGAIN 200000000u /* nanoseconds between two attempts */
#define DEAD_AFTER 30000u /* milliseconds without an acknowledgement */
#define PATIENCE 10000000000u /* nanoseconds until a connection must have introduced itself */
#define MOST_STRANGERS 64u /* each has a descriptor of the daemon's */

/* A connection by TCP. */
struct meeting {
	struct watch watch;
	struct timer silence;
	struct list link; /* fabric.strangers, as long as machine is -1: not known yet */
	int sock, machine;
	bool greeted, refused; /* the other is no machine of this wire */
	uint8_t nonce[FABRIC_NONCE];
	struct greeting other;
	size_t got;
	uint8_t bytes[sizeof(struct introduction)];
};

/* Why a machine is not met. A later reason does not replace a refusal, which tells more. */
struct reason {
	const char *text;
	bool refused;
};

/* Another machine. */
struct peer {
	struct meeting *meeting; /* by which it was met, or is tried */
	struct timer again;
	struct reason reason;
};

static struct fabric {
	struct fabric_plan plan;
	const struct fabric_list *list;
	struct list *timers;
	struct watch listener;
	int sock;
	struct peer peer[FABRIC_MAX_MACHINES];
	struct list strangers; /* connections without an introduction so far; the oldest first */
	struct reason stranger; /* of the last of them */
} fabric;

static void connect_to(int machine);

static void note(struct reason *reason, const char *text, bool refused)
{
	if (refused || !reason->refused)
		*reason = (struct reason){ text, refused };
}

/* ---- the end of a meeting ---- */

static void connect_again(struct timer *timer)
{
	connect_to((int)(container_of(timer, struct peer, again) - fabric.peer));
}

/* The later one in the list tries again. */
static void disconnect(int machine, const char *reason, bool refused)
{
	struct peer *peer = &fabric.peer[machine];

	if (messages_met(machine)) {
		messages_end(machine);
		carrier_leave(machine);
	}
	peer->meeting = NULL;
	note(&peer->reason, reason, refused);
	peer->again.expired = connect_again;
	if (machine < fabric.list->own)
		timer_start(fabric.timers, &peer->again, hca_now() + AGAIN);
}

static void free_meeting(struct timer *timer)
{
	free(container_of(timer, struct meeting, silence));
}

static void is_over(struct watch *watch, uint32_t events)
{
	(void)watch;
	(void)events;
}

/* This turn may still have an event of the meeting. The timer frees it before the next turn. */
static void end_meeting(struct meeting *meeting, const char *reason)
{
	if (meeting->machine >= 0 && fabric.peer[meeting->machine].meeting == meeting)
		disconnect(meeting->machine, reason, meeting->refused);
	if (meeting->machine < 0)
		note(&fabric.stranger, reason, meeting->refused);
	loop_forget(meeting->sock);
	close(meeting->sock);
	list_del(&meeting->link);
	meeting->watch.ready = is_over;
	meeting->silence.expired = free_meeting;
	timer_start(fabric.timers, &meeting->silence, 0);
}

static const char no_messages[] = "its messages do not arrive; is the next port open, too?";

static void meet_again(int machine)
{
	end_meeting(fabric.peer[machine].meeting,
		    messages_arrive(machine) ? "libfabric has lost a message to it" : no_messages);
}

static void is_silent(struct timer *timer)
{
	end_meeting(container_of(timer, struct meeting, silence), "it does not answer");
}

/* ---- sending greetings and introductions ---- */

static bool send_bytes(const struct meeting *meeting, const void *bytes, size_t length)
{
	return send(meeting->sock, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length;
}

static bool send_greeting(struct meeting *meeting)
{
	struct greeting greeting;

	if (!introduce_greet(&greeting))
		return false;
	memcpy(meeting->nonce, greeting.nonce, FABRIC_NONCE);
	return send_bytes(meeting, &greeting, sizeof(greeting));
}

static bool send_introduction(const struct meeting *meeting)
{
	struct introduction introduction;

	introduce_self(&introduction, meeting->machine, meeting->nonce, meeting->other.nonce);
	return send_bytes(meeting, &introduction, sizeof(introduction));
}

/* ---- receiving them: NULL, or why the connection must end ---- */

static const char *receive_introduction(struct meeting *meeting)
{
	const struct introduction *introduction = (const void *)meeting->bytes;
	const char *reason = introduce_verify(introduction, meeting->machine, meeting->nonce,
					      meeting->other.nonce);
	uint8_t token[FABRIC_TOKEN];
	struct peer *peer;

	meeting->refused = reason;
	if (reason)
		return reason;
	/* A restarted daemon may connect before this one sees the end of the old connection. */
	peer = &fabric.peer[introduction->machine];
	if (peer->meeting && peer->meeting != meeting)
		end_meeting(peer->meeting, "it was started again");
	timer_stop(&peer->again);
	timer_stop(&meeting->silence);
	peer->meeting = meeting;
	meeting->machine = introduction->machine;
	list_del(&meeting->link);
	if (carrier_reach(introduction->machine, introduction->address,
			  introduction->address_length))
		return "libfabric does not take its address";
	introduce_token(introduction->machine, meeting->nonce, meeting->other.nonce, token);
	messages_begin(introduction->machine, token);
	peer->reason = (struct reason){ no_messages, false };
	fabric.stranger = (struct reason){ 0 };
	return NULL;
}

static const char *receive_greeting(struct meeting *meeting)
{
	const char *reason;

	memcpy(&meeting->other, meeting->bytes, sizeof(meeting->other));
	meeting->greeted = true;
	reason = introduce_answer(&meeting->other, meeting->nonce);
	if (reason)
		return reason;
	return send_introduction(meeting) ? NULL : "it does not listen";
}

static const char *receive(struct meeting *meeting)
{
	const size_t wanted =
		meeting->greeted ? sizeof(struct introduction) : sizeof(struct greeting);
	ssize_t got = recv(meeting->sock, meeting->bytes + meeting->got, wanted - meeting->got,
			   MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (got < 0)
		return strerror(errno);
	if (!got)
		return meeting->greeted || meeting->machine < 0 ? "its connection has ended"
								: "no daemon answers there";
	meeting->got += (size_t)got;
	if (meeting->got < wanted)
		return NULL;
	meeting->got = 0;
	return meeting->greeted ? receive_introduction(meeting) : receive_greeting(meeting);
}

/* After the introductions nothing else comes, so an event is the end. */
static const char *receive_end(const struct meeting *meeting)
{
	char byte;

	return recv(meeting->sock, &byte, 1, MSG_DONTWAIT) < 0
		       ? strerror(errno)
		       : "its connection has ended";
}

static void meeting_ready(struct watch *watch, uint32_t events)
{
	struct meeting *meeting = container_of(watch, struct meeting, watch);
	const bool met = meeting->machine >= 0 && messages_met(meeting->machine);
	const char *reason = met ? receive_end(meeting) : receive(meeting);

	(void)events;
	if (reason)
		end_meeting(meeting, reason);
}

/* ---- connections ---- */

static void set_patience(int sock)
{
	const int on = 1, idle = 10, interval = 5, dead = DEAD_AFTER;

	setsockopt(sock, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(sock, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(sock, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(sock, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead, sizeof(dead));
}

/* Of too many strangers the oldest goes. */
static void add_stranger(struct meeting *meeting)
{
	if (list_length(&fabric.strangers) == MOST_STRANGERS)
		end_meeting(container_of(fabric.strangers.next, struct meeting, link),
			    "too many others came");
	list_add(&fabric.strangers, &meeting->link);
}

/* NULL: no memory. The socket is closed then. */
static struct meeting *new_meeting(int sock, int machine)
{
	struct meeting *meeting = calloc(1, sizeof(*meeting));

	if (!meeting) {
		close(sock);
		return NULL;
	}
	set_patience(sock);
	meeting->sock = sock;
	meeting->machine = machine;
	meeting->watch.ready = meeting_ready;
	meeting->silence.expired = is_silent;
	timer_start(fabric.timers, &meeting->silence, hca_now() + PATIENCE);
	list_init(&meeting->link);
	if (machine < 0)
		add_stranger(meeting);
	return meeting;
}

static void begin_meeting(struct meeting *meeting)
{
	if (loop_watch(meeting->sock, EPOLLIN | EPOLLRDHUP, &meeting->watch) ||
	    !send_greeting(meeting))
		end_meeting(meeting, "no daemon answers there");
}

/* The connection stands, or has failed. */
static void connected(struct watch *watch, uint32_t events)
{
	struct meeting *meeting = container_of(watch, struct meeting, watch);
	socklen_t size = sizeof(int);
	int err = 0;

	(void)events;
	getsockopt(meeting->sock, SOL_SOCKET, SO_ERROR, &err, &size);
	loop_forget(meeting->sock);
	meeting->watch.ready = meeting_ready;
	if (err)
		end_meeting(meeting,
			    err == ECONNREFUSED ? "no daemon answers there" : strerror(err));
	else
		begin_meeting(meeting);
}

static struct sockaddr_in6 address_of(const struct fabric_host *host)
{
	struct sockaddr_in6 address = host->address;

	/* The port of IPv4 is at the same place. */
	address.sin6_port = htons((uint16_t)fabric.plan.settings->port);
	return address;
}

static void connect_to(int machine)
{
	const struct fabric_host *host = &fabric.list->host[machine];
	const struct sockaddr_in6 address = address_of(host);
	int sock = socket(address.sin6_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct meeting *meeting = sock < 0 ? NULL : new_meeting(sock, machine);

	fabric.peer[machine].meeting = meeting;
	if (!meeting) {
		disconnect(machine, "no memory or descriptor is left", false);
		return;
	}
	if (connect(sock, (const struct sockaddr *)&address, host->length) &&
	    errno != EINPROGRESS) {
		end_meeting(meeting, strerror(errno));
		return;
	}
	meeting->watch.ready = connected;
	if (loop_watch(sock, EPOLLOUT, &meeting->watch))
		end_meeting(meeting, "no descriptor is left");
}

static void connection_comes(struct watch *watch, uint32_t events)
{
	int sock = loop_accept(fabric.sock, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct meeting *meeting = sock < 0 ? NULL : new_meeting(sock, -1);

	(void)watch;
	(void)events;
	if (meeting)
		begin_meeting(meeting);
}

static int listen_for_others(void)
{
	const struct fabric_host *own = &fabric.list->host[fabric.list->own];
	const struct sockaddr_in6 address = address_of(own);
	const int on = 1;

	fabric.sock = socket(address.sin6_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fabric.sock < 0)
		return -errno;
	setsockopt(fabric.sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	fabric.listener.ready = connection_comes;
	if (bind(fabric.sock, (const struct sockaddr *)&address, own->length) ||
	    listen(fabric.sock, FABRIC_MAX_MACHINES))
		return -errno;
	return loop_watch(fabric.sock, EPOLLIN, &fabric.listener);
}

/* ---- the whole ---- */

void fabric_close(void)
{
	if (fabric.listener.ready)
		close(fabric.sock);
	carrier_close();
}

int fabric_open(const struct fabric_plan *plan, const struct fabric_list *list, struct list *timers,
		char *why, size_t size)
{
	const struct fabric_host *own = &list->host[list->own];
	const struct carrier_plan carrier = {
		.own = own,
		.port = plan->settings->port + 1,
		.take = messages_take,
		.done = messages_done,
	};
	int err;

	fabric.plan = *plan;
	fabric.list = list;
	fabric.timers = timers;
	list_init(&fabric.strangers);
	messages_open(plan, list, meet_again);
	err = listen_for_others();
	if (err)
		snprintf(why, size, "%.200s, port %d of TCP: %s%s", own->name, plan->settings->port,
			 strerror(-err),
			 err == -EADDRINUSE ? "; --port takes another one, on all machines" : "");
	else
		err = carrier_open(&carrier, why, size);
	if (!err && introduce_begin(plan->settings, list)) {
		snprintf(why, size, "out of memory");
		err = -ENOMEM;
	}
	for (int machine = 0; !err && machine < list->count; machine++) {
		fabric.peer[machine].reason.text = "no daemon has come from there";
		if (machine < list->own)
			connect_to(machine);
	}
	return err;
}

bool fabric_complete(char *why, size_t size)
{
	for (int machine = 0; fabric.list && machine < fabric.list->count; machine++) {
		if (machine == fabric.list->own || messages_arrive(machine))
			continue;
		if (why)
			snprintf(why, size, "machine %.200s is missing: %.200s%s%.200s",
				 fabric.list->host[machine].name, fabric.peer[machine].reason.text,
				 fabric.stranger.text ? "; of another connection: " : "",
				 fabric.stranger.text ? fabric.stranger.text : "");
		return false;
	}
	return true;
}

void fabric_print(FILE *out)
{
	for (int machine = 0; fabric.list && machine < fabric.list->count; machine++)
		fprintf(out, "machine %s: %s%s\n", fabric.list->host[machine].name,
			machine == fabric.list->own ? "this one, by "
			: messages_arrive(machine)  ? "met"
						    : fabric.peer[machine].reason.text,
			machine == fabric.list->own ? carrier_provider() : "");
}
