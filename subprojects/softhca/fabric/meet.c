/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Machines meet. Of two the one that is later in the list connects to the other by TCP, again and
 * again until it answers. Each sends a nonce, and then what the other must know, under a seal of
 * both nonces that shows the key without telling it. The connection stays: its end tells that the
 * other daemon, or its machine, has gone.
 */
#include "carrier.h"
#include "messages.h"

#include <base/loop.h>
#include <base/timer.h>
#include <machine/hca.h>
#include <proto.h>

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC 0x53484631u /* "SHF1"; also tells the order of bytes */
#define AGAIN 200000000u /* nanoseconds between two attempts */
#define DEAD_AFTER 30000u /* milliseconds without an acknowledgement */
#define PATIENCE 10000000000u /* nanoseconds until a connection must have introduced itself */
#define MOST_MEETINGS (2 * FABRIC_MAX_MACHINES)

struct greeting {
	uint32_t magic, unused;
	uint8_t nonce[FABRIC_SEAL];
};

struct introduction {
	uint16_t home, machines, address_length;
	uint16_t connects; /* 1: the sender opened the connection; that of a relay is wrong */
	uint8_t address[CARRIER_ADDRESS];
	uint8_t terms[FABRIC_SEAL]; /* of what must be the same on all machines */
	uint8_t seal[FABRIC_SEAL]; /* of all before it, and both nonces */
};

_Static_assert(sizeof(struct introduction) <= FABRIC_TEXT, "it is sealed at once");

/* A connection by TCP. */
struct meeting {
	struct watch watch;
	struct timer silence;
	int sock, home; /* home -1: not known yet */
	bool greeted, refused; /* the other is no machine of this wire */
	uint8_t nonce[FABRIC_SEAL];
	struct greeting other;
	size_t got;
	uint8_t bytes[sizeof(struct introduction)];
};

/* Why a machine has not been met. A refusal says more than that the machine has gone since. */
struct reason {
	const char *text;
	bool refused;
};

/* Another machine. */
struct peer {
	struct meeting *meeting; /* by which it was met, or is tried */
	struct timer again;
	bool met;
	struct reason reason;
};

static struct fabric {
	struct fabric_plan plan;
	const struct fabric_list *list;
	struct list *timers;
	struct watch listener;
	int sock;
	uint8_t terms[FABRIC_SEAL];
	struct peer peer[FABRIC_MAX_MACHINES];
	unsigned int meetings;
	struct reason stranger; /* of the last connection that named no machine */
} fabric;

static void connect_to(int home);

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
static void disconnect(int home, const char *reason, bool refused)
{
	struct peer *peer = &fabric.peer[home];

	if (peer->met) {
		messages_end(home);
		carrier_leave(home);
	}
	peer->met = false;
	peer->meeting = NULL;
	note(&peer->reason, reason, refused);
	peer->again.expired = connect_again;
	if (home < fabric.list->own)
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

/* This turn of the loop may still have an event of it. Timers run before the next one. */
static void end_meeting(struct meeting *meeting, const char *reason)
{
	if (meeting->home >= 0 && fabric.peer[meeting->home].meeting == meeting)
		disconnect(meeting->home, reason, meeting->refused);
	if (meeting->home < 0)
		note(&fabric.stranger, reason, meeting->refused);
	loop_forget(meeting->sock);
	close(meeting->sock);
	fabric.meetings--;
	meeting->watch.ready = is_over;
	meeting->silence.expired = free_meeting;
	timer_start(fabric.timers, &meeting->silence, 0);
}

static void meet_again(int home)
{
	end_meeting(fabric.peer[home].meeting, "libfabric has lost a message to it");
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
	struct greeting greeting = { .magic = MAGIC };

	if (getrandom(meeting->nonce, FABRIC_SEAL, 0) != FABRIC_SEAL)
		return false;
	memcpy(greeting.nonce, meeting->nonce, FABRIC_SEAL);
	return send_bytes(meeting, &greeting, sizeof(greeting));
}

static bool send_introduction(const struct meeting *meeting)
{
	struct introduction introduction = {
		.home = (uint16_t)fabric.list->own,
		.machines = (uint16_t)fabric.list->count,
		.connects = meeting->home >= 0,
	};
	size_t length;
	const void *address = carrier_address(&length);

	introduction.address_length = (uint16_t)length;
	memcpy(introduction.address, address, length);
	memcpy(introduction.terms, fabric.terms, FABRIC_SEAL);
	fabric_seal_text(meeting->nonce, meeting->other.nonce, &introduction,
			 offsetof(struct introduction, seal), introduction.seal);
	return send_bytes(meeting, &introduction, sizeof(introduction));
}

/* ---- receiving them: NULL, or why the connection must end ---- */

static const char *verify(const struct meeting *meeting, const struct introduction *introduction)
{
	uint8_t seal[FABRIC_SEAL];

	fabric_seal_text(meeting->other.nonce, meeting->nonce, introduction,
			 offsetof(struct introduction, seal), seal);
	if (!fabric_same(seal, introduction->seal))
		return "it has another key";
	if (introduction->machines != fabric.list->count ||
	    !fabric_same(fabric.terms, introduction->terms))
		return "it has another list of machines, other settings or another release";
	if (introduction->connects != (meeting->home < 0))
		return "it repeats what another machine says";
	/* The later one has connected to the earlier one, which it has chosen. */
	if (introduction->home >= fabric.list->count ||
	    (meeting->home < 0 ? introduction->home <= fabric.list->own
			       : introduction->home != meeting->home))
		return "it is at another place of the list";
	return introduction->address_length <= CARRIER_ADDRESS ? NULL : "its address is too long";
}

static const char *receive_introduction(struct meeting *meeting)
{
	const struct introduction *introduction = (const void *)meeting->bytes;
	const char *reason = verify(meeting, introduction);
	uint8_t token[FABRIC_SEAL];
	struct peer *peer;
	bool later;

	meeting->refused = reason;
	if (reason)
		return reason;
	/* A daemon that was started again comes before the connection of its forerunner. */
	peer = &fabric.peer[introduction->home];
	if (peer->meeting && peer->meeting != meeting)
		end_meeting(peer->meeting, "it was started again");
	timer_stop(&peer->again);
	timer_stop(&meeting->silence);
	peer->meeting = meeting;
	meeting->home = introduction->home;
	if (carrier_reach(introduction->home, introduction->address, introduction->address_length))
		return "libfabric does not take its address";
	later = introduction->home > fabric.list->own;
	fabric_seal_text(later ? meeting->nonce : meeting->other.nonce,
			 later ? meeting->other.nonce : meeting->nonce, "token", 5, token);
	messages_begin(introduction->home, token);
	peer->met = true;
	peer->reason =
		(struct reason){ "its messages do not arrive; is the next port open, too?", false };
	fabric.stranger = (struct reason){ 0 };
	return NULL;
}

static const char *receive_greeting(struct meeting *meeting)
{
	memcpy(&meeting->other, meeting->bytes, sizeof(meeting->other));
	meeting->greeted = true;
	if (meeting->other.magic != MAGIC)
		return "something else answers at its port";
	/* A stranger could echo the nonce, and then echo the introduction, too. */
	if (fabric_same(meeting->other.nonce, meeting->nonce))
		return "it repeats what it hears";
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
	if (got <= 0)
		return meeting->greeted ? "its daemon has ended" : "no daemon answers there";
	meeting->got += (size_t)got;
	if (meeting->got < wanted)
		return NULL;
	meeting->got = 0;
	return meeting->greeted ? receive_introduction(meeting) : receive_greeting(meeting);
}

static void meeting_ready(struct watch *watch, uint32_t events)
{
	struct meeting *meeting = container_of(watch, struct meeting, watch);
	const bool met = meeting->home >= 0 && fabric.peer[meeting->home].met;
	const char *reason;
	char byte;

	(void)events;
	/* After the introductions only an end of file may come. */
	if (met)
		reason = recv(meeting->sock, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN
				 ? NULL
				 : "its daemon has ended";
	else
		reason = receive(meeting);
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

/* NULL: no memory, or too many. The socket is closed then. */
static struct meeting *new_meeting(int sock, int home)
{
	struct meeting *meeting =
		home >= 0 || fabric.meetings < MOST_MEETINGS ? calloc(1, sizeof(*meeting)) : NULL;

	if (!meeting) {
		close(sock);
		return NULL;
	}
	set_patience(sock);
	meeting->sock = sock;
	meeting->home = home;
	meeting->watch.ready = meeting_ready;
	meeting->silence.expired = is_silent;
	timer_start(fabric.timers, &meeting->silence, hca_now() + PATIENCE);
	fabric.meetings++;
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

static void connect_to(int home)
{
	const struct fabric_host *host = &fabric.list->host[home];
	const struct sockaddr_in6 address = address_of(host);
	int sock = socket(address.sin6_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct meeting *meeting = sock < 0 ? NULL : new_meeting(sock, home);

	fabric.peer[home].meeting = meeting;
	if (!meeting) {
		disconnect(home, "no memory or descriptor is left", false);
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

static bool is_met(int home)
{
	return fabric.peer[home].met && messages_arrive(home);
}

/* The settings and the list on which the numbers of adapters and the form of messages depend. */
static void seal_terms(void)
{
	const struct settings *settings = fabric.plan.settings;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	fprintf(out, "%u %s %d %d %d %x", SOFTHCA_VERSION, settings->model->name, settings->devices,
		settings->ports, settings->ethernet, settings->address);
	for (int i = 0; i < fabric.list->count; i++)
		fprintf(out, " %s", fabric.list->host[i].name);
	fclose(out);
	fabric_seal(text, size, fabric.terms);
	free(text);
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
	messages_open(plan, list, meet_again);
	seal_terms();
	err = listen_for_others();
	if (err)
		snprintf(why, size, "%.200s, port %d of TCP: %s%s", own->name, plan->settings->port,
			 strerror(-err),
			 err == -EADDRINUSE ? "; --port takes another one, on all machines" : "");
	else
		err = carrier_open(&carrier, why, size);
	for (int home = 0; !err && home < list->count; home++) {
		fabric.peer[home].reason.text = "no daemon has come from there";
		if (home < list->own)
			connect_to(home);
	}
	return err;
}

bool fabric_complete(char *why, size_t size)
{
	for (int home = 0; fabric.list && home < fabric.list->count; home++) {
		if (home == fabric.list->own || is_met(home))
			continue;
		if (why)
			snprintf(why, size, "machine %.200s is missing: %.200s%s%.200s",
				 fabric.list->host[home].name, fabric.peer[home].reason.text,
				 fabric.stranger.text ? "; of another connection: " : "",
				 fabric.stranger.text ? fabric.stranger.text : "");
		return false;
	}
	return true;
}

void fabric_print(FILE *out)
{
	for (int home = 0; fabric.list && home < fabric.list->count; home++)
		fprintf(out, "machine %s: %s\n", fabric.list->host[home].name,
			home == fabric.list->own ? "this one"
			: is_met(home)		 ? "met"
						 : fabric.peer[home].reason.text);
}
