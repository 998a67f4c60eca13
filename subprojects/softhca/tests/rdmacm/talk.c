/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One side of connections over librdmacm. It prints a line for each event, with the status and the
 * peer's private data.
 *
 * usage: talk listen ADDRESS PORT accept|late|reject|hold|deaf [BACKLOG]
 *        talk connect ADDRESS PORT
 * late accepts after the end of standard input, hold never answers, deaf does not even read.
 * connect goes on until the peer has disconnected.
 */
#include "ground.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Ends the program if a call failed, with the call's name and errno. */
static void need(int result, const char *call)
{
	if (!result)
		return;
	perror(call);
	exit(EXIT_FAILURE);
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	need(rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
}

/* Prints the next event. Returns its type, and its id in @id. */
static enum rdma_cm_event_type print_event(struct rdma_cm_id **id)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;

	need(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	printf("%s %d", rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"), event->status);
	if (event->param.conn.private_data_len && *(const char *)event->param.conn.private_data)
		printf(" %s", (const char *)event->param.conn.private_data);
	putchar('\n');
	type = event->event;
	*id = event->id;
	rdma_ack_cm_event(event);
	return type;
}

static void expect(enum rdma_cm_event_type type)
{
	struct rdma_cm_id *id;

	if (print_event(&id) != type)
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
		rdma_accept(id, &param);
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
	/* A backlog fills only while no program reads. */
	if (!strcmp(how, "deaf"))
		pause();
	for (;;) {
		enum rdma_cm_event_type type = print_event(&id);

		if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
			answer(id, how);
		else if (type == RDMA_CM_EVENT_DISCONNECTED)
			rdma_disconnect(id);
	}
}

static void connect_once(struct rdma_cm_id *id, struct sockaddr *at)
{
	struct rdma_conn_param param = { .private_data = "hello",
					 .private_data_len = sizeof("hello") };

	need(rdma_resolve_addr(id, NULL, at, 300), "rdma_resolve_addr");
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	need(rdma_resolve_route(id, 300), "rdma_resolve_route");
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_qp(id);
	need(rdma_connect(id, &param), "rdma_connect");
	expect(RDMA_CM_EVENT_ESTABLISHED);
	expect(RDMA_CM_EVENT_DISCONNECTED);
	rdma_destroy_qp(id);
	need(rdma_destroy_id(id), "rdma_destroy_id");
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
	need(!channel, "rdma_create_event_channel");
	need(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	if (!strcmp(argv[1], "listen"))
		listen_for_ever(id, at, argc > 4 ? argv[4] : "accept",
				argc > 5 ? atoi(argv[5]) : 16);
	connect_once(id, at);
	return EXIT_SUCCESS;
}
