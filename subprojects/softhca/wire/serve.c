/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Requests from another machine. Each is executed as if a QP of this machine had sent it: a
 * stand-in has what the receiver's side asks of a sender.
 */
#include "far.h"
#include "wire.h"

#include <fabric/fabric.h>

_Static_assert(sizeof(struct label) + sizeof(struct far_request) + FAR_PIECE <= FABRIC_BODY &&
		       sizeof(struct label) + sizeof(struct far_answer) + FAR_PIECE <= FABRIC_BODY,
	       "a piece fits a frame, and so does the answer to a read of one");

static bool is_reliable(uint8_t type)
{
	return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
}

static bool is_send(const struct wqe *wqe)
{
	return wqe->opcode == OP_SEND || wqe->opcode == OP_SEND_IMM;
}

static bool is_known(const struct wqe *wqe)
{
	return is_send(wqe) || wqe->opcode == OP_WRITE || wqe->opcode == OP_WRITE_IMM ||
	       operation_changes_sender(wqe);
}

/* Whether an honest daemon could have sent it. */
static bool is_sound(const struct far_request *request, const struct wqe *wqe, size_t bytes)
{
	const bool reads = operation_changes_sender(wqe);
	const uint8_t *global = (const void *)&request->av.global;

	if (!is_known(wqe) || *global > 1 || request->part > FAR_PIECE ||
	    request->length > TRANSPORT_MAX_MESSAGE || request->offset > request->length ||
	    request->part > request->length - request->offset ||
	    request->last != (request->part == request->length - request->offset) ||
	    bytes != (reads ? 0 : request->part))
		return false;
	if (operation_is_atomic(wqe) &&
	    (request->length != OPERATION_ATOMIC || request->part != OPERATION_ATOMIC))
		return false;
	if (!is_reliable(request->type) && reads)
		return false;
	if (request->type == IBV_QPT_UD)
		return is_send(wqe) && request->last && !request->offset;
	return (request->type == IBV_QPT_UC || is_reliable(request->type)) &&
	       request->path_mtu >= IBV_MTU_256 && request->path_mtu <= IBV_MTU_4096;
}

/* The sender, as far as its receiver has to do with it. */
static void stand_in(struct hca_qp *qp, struct hca_device *device, uint8_t port,
		     const struct far_request *request)
{
	*qp = (struct hca_qp){
		.device = device,
		.type = request->type,
		.qpn = request->qpn & PSN_MASK,
		.state = IBV_QPS_RTS,
		.send = { .sent = request->offset, .reading = request->reading },
		.attr = { .sq_psn = request->psn & PSN_MASK,
			  .dest_qpn = request->av.qpn,
			  .dest = path_dest(&request->av),
			  .qkey = request->qkey,
			  .path_mtu = request->path_mtu,
			  .path_mig_state = request->path_mig_state & 3,
			  .port = port,
			  .pkey_index = request->pkey_index },
	};
}

static void read_request(const struct far_request *request, struct wqe *wqe)
{
	wqe->opcode = request->opcode;
	wqe->solicited = request->solicited;
	wqe->imm = request->imm;
	wqe->srqn = request->srqn;
	wqe->remote_address = request->remote_address;
	wqe->rkey = request->rkey;
	wqe->swap_add = request->swap_add;
	wqe->compare = request->compare;
	wqe->av = request->av;
	wqe->length = request->length;
}

/* False: an honest daemon would not have sent it here. */
static bool understand(const struct far_request *request, size_t length, struct wqe *wqe)
{
	if (length < sizeof(*request))
		return false;
	read_request(request, wqe);
	/* Nothing is passed on to a third machine. */
	return is_sound(request, wqe, length - sizeof(*request)) &&
	       far_machine(request->av.dlid) < 0;
}

static void answer(const struct far_request *request, const struct attempt *attempt,
		   enum outcome outcome, struct fabric_parcel *parcel)
{
	struct far_answer *words = fabric_body(parcel);
	const bool arrived = outcome == SENT || outcome == PART;
	const bool reads = operation_changes_sender(attempt->wqe);

	*words = (struct far_answer){
		.tag = request->tag,
		.qpn = request->qpn,
		.slid = request->slid,
		.outcome = (uint8_t)outcome,
		.syndrome = attempt->syndrome,
		.path_mig_state = attempt->qp->attr.path_mig_state,
	};
	if (attempt->peer)
		words->rnr_timer = attempt->peer->attr.min_rnr_timer;
	fabric_send(parcel, sizeof(*words) + (arrived && reads ? request->part : 0));
}

static enum outcome execute(struct attempt *attempt, const struct far_request *request, void *bytes)
{
	enum outcome outcome;

	mem_vec_init(&attempt->local, NULL);
	mem_vec_add(&attempt->local, (uint64_t)(uintptr_t)bytes, request->part);
	attempt->local.before = request->offset;
	attempt->offset = request->offset;
	attempt->part = request->part;
	attempt->last = request->last;
	outcome = transport_deliver(attempt);
	if (outcome == FAILED)
		send_fail_peer(attempt);
	return outcome;
}

void far_take_request(int machine, const void *body, size_t length)
{
	static struct wqe wqe; /* one thread serves */
	const struct far_request *request = body;
	void *bytes = (void *)(uintptr_t)(request + 1);
	struct fabric_parcel *parcel;
	struct hca_device *device;
	struct hca_qp qp;
	struct attempt attempt = { .qp = &qp, .wqe = &wqe, .event = -1 };
	enum outcome outcome;
	uint8_t port;
	bool reads;

	if (!understand(request, length, &wqe))
		return;
	reads = operation_changes_sender(&wqe);
	device = far_device(request->slid, machine, &port);
	if (!device)
		return;
	device->machine->active = true;
	stand_in(&qp, device, port, request);
	if (!is_reliable(request->type)) {
		execute(&attempt, request, bytes);
		return;
	}
	parcel = fabric_new(FABRIC_ANSWER, machine, false,
			    sizeof(struct far_answer) + (reads ? request->part : 0));
	if (!parcel)
		return;
	if (reads)
		bytes = (struct far_answer *)fabric_body(parcel) + 1;
	outcome = execute(&attempt, request, bytes);
	if (outcome == LOST)
		fabric_release(parcel);
	else
		answer(request, &attempt, outcome, parcel);
}
