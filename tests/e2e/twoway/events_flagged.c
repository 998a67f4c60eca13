/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The content of events, the processes that get them, and every way to acknowledge them. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

static const struct {
	const char *name;
	enum ibv_event_type type;
} kinds[] = {
	{ "qp_fatal", IBV_EVENT_QP_FATAL },
	{ "qp_req_err", IBV_EVENT_QP_REQ_ERR },
	{ "qp_access_err", IBV_EVENT_QP_ACCESS_ERR },
	{ "comm_est", IBV_EVENT_COMM_EST },
	{ "sq_drained", IBV_EVENT_SQ_DRAINED },
	{ "path_mig", IBV_EVENT_PATH_MIG },
	{ "path_mig_err", IBV_EVENT_PATH_MIG_ERR },
	{ "last_wqe_reached", IBV_EVENT_QP_LAST_WQE_REACHED },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void of_every_kind(void)
{
	struct ibv_async_event event;
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	for (size_t i = 0; i < KINDS; i++) {
		inject(0, kinds[i].name, qp_num);
		memset(&event, 0xff, sizeof(event));
		must_eq(ibv_get_async_event(end.context, &event), 0);
		must_eq((uint32_t)event.event_type, flagged(kinds[i].type));
		must_eq(event_number(&event), qp_num);
		must(!strcmp(ibv_event_type_str(event.event_type), "unknown"));
		ibv_ack_async_event(&event);
		end_no_event(&end, 0);
	}
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}

/* ---- once per registration ---- */

#define ROUNDS 3

static void get_rounds(struct end *end, uint32_t qp_num)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct ibv_async_event event = end_event(end);

		must_eq((uint32_t)event.event_type, flagged(IBV_EVENT_PATH_MIG));
		must_eq(event_number(&event), qp_num);
		ibv_ack_async_event(&event);
	}
	end_no_event(end, 50);
}

static void registrant(int fd, uint32_t qp_num, int wire)
{
	struct end end;
	char ready = 1;

	row_inherit("registrant: ");
	end_open(&end, 0, fd, false);
	must_eq(ibv_reg_xrc_rcv_qp(end.domain, qp_num), 0);
	must_eq(ibv_reg_xrc_rcv_qp(end.domain, qp_num), 0);
	must(write(wire, &ready, 1) == 1);
	get_rounds(&end, qp_num);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_no_event(&end, 0);
	end_close(&end);
	_exit(0);
}

static void to_every_registrant(void)
{
	int ends[2], fd = shared_file(), status;
	struct end creator, second, bystander;
	uint32_t qp_num;
	char ready;

	must(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	end_open(&creator, 0, fd, false);
	end_open(&second, 0, fd, false);
	end_open(&bystander, 0, fd, false);
	qp_num = receive_qp(creator.domain);
	must_eq(ibv_reg_xrc_rcv_qp(creator.domain, qp_num), 0);
	must_eq(ibv_reg_xrc_rcv_qp(second.domain, qp_num), 0);
	for (int i = 0; i < 2; i++)
		if (!fork())
			registrant(fd, qp_num, ends[1]);
	for (int i = 0; i < 2; i++)
		must(read(ends[0], &ready, 1) == 1);
	for (int i = 0; i < ROUNDS; i++)
		inject(0, "path_mig", qp_num);
	get_rounds(&creator, qp_num);
	get_rounds(&second, qp_num);
	end_no_event(&bystander, 0);
	for (int i = 0; i < 2; i++) {
		must(wait(&status) > 0);
		if (status)
			_exit(1);	/* it has printed why */
	}
	must_eq(ibv_unreg_xrc_rcv_qp(second.domain, qp_num), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(creator.domain, qp_num), 0);
	end_close(&bystander);
	end_close(&second);
	end_close(&creator);
}

/* ---- SRQs ---- */

static void srq_events(void)
{
	static const struct {
		const char *name;
		enum ibv_event_type type;
	} srq_kinds[] = {
		{ "srq_limit_reached", IBV_EVENT_SRQ_LIMIT_REACHED },
		{ "srq_err", IBV_EVENT_SRQ_ERR },
	};
	struct ibv_async_event event;
	struct end end, other;

	end_open(&end, 0, -1, false);
	end_open(&other, 0, -1, false);
	for (size_t i = 0; i < 2; i++) {
		inject(0, srq_kinds[i].name, end.own.srq_num);
		event = end_event(&end);
		must_eq(event.event_type, srq_kinds[i].type);
		must(event.element.srq == end.srq);
		must_eq(event.element.srq->xrc_srq_num, end.own.srq_num);
		ibv_ack_async_event(&event);
		must(event.element.srq == end.srq);
		end_no_event(&end, 0);
		end_no_event(&other, 0);
	}
	end_close(&other);
	end_close(&end);	/* would wait if an ack had not been counted */
}

static void plain_srq_event(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_async_event event;
	struct ibv_srq *plain;
	struct end end;

	end_open(&end, 0, -1, false);
	plain = ibv_create_srq(end.pd, &attr);
	must(plain);
	/* The plain SRQ got the next number: they are given out in order, and no other program uses this device. */
	inject(0, "srq_limit_reached", end.own.srq_num + 1);
	event = end_event(&end);
	must_eq(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	must(event.element.srq == plain);
	ibv_ack_async_event(&event);
	must_eq(ibv_destroy_srq(plain), 0);
	end_close(&end);
}

/* Messages reach an armed limit, at which MVAPICH2 posts more buffers. */
static void limit_reached(void)
{
	struct ibv_srq_attr limit = { .srq_limit = 2 };
	struct ibv_async_event event;
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	end_create_qp(&end, 16);
	qp_num = receive_qp(end.domain);
	connect_to_itself(&end, qp_num);
	for (uint32_t i = 0; i < 3; i++)
		end_post_recv(&end, i, 4096 * (1 + i), 4096);
	must_eq(ibv_modify_srq(end.srq, &limit, IBV_SRQ_LIMIT), 0);
	end_send(&end, IBV_WR_SEND, 0, 8);
	end_send(&end, IBV_WR_SEND, 0, 8);
	event = end_event(&end);
	must_eq((uint32_t)event.event_type, flagged(IBV_EVENT_COMM_EST));
	event = end_event(&end);
	must_eq(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	must(event.element.srq == end.srq);
	ibv_ack_async_event(&event);
	end_no_event(&end, 20);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}

/* ---- acknowledgements ---- */

static void as_it_came(struct ibv_async_event *event)
{
	ibv_ack_async_event(event);
}

/* As MVAPICH2: it takes the flag off for its switch statement, and sets it again for the ack. */
static void off_and_on_again(struct ibv_async_event *event)
{
	event->event_type ^= IBV_XRC_QP_EVENT_FLAG;
	must_eq(event->event_type, IBV_EVENT_PATH_MIG);
	event->event_type ^= IBV_XRC_QP_EVENT_FLAG;
	ibv_ack_async_event(event);
}

static void without_the_flag(struct ibv_async_event *event)
{
	event->event_type &= ~IBV_XRC_QP_EVENT_FLAG;
	ibv_ack_async_event(event);
}

static void several_times(struct ibv_async_event *event)
{
	ibv_ack_async_event(event);
	ibv_ack_async_event(event);
	without_the_flag(event);
	without_the_flag(event);
}

static void not_at_all(struct ibv_async_event *event)
{
	(void)event;
}

static bool unreg_is_slow(struct end *end, uint32_t qp_num)
{
	double start = seconds();

	must_eq(ibv_unreg_xrc_rcv_qp(end->domain, qp_num), 0);
	return seconds() - start > 0.4;
}

static bool unreg_waits_for(void (*ack)(struct ibv_async_event *event), bool before_unreg)
{
	struct ibv_async_event event, given;
	struct end end;
	uint32_t qp_num;
	bool slow;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	inject(0, "path_mig", qp_num);
	inject(0, "path_mig", qp_num);
	for (int i = 0; i < 2; i++) {
		given = event = end_event(&end);
		if (before_unreg)
			ack(&event);
		must_eq(event_number(&event), qp_num);
	}
	slow = unreg_is_slow(&end, qp_num);
	if (!before_unreg)
		ack(&given);
	must_eq(event_number(&given), qp_num);
	end_close(&end);
	return slow;
}

/* A busy machine makes a call slow now and then. A call that waits for an ack is slow until the row's time is up. */
static void acked(void (*ack)(struct ibv_async_event *event), bool before_unreg)
{
	while (unreg_waits_for(ack, before_unreg))
		;
}

static void ack_as_it_came(void)
{
	acked(as_it_came, true);
}

static void ack_off_and_on(void)
{
	acked(off_and_on_again, true);
}

static void ack_without_flag(void)
{
	acked(without_the_flag, true);
}

static void ack_several_times(void)
{
	acked(several_times, true);
}

static void ack_never(void)
{
	acked(not_at_all, true);
}

static void ack_late(void)
{
	acked(as_it_came, false);
}

static void ack_late_without_flag(void)
{
	acked(several_times, false);
}

static void unread(void)
{
	struct end end;
	uint32_t qp_num;
	bool slow;

	do {
		end_open(&end, 0, -1, false);
		qp_num = receive_qp(end.domain);
		for (int i = 0; i < 3; i++)
			inject(0, "path_mig", qp_num);
		slow = unreg_is_slow(&end, qp_num);
		end_close(&end);
	} while (slow);
}

/* The event of a QP that sends is not flagged, and destroy waits for its ack. */
static void sender_event_is_plain(void)
{
	struct ibv_async_event event;
	struct end end;

	end_open(&end, 0, -1, false);
	receive_qp(end.domain);
	end_create_qp(&end, 16);
	inject(0, "path_mig", end.own.qp_num);
	event = end_event(&end);
	must_eq(event.event_type, IBV_EVENT_PATH_MIG);
	must(event.element.qp == end.qp);
	ibv_ack_async_event(&event);
	must_eq(ibv_destroy_qp(end.qp), 0);
}

static void non_blocking(void)
{
	struct ibv_async_event event;
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	must(!fcntl(end.context->async_fd, F_SETFL, fcntl(end.context->async_fd, F_GETFL) | O_NONBLOCK));
	for (int i = 0; i < 2; i++) {
		errno = 0;
		must_eq(ibv_get_async_event(end.context, &event), -1);
		must_eq(errno, EWOULDBLOCK);
		inject(0, "path_mig", qp_num);
		must_eq(ibv_get_async_event(end.context, &event), 0);
		must_eq(event_number(&event), qp_num);
	}
}

static const struct row flagged_rows[] = {
	{ "every kind of event, flagged, by number, unknown to ibv_event_type_str", of_every_kind },
	{ "once for every registration, in every process", to_every_registrant },
	{ "an XRC SRQ's events carry the program's pointer", srq_events },
	{ "an ordinary SRQ's event carries the program's pointer", plain_srq_event },
	{ "a limit that traffic reaches", limit_reached },
	{ "a sending QP's event is an ordinary one", sender_event_is_plain },
	{ "acked as it came", ack_as_it_came },
	{ "acked with the flag off and on again", ack_off_and_on },
	{ "acked without the flag", ack_without_flag },
	{ "acked several times in every form", ack_several_times },
	{ "never acked", ack_never },
	{ "acked after unreg", ack_late },
	{ "acked after unreg, several times in every form", ack_late_without_flag },
	{ "never read", unread },
	{ "O_NONBLOCK: -1 and EWOULDBLOCK", non_blocking },
};

GROUP(flagged);
