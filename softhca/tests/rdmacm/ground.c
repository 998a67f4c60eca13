/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of librdmacm in the states that tests start from. */
#include "ground.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 30 /* the time limit of a test */

void ground_need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

struct sockaddr *address(const char *text, uint16_t port)
{
	static struct sockaddr_in in[4];
	static unsigned int next;
	struct sockaddr_in *one = &in[next++ % 4];

	memset(one, 0, sizeof(*one));
	one->sin_family = AF_INET;
	one->sin_port = htons(port);
	NEED(inet_pton(AF_INET, text, &one->sin_addr) == 1);
	return (struct sockaddr *)one;
}

struct sockaddr *address6(const char *text, uint16_t port)
{
	static struct sockaddr_in6 in6;

	in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
	NEED(inet_pton(AF_INET6, text, &in6.sin6_addr) == 1);
	return (struct sockaddr *)&in6;
}

struct rdma_cm_id *new_id(struct ground *ground, enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	NEED(!rdma_create_id(ground->channel, &id, NULL, ps));
	return id;
}

struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	NEED(!rdma_get_cm_event(channel, &event));
	if (event->event == type)
		return event;
	fprintf(stderr, "%s (%d) instead of %s\n", rdma_event_str(event->event), event->status,
		rdma_event_str(type));
	exit(EXIT_FAILURE);
}

int take_event(struct ground *ground, enum rdma_cm_event_type type, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event = next_event(ground->channel, type);
	int status = event->status;

	if (id)
		*id = event->id;
	rdma_ack_cm_event(event);
	return status;
}

void resolve(struct ground *ground, struct rdma_cm_id *id, const char *to, uint16_t port)
{
	NEED(!rdma_resolve_addr(id, address(HERE, 0), address(to, port), 20000));
	take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	NEED(!rdma_resolve_route(id, 20000));
	take_event(ground, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

bool still_waits(pthread_t thread)
{
	struct timespec end;

	NEED(!clock_gettime(CLOCK_REALTIME, &end));
	end.tv_nsec += 100000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(thread, NULL, &end) == ETIMEDOUT;
}

void ground_lay(struct ground *ground)
{
	NEED((ground->channel = rdma_create_event_channel()));
	ground->idle = new_id(ground, RDMA_PS_TCP);
	ground->second = new_id(ground, RDMA_PS_TCP);
	ground->datagram = new_id(ground, RDMA_PS_UDP);
	ground->bound = new_id(ground, RDMA_PS_TCP);
	ground->listener = new_id(ground, RDMA_PS_TCP);
	ground->routed = new_id(ground, RDMA_PS_TCP);
	NEED(!rdma_bind_addr(ground->bound, address(HERE, PORT)));
	NEED(!rdma_bind_addr(ground->listener, address(THERE, PORT)));
	NEED(!rdma_listen(ground->listener, 4));
	resolve(ground, ground->routed, THERE, PORT);
}

void ground_clear(struct ground *ground)
{
	rdma_destroy_id(ground->routed);
	rdma_destroy_id(ground->listener);
	rdma_destroy_id(ground->bound);
	rdma_destroy_id(ground->datagram);
	rdma_destroy_id(ground->second);
	rdma_destroy_id(ground->idle);
	rdma_destroy_event_channel(ground->channel);
}

static struct {
	const char *name;
	void (*run)(struct ground *ground);
} tests[32];
static size_t count;

void ground_add(const char *name, void (*run)(struct ground *ground))
{
	NEED(count < sizeof(tests) / sizeof(tests[0]));
	tests[count].name = name;
	tests[count++].run = run;
}

/* Runs a test in a process of its own, so that a failure, a crash or a hang ends only this test. */
static bool passes(void (*run)(struct ground *ground))
{
	static struct ground ground; /* a test may end the main thread */
	pid_t child = fork();
	int status;

	NEED(child >= 0);
	if (!child) {
		alarm(SECONDS);
		ground_lay(&ground);
		run(&ground);
		ground_clear(&ground);
		exit(EXIT_SUCCESS);
	}
	NEED(waitpid(child, &status, 0) == child);
	return !status;
}

int ground_run(void)
{
	int failures = 0;

	NEED(count);
	for (size_t i = 0; i < count; i++) {
		bool good = passes(tests[i].run);

		printf("%s %s\n", good ? "ok  " : "FAIL", tests[i].name);
		fflush(stdout);
		failures += !good;
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
