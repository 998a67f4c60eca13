/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Connections by which machines meet: of machines that have the key, honest or not, and of
 * strangers. The daemon is the second machine of three. It connects to the first one, and the third
 * one connects to it.
 */
#include "softhca_hca.h"

#include <base/loop.h>
#include <base/timer.h>
#include <fabric/introduce.h>
#include <model/model.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAGIC 0x53484631u /* GREETING in fabric/introduce.c */
#define MACHINES 3
#define STEP (300u * 1000 * 1000) /* nanoseconds from input to input */

enum kind { HONEST, OTHER_MAGIC, OTHER_WORDS, BROKEN_SEAL, SHORT, NOISE, KINDS };

static struct fuzz_hca *hca;
static struct settings settings;
static struct fabric_list list = { .count = MACHINES, .own = 1 };
static struct list timers;
static int first_machine; /* where it listens */

/* ---- the daemon ---- */

static void handle(int machine, const void *body, size_t length)
{
	(void)machine;
	(void)body;
	(void)length;
}

static void offer(void)
{
}

static struct sockaddr_in address_of(uint8_t machine)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK + machine),
				     .sin_port = htons((uint16_t)settings.port) };
}

static void make_key(void)
{
	char path[] = "/tmp/softhca-fuzz.XXXXXX", why[512];
	int fd = mkstemp(path);

	must(fd >= 0 && write(fd, path, FABRIC_SEAL) == FABRIC_SEAL &&
		     !fabric_read_key(path, why, sizeof(why)),
	     "no key");
	unlink(path);
	close(fd);
}

static void listen_as_first(void)
{
	struct sockaddr_in address = address_of(0);
	socklen_t size = sizeof(address);

	first_machine = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	must(!bind(first_machine, (struct sockaddr *)&address, sizeof(address)) &&
		     !listen(first_machine, 64) &&
		     !getsockname(first_machine, (struct sockaddr *)&address, &size),
	     "no port");
	settings.port = ntohs(address.sin_port);
}

/* libFuzzer has an alarm each few seconds, which must not interrupt connect(2). */
static void restart_after_alarm(void)
{
	struct sigaction action;

	sigaction(SIGALRM, NULL, &action);
	action.sa_flags |= SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
}

static void begin_once(void)
{
	const struct fabric_plan plan = {
		.settings = &settings, .handler = { handle, handle, handle }, .room = offer
	};
	char why[512];

	restart_after_alarm();
	hca = fuzz_hca_begin();
	settings = hca->machine.settings;
	settings.port = 0;
	list_init(&timers);
	make_key();
	listen_as_first();
	for (uint8_t i = 0; i < MACHINES; i++) {
		const struct sockaddr_in address = address_of(i);

		memcpy(&list.host[i].address, &address, sizeof(address));
		list.host[i].length = sizeof(address);
	}
	must(!fabric_open(&plan, &list, &timers, why, sizeof(why)), "no daemon");
}

static void turn(void)
{
	enum sleep_end end;

	must(!loop_wait(0, &end), "no turn");
}

/* ---- the other machine ---- */

static int connect_to_daemon(void)
{
	const struct sockaddr_in address = address_of(1);
	int sock = socket(AF_INET, SOCK_STREAM, 0);

	must(sock >= 0 && !connect(sock, (const struct sockaddr *)&address, sizeof(address)),
	     "the daemon does not listen");
	return sock;
}

/* The last one that the daemon has made. It has ended those before. */
static int accept_daemon(void)
{
	int sock = -1, next;

	for (int i = 0; i < 100 && sock < 0; i++) {
		timer_run(&timers, hca->now += STEP);
		turn();
		while ((next = accept(first_machine, NULL, NULL)) >= 0) {
			close(sock);
			sock = next;
		}
	}
	must(sock >= 0, "the daemon does not connect");
	return sock;
}

/* Reads these bytes. False: the daemon has ended the connection, or met this machine before. */
static bool hear(int sock, void *bytes, size_t length)
{
	ssize_t got = -1;

	for (int i = 0; i < 10000 && got < (ssize_t)length && fuzz_reached < 0; i++) {
		turn();
		got = recv(sock, bytes, length, MSG_PEEK | MSG_DONTWAIT);
		if (!got || (got < 0 && errno != EAGAIN))
			return false;
		if (i > 10)
			usleep(100); /* the kernel delivers later where it has other work */
	}
	return got == (ssize_t)length && recv(sock, bytes, length, 0) == got;
}

/* Whether the daemon ends the connection after a byte behind the introduction. */
static bool ends_after_more(int sock)
{
	ssize_t got = -1;

	send(sock, "", 1, MSG_NOSIGNAL);
	for (int i = 0; i < 10000 && got < 0; i++) {
		turn();
		got = recv(sock, &(char){ 0 }, 1, MSG_DONTWAIT);
		if (got < 0 && errno != EAGAIN)
			return true;
		if (i > 10)
			usleep(100);
	}
	return !got;
}

/* In up to four pieces. */
static void say(struct input *input, int sock, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;

	for (int i = 0; i < 4 && length; i++) {
		const size_t wanted = take(input, 1),
			     part = i < 3 && wanted < length ? wanted : length;

		send(sock, at, part, MSG_NOSIGNAL);
		turn();
		at += part;
		length -= part;
	}
}

static void flip(struct input *input, void *bytes, size_t length)
{
	const uint32_t bit = take(input, 2) % (8 * length);

	((uint8_t *)bytes)[bit / 8] ^= (uint8_t)(1 << bit % 8);
}

static void introduce(struct input *input, int sock, bool third, enum kind kind,
		      const struct greeting *ours, const struct greeting *theirs)
{
	const uint16_t machine = third ? 2 : 0;
	struct introduction heard, words = {
		.machine = machine,
		.address_length = FUZZ_ADDRESS,
		.called = third ? (uint16_t)list.own : INTRODUCE_NOBODY,
	};
	char end;

	if (!hear(sock, &heard, sizeof(heard)))
		return;
	memcpy(words.terms, heard.terms, sizeof(words.terms));
	if (kind == OTHER_WORDS)
		flip(input, &words, offsetof(struct introduction, address));
	fabric_seal_text(ours->nonce, theirs->nonce, &words, offsetof(struct introduction, seal),
			 words.seal);
	if (kind == BROKEN_SEAL)
		flip(input, &words, sizeof(words));
	say(input, sock, &words, sizeof(words) - (kind == SHORT));
	if (kind != SHORT)
		must(!hear(sock, &end, 1), "more than an introduction");
	must(kind != HONEST || fuzz_reached == machine, "an honest machine was not met");
	must(kind != HONEST || ends_after_more(sock), "more than an introduction was heard");
}

static void converse(struct input *input, int sock, bool third, enum kind kind)
{
	struct greeting theirs, ours = { .magic = MAGIC };
	uint8_t noise[FABRIC_TEXT];

	if (!hear(sock, &theirs, sizeof(theirs)))
		return;
	if (kind == NOISE) {
		take_bytes(input, noise, sizeof(noise));
		say(input, sock, noise, sizeof(noise));
		return;
	}
	take_bytes(input, ours.nonce, sizeof(ours.nonce));
	if (kind == OTHER_MAGIC)
		flip(input, &ours, sizeof(ours.magic));
	say(input, sock, &ours, sizeof(ours));
	introduce(input, sock, third, kind, &ours, &theirs);
}

/* Without a port that waits for late packets. */
static void hang_up(int sock)
{
	const struct linger linger = { 1, 0 };

	shutdown(sock, SHUT_WR);
	turn();
	setsockopt(sock, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(sock);
	turn();
	timer_run(&timers, hca->now += STEP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const bool third = take(&input, 1) & 1;
	const enum kind kind = (enum kind)(take(&input, 1) % KINDS);
	const int now = 1;
	int sock;

	if (!hca)
		begin_once();
	fuzz_reached = -1;
	sock = third ? connect_to_daemon() : accept_daemon();
	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &now, sizeof(now));
	converse(&input, sock, third, kind);
	must(fuzz_reached < 0 || kind == HONEST, "another one was met");
	count_accepted(fuzz_reached >= 0);
	hang_up(sock);
	return 0;
}
