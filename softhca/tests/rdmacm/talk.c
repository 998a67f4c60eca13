/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One side of connections over librdmacm. It prints a line for each event, with the status and the
 * peer's private data.
 *
 * usage: talk listen ADDRESS PORT accept|late|reject|hold|deaf [BACKLOG]
 *        talk connect ADDRESS PORT [TEXT]
 * late accepts after the end of standard input, hold never answers, deaf does not even read.
 * connect goes on until the connection has ended; the end of standard input makes it disconnect.
 */
#include "ground.h"

#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct rdma_event_channel *channel;

/* Ends the program if a call failed, with the call's name and errno. */
static void need(int result, const char *call)
{
	ground_need(!result, call);
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	need(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
}

static void print_event(const struct rdma_cm_event *event)
{
	printf("%s %d", rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"), event->status);
	if (event->param.conn.private_data_len && *(const char *)event->param.conn.private_data)
		printf(" %s", (const char *)event->param.conn.private_data);
	putchar('\n');
}

static struct rdma_cm_event *read_event(void)
{
	struct rdma_cm_event *event;

	need(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	print_event(event);
	return event;
}

static void expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = read_event();
	bool good = event->event == type;

	rdma_ack_cm_event(event);
	if (!good)
		exit(EXIT_FAILURE);
}

static void answer(struct rdma_cm_id *id, const char *how)
{
	struct rdma_conn_param param = { .private_data = "welcome",
					 .private_data_len = sizeof("welcome") };
	char byte;

	while (!strcmp(how, "late") && read(0, &byte, 1) > 0)
		;
	if (!strcmp(how, "accept") || !strcmp(how, "late")) {
		make_qp(id);
		if (rdma_accept(id, &param))
			printf("rdma_accept: %s\n", strerror(errno));
	} else if (!strcmp(how, "reject")) {
		need(rdma_reject(id, "go away", sizeof("go away")), "rdma_reject");
		rdma_destroy_id(id);
	}
}

static void listen_for_ever(struct rdma_cm_id *id, struct sockaddr *at, const char *how,
			    int backlog)
{
	need(rdma_bind_addr(id, at), "rdma_bind_addr");
	need(rdma_listen(id, backlog), "rdma_listen");
	puts("listening");
	for (;;) {
		struct rdma_cm_event *event;
		struct rdma_cm_id *conn;
		enum rdma_cm_event_type type;

		/* A backlog fills only while no program reads. */
		if (!strcmp(how, "deaf"))
			pause();
		event = read_event();
		conn = event->id;
		type = event->event;
		rdma_ack_cm_event(event);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			answer(conn, how);
		else if (type == RDMA_CM_EVENT_DISCONNECTED)
			rdma_disconnect(conn);
	}
}

/*
 * Returns when the peer has disconnected; or, after the end of standard input, when this side has.
 */
static void stay_connected(struct rdma_cm_id *id)
{
	struct pollfd fds[] = { { .fd = channel->fd, .events = POLLIN },
				{ .fd = 0, .events = POLLIN } };
	char byte;

	for (;;) {
		NEED(poll(fds, 2, -1) >= 0);
		if (fds[0].revents) {
			expect(RDMA_CM_EVENT_DISCONNECTED);
			return;
		}
		if (fds[1].revents && read(0, &byte, 1) <= 0) {
			need(rdma_disconnect(id), "rdma_disconnect");
			fds[1].fd = -1;
		}
	}
}

static void connect_once(struct rdma_cm_id *id, struct sockaddr *at, const char *text)
{
	struct rdma_conn_param param = { .private_data = text,
					 .private_data_len = (uint8_t)(strlen(text) + 1) };

	need(rdma_resolve_addr(id, NULL, at, 300), "rdma_resolve_addr");
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	need(rdma_resolve_route(id, 300), "rdma_resolve_route");
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	need(rdma_connect(id, &param), "rdma_connect");
	expect(RDMA_CM_EVENT_ESTABLISHED);
	stay_connected(id);
}

int main(int argc, char **argv)
{
	struct rdma_cm_id *id;
	struct sockaddr *at;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4)
		return EXIT_FAILURE;
	at = address(argv[2], (uint16_t)atoi(argv[3]));
	channel = rdma_create_event_channel();
	ground_need(channel != NULL, "rdma_create_event_channel");
	need(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	if (!strcmp(argv[1], "listen"))
		listen_for_ever(id, at, argc > 4 ? argv[4] : "accept",
				argc > 5 ? atoi(argv[5]) : 16);
	connect_once(id, at, argc > 4 ? argv[4] : "hello");
	rdma_destroy_qp(id);
	need(rdma_destroy_id(id), "rdma_destroy_id");
	rdma_destroy_event_channel(channel);
	return EXIT_SUCCESS;
}
