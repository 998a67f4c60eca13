/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Carries out one step in an actor. The masks are those of OFED's time. */
#include "selftest.h"

#include <abi/rc_masks.h>
#include <abi/verb.h>
#include <tools/aside/clock.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CQ_ENTRIES 32
#define SLOT_SIZE 4096u		/* messages are received into SLOTS of these, sent from one more */
#define SLOTS 4u
#define MESSAGE_SIZE 1500u
#define COMPLETION_SECONDS 10
#define EVENT_MS 3000
#define MORE_EVENT_MS 300	/* once the first process has its event */
#define PSN 0x5e1f

struct task task;
const char *actor_device = "";
int actor_domain;

static const struct step *step;	/* the one in @task */
static jmp_buf end_of_step;

static struct {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct ibv_xrc_domain *domain;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	uint8_t port;
} mine;

/* Ends the step. */
__attribute__((format(printf, 2, 3), noreturn)) static void fail(int result,
								 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(task.text, sizeof(task.text), format, args);
	va_end(args);
	task.result = result;
	longjmp(end_of_step, 1);
}

static void must(const char *verb, int err)
{
	if (err)
		fail(err, "%s", verb);
}

/* Verbs that return NULL set errno. A verb that does not must still count as failed. */
static void *made(const char *verb, void *object)
{
	if (!object)
		fail(errno ? errno : EPROTO, "%s", verb);
	return object;
}

#define MUST(verb, ...) must(#verb, verb(__VA_ARGS__))
#define MADE(verb, ...) made(#verb, verb(__VA_ARGS__))

/* A step of one verb. */
#define STEP(name, verb, ...) \
	void name(void) \
	{ \
		MUST(verb, __VA_ARGS__); \
	}

void actor_step(void)
{
	step = &steps[task.step];
	task.text[0] = '\0';
	errno = 0;
	task.result = 0;
	if (!setjmp(end_of_step))
		step->run();
}

void find_symbols(void)
{
#define X(function) \
	if (!dlvsym(RTLD_DEFAULT, #function, VERB_NODE)) \
		fail(WRONG, #function " was not found: is libxrc-compat preloaded?");
	ABI_LEGACY_FUNCTIONS(X)
#undef X
}

/* ---- device ---- */

/* Opens a device with the wanted name and XRC. 0, ENODEV for other devices, or a verb's error. */
static int try_device(struct ibv_device *device)
{
	struct ibv_device_attr attr;
	int err;

	if (actor_device[0] && strcmp(actor_device, ibv_get_device_name(device)))
		return ENODEV;
	mine.context = ibv_open_device(device);
	if (!mine.context)
		return errno ? errno : EPROTO;
	err = ibv_query_device(mine.context, &attr);
	if (!err && attr.device_cap_flags & IBV_DEVICE_XRC)
		return 0;
	ibv_close_device(mine.context);
	mine.context = NULL;
	return err ? err : ENODEV;
}

static void find_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int err = ENODEV;

	/* Keep the error: the device that fails may be the only device with XRC. */
	for (int i = 0; list && list[i] && !mine.context; i++) {
		int fault = try_device(list[i]);

		err = err == ENODEV ? fault : err;
	}
	if (!mine.context && err == ENODEV)
		fail(NO_DEVICE, "no device%s%s with XRC", actor_device[0] ? " " : "", actor_device);
	must("ibv_open_device or ibv_query_device", mine.context ? 0 : err);
	ibv_free_device_list(list);
}

static void find_port(struct address *self)
{
	struct ibv_port_attr port;

	while (ibv_query_port(mine.context, ++mine.port, &port) || port.state != IBV_PORT_ACTIVE) {
		if (mine.port == UINT8_MAX)
			fail(ENETDOWN, "%s has no active port",
			     ibv_get_device_name(mine.context->device));
	}
	self->lid = port.lid;
	self->mtu = (uint16_t)port.active_mtu;
	must("ibv_query_gid", ibv_query_gid(mine.context, mine.port, 0, &self->gid) ? errno : 0);
}

void open_device(void)
{
	size_t size = (SLOTS + 1) * SLOT_SIZE;

	/* The first verb reads the variable. Without it this program would count as one-way. */
	setenv("XRC_COMPAT_TWO_WAY", step->role >= TWO_WAY ? "on" : "off", 1);
	find_device();
	find_port(&task.address[step->role]);
	mine.pd = MADE(ibv_alloc_pd, mine.context);
	mine.cq = MADE(ibv_create_cq, mine.context, CQ_ENTRIES, NULL, NULL, 0);
	mine.memory = MADE(aligned_alloc, SLOT_SIZE, size);
	mine.mr = MADE(ibv_reg_mr, mine.pd, mine.memory, size, IBV_ACCESS_LOCAL_WRITE);
	if (step->role == CREATOR)
		snprintf(task.device, sizeof(task.device), "%s",
			 ibv_get_device_name(mine.context->device));
}

void close_device(void)
{
	MUST(ibv_dereg_mr, mine.mr);
	MUST(ibv_destroy_cq, mine.cq);
	MUST(ibv_dealloc_pd, mine.pd);
	MUST(ibv_close_device, mine.context);
}

/* ---- domain and SRQ ---- */

void open_domain(void)
{
	int fd = step->file == SHARED ? dup(actor_domain) : step->file == PRIVATE ? -1 : INT_MAX;

	mine.domain = MADE(ibv_open_xrc_domain, mine.context, fd, step->oflag);
	/* The domain holds the inode, not the descriptor. */
	close(fd);
}

STEP(close_domain, ibv_close_xrc_domain, mine.domain)

static struct ibv_sge slot_at(uint64_t slot, uint32_t length)
{
	return (struct ibv_sge){ (uintptr_t)mine.memory + slot * SLOT_SIZE, length, mine.mr->lkey };
}

static void post_slot(uint64_t slot)
{
	struct ibv_sge sge = slot_at(slot, SLOT_SIZE);
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(ibv_post_srq_recv, mine.srq, &wr, &bad);
}

void create_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = SLOTS, .max_sge = 1 } };
	uint32_t number;

	mine.srq = MADE(ibv_create_xrc_srq, mine.pd, mine.domain, mine.cq, &attr);
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		post_slot(slot);
	number = mine.srq->xrc_srq_num;
	for (enum role role = 0; role < ACTORS; role++) {
		if (!number || (step->role < SENDER && task.address[role].srq_num == number))
			fail(WRONG, "the SRQ's number is 0, or another SRQ's: 0x%x", number);
	}
	task.address[step->role].srq_num = number;
}

STEP(destroy_srq, ibv_destroy_srq, mine.srq)

/* ---- QPs ---- */

static const struct {
	enum ibv_qp_state state;
	int mask;
} states[] = {
	{ IBV_QPS_INIT, MASK_INIT }, { IBV_QPS_RTR, MASK_RTR }, { IBV_QPS_RTS, MASK_RTS },
};

/* A message to a QP that is gone fails after four times 4.096 us << 14: a quarter of a second. */
static struct ibv_qp_attr attributes(const struct address *self, const struct address *peer)
{
	struct ibv_qp_attr attr = {
		.port_num = mine.port,
		.path_mtu = peer->mtu && peer->mtu < self->mtu ? peer->mtu : self->mtu,
		.dest_qp_num = peer->qp_num, .rq_psn = PSN, .sq_psn = PSN,
		.max_dest_rd_atomic = 1, .max_rd_atomic = 1, .min_rnr_timer = 12, /* 0.64 ms */
		.timeout = 14, .retry_cnt = 3, .rnr_retry = 7,
		.ah_attr = { .dlid = peer->lid, .port_num = mine.port }
	};

	if (!peer->lid) {	/* Ethernet */
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = peer->gid;
		attr.ah_attr.grh.hop_limit = 1;
	}
	return attr;
}

static uint32_t rcv_qp_num(void)
{
	return step->no_such_qp ? 0xfffffe : task.address[CREATOR].qp_num;
}

void create_rcv_qp(void)
{
	struct ibv_qp_init_attr attr = { .xrc_domain = mine.domain };

	MUST(ibv_create_xrc_rcv_qp, &attr, &task.address[step->role].qp_num);
}

void modify_rcv_qp(void)
{
	struct ibv_qp_attr attr = attributes(&task.address[step->role], &task.address[step->peer]);

	for (size_t i = 0; i < 2; i++) {
		attr.qp_state = states[i].state;
		MUST(ibv_modify_xrc_rcv_qp, mine.domain, rcv_qp_num(), &attr, states[i].mask);
	}
}

void query_rcv_qp(void)
{
	struct ibv_qp_init_attr init = { 0 };
	struct ibv_qp_attr attr = { 0 };

	MUST(ibv_query_xrc_rcv_qp, mine.domain, rcv_qp_num(), &attr, IBV_QP_STATE, &init);
	if (attr.qp_state != IBV_QPS_RTR || init.qp_type != IBV_QPT_XRC)
		fail(WRONG, "state %d, type %d; wanted %d, %d", attr.qp_state, init.qp_type,
		     IBV_QPS_RTR, IBV_QPT_XRC);
}

STEP(register_qp, ibv_reg_xrc_rcv_qp, mine.domain, rcv_qp_num())
STEP(unregister_qp, ibv_unreg_xrc_rcv_qp, mine.domain, rcv_qp_num())

void create_xrc_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_XRC, .xrc_domain = mine.domain, .send_cq = mine.cq,
		.recv_cq = mine.cq, .cap = { .max_send_wr = 4, .max_send_sge = 1 }
	};

	mine.qp = MADE(ibv_create_qp, mine.pd, &attr);
	task.address[step->role].qp_num = mine.qp->qp_num;
}

void connect_xrc_qp(void)
{
	struct ibv_qp_attr attr = attributes(&task.address[step->role], &task.address[step->peer]);

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		attr.qp_state = states[i].state;
		MUST(ibv_modify_qp, mine.qp, &attr, states[i].mask);
	}
}

STEP(destroy_xrc_qp, ibv_destroy_qp, mine.qp)

/* ---- messages ---- */

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(task.seed * 131 + i * 7 + (i >> 8));
}

/* 0, EIO, or ETIMEDOUT. */
static int wait_completion(struct ibv_wc *wc)
{
	uint64_t end = clock_now() + COMPLETION_SECONDS * UINT64_C(1000000000);
	int got;

	while (!(got = ibv_poll_cq(mine.cq, 1, wc)) && clock_now() < end)
		usleep(100);
	return got < 0 ? EIO : got ? 0 : ETIMEDOUT;
}

void send_message(void)
{
	struct ibv_sge sge = slot_at(SLOTS, MESSAGE_SIZE);
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED,
				  .xrc_remote_srq_num = task.address[step->peer].srq_num }, *bad;
	struct ibv_wc wc;

	task.seed++;
	for (uint32_t i = 0; i < MESSAGE_SIZE; i++)
		mine.memory[SLOTS * SLOT_SIZE + i] = pattern(i);
	MUST(ibv_post_send, mine.qp, &wr, &bad);
	must("no completion", wait_completion(&wc));
	if (wc.status != step->status)
		fail(WRONG, "the message ended with status %d (%s)", wc.status,
		     ibv_wc_status_str(wc.status));
}

/* The completion must name the QP that the receiver knows. */
void receive_message(void)
{
	uint32_t qp_num = task.address[step->role < TWO_WAY ? CREATOR : step->role].qp_num;
	const uint8_t *data;
	struct ibv_wc wc;

	must("no completion", wait_completion(&wc));
	if (wc.status || wc.wr_id >= SLOTS || wc.opcode != IBV_WC_RECV)
		fail(WRONG, "the receive ended with status %d, opcode %d", wc.status, wc.opcode);
	if (wc.qp_num != qp_num)
		fail(WRONG, "the completion names QP 0x%06x; wanted 0x%06x", wc.qp_num, qp_num);
	if (wc.byte_len != MESSAGE_SIZE)
		fail(WRONG, "%u bytes arrived; wanted %u", wc.byte_len, MESSAGE_SIZE);
	data = mine.memory + wc.wr_id * SLOT_SIZE;
	for (uint32_t i = 0; i < MESSAGE_SIZE; i++) {
		if (data[i] != pattern(i))
			fail(WRONG, "the data is wrong");
	}
	post_slot(wc.wr_id);
}

/* ---- events ---- */

/*
 * The first message raises the event. The kernel gives the event to all processes at the same time,
 * so the verdict comes when all processes have been asked.
 */
void get_event(void)
{
	struct pollfd pollfd = { .fd = mine.context->async_fd, .events = POLLIN };
	struct ibv_async_event event = { 0 };

	if (poll(&pollfd, 1, task.heard[CREATOR] ? MORE_EVENT_MS : EVENT_MS) <= 0)
		return;
	must("ibv_get_async_event", ibv_get_async_event(mine.context, &event) ? errno : 0);
	ibv_ack_async_event(&event);
	task.heard[step->role] = true;
	if (event.event_type != (IBV_EVENT_COMM_EST | (unsigned int)IBV_XRC_QP_EVENT_FLAG) ||
	    event.element.xrc_qp_num != task.address[CREATOR].qp_num)
		fail(WRONG, "event 0x%x of QP 0x%06x; wanted COMM_EST with the flag",
		     event.event_type, event.element.xrc_qp_num);
}

/*
 * Linux since 5.8 gives the event to the creator of the QP only: a limit that the library cannot
 * change. It is a failure if the creator misses it, or one of the others alone.
 */
void judge_events(void)
{
	const uint8_t *heard = task.heard;

	if (heard[CREATOR] && !heard[SURVIVOR] && !heard[VICTIM])
		fail(LIMITED,
		     "this kernel tells only the creator of a receive QP (Linux since 5.8)");
	if (!heard[CREATOR] || !heard[SURVIVOR] || !heard[VICTIM])
		fail(WRONG, "no event for%s%s%s", heard[CREATOR] ? "" : " the creator",
		     heard[SURVIVOR] ? "" : " the survivor", heard[VICTIM] ? "" : " the victim");
}

STEP(die, raise, SIGKILL)
