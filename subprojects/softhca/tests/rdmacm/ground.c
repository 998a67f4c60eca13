/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of librdmacm in the states that rows start from. */
#include "ground.h"

#include <arpa/inet.h>
#include <time.h>

struct rdma_event_channel *channel;
struct rdma_cm_id *idle, *second, *datagram, *bound, *listener, *routed;

struct sockaddr *address(const char *text, uint16_t port)
{
	static struct sockaddr_in in[4];
	static unsigned int next;
	struct sockaddr_in *one = &in[next++ % 4];

	*one = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	must(inet_pton(AF_INET, text, &one->sin_addr) == 1);
	return (struct sockaddr *)one;
}

struct sockaddr *address6(const char *text, uint16_t port)
{
	static struct sockaddr_in6 in6;

	in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
	must(inet_pton(AF_INET6, text, &in6.sin6_addr) == 1);
	return (struct sockaddr *)&in6;
}

struct rdma_cm_id *new_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	must(!rdma_create_id(channel, &id, NULL, ps));
	return id;
}

struct rdma_cm_event *next_event_at(enum rdma_cm_event_type type, const char *file, int line)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		row_fail(file, line, "rdma_get_cm_event: %m");
	if (event->event != type)
		row_fail(file, line, "%s (%d) instead of %s", rdma_event_str(event->event),
			 event->status, rdma_event_str(type));
	return event;
}

int take_event_at(enum rdma_cm_event_type type, struct rdma_cm_id **id, const char *file, int line)
{
	struct rdma_cm_event *event = next_event_at(type, file, line);
	int status = event->status;

	if (id)
		*id = event->id;
	rdma_ack_cm_event(event);
	return status;
}

void must_be_unreachable(const struct rdma_cm_id *id)
{
	struct rdma_cm_id *other;

	must_eq(take_event(RDMA_CM_EVENT_UNREACHABLE, &other), -ETIMEDOUT);
	must(other == id);
}

void resolve(struct rdma_cm_id *id, const char *to, uint16_t port)
{
	must(!rdma_resolve_addr(id, address(HERE, 0), address(to, port), 20000));
	take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	must(!rdma_resolve_route(id, 20000));
	take_event(RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
}

bool still_waits(pthread_t thread)
{
	struct timespec end;

	must(!clock_gettime(CLOCK_REALTIME, &end));
	end.tv_nsec += 100000000;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(thread, NULL, &end) == ETIMEDOUT;
}

const uint8_t *private_data(void)
{
	static uint8_t bytes[UINT8_MAX];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	return bytes;
}

void ground_lay(void)
{
	must((channel = rdma_create_event_channel()));
	idle = new_id(RDMA_PS_TCP);
	second = new_id(RDMA_PS_TCP);
	datagram = new_id(RDMA_PS_UDP);
	bound = new_id(RDMA_PS_TCP);
	listener = new_id(RDMA_PS_TCP);
	routed = new_id(RDMA_PS_TCP);
	must(!rdma_bind_addr(bound, address(HERE, PORT)));
	must(!rdma_bind_addr(listener, address(THERE, PORT)));
	must(!rdma_listen(listener, 4));
	resolve(routed, THERE, PORT);
}

void ground_clear(void)
{
	struct rdma_cm_id *ids[] = { routed, listener, bound, datagram, second, idle };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		must(!rdma_destroy_id(ids[i]));
	rdma_destroy_event_channel(channel);
}
