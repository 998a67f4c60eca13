/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Requests to QPs of another machine are sent. Several pieces of a QP's requests are away at once,
 * in their order. If the oldest gets no answer in time, all are sent again, and the receiver knows
 * by the sequence numbers what it has.
 */
#include "far.h"
#include "wire.h"

#include <fabric/fabric.h>

static struct hca_machine *here;

void far_init(struct hca_machine *machine)
{
	here = machine;
}

struct hca_machine *far_here(void)
{
	return here;
}

int far_machine(uint16_t lid)
{
	uint8_t port;
	const struct hca_device *device = here ? machine_far(here, lid, &port) : NULL;

	return device ? device->machine_number : -1;
}

struct hca_device *far_device(uint16_t lid, int machine, uint8_t *port)
{
	struct hca_device *device = here ? machine_far(here, lid, port) : NULL;

	return device && device->machine_number == machine ? device : NULL;
}

bool far_is_peer(const struct hca_qp *qp)
{
	return qp->type != IBV_QPT_UD && far_machine(qp->attr.dest.dlid) >= 0;
}

/* ---- what is away ---- */

/* Messages: the pieces of a long read take one of the receiver's resources together. */
static unsigned int reads_away(const struct hca_qp *qp)
{
	unsigned int reads = 0;

	for (unsigned int i = 0; i < away_count(qp); i++) {
		const struct hca_flight *flight = away_flight(qp, i);

		reads += flight->reads && flight->last;
	}
	return reads;
}

/* A receiver remembers the result of one atomic only, for the case that its answer is lost. */
static bool is_held(const struct hca_qp *qp, const struct wqe *wqe)
{
	const unsigned int reads = reads_away(qp);

	if (reads && operation_is_atomic(wqe))
		return true;
	return away_count(qp) == HCA_FLIGHTS || (wqe->fence && reads) ||
	       (operation_changes_sender(wqe) && reads &&
		reads >= model_pow2(qp->attr.max_rd_atomic));
}

/* Its tag. */
static uint64_t add_flight(const struct attempt *attempt)
{
	struct hca_flight flight = {
		.offset = attempt->offset,
		.part = (uint32_t)attempt->part,
		.slots = attempt->wqe->slots,
		.packets = operation_packets(attempt),
		.last = attempt->last,
		.reads = operation_changes_sender(attempt->wqe),
	};

	away_add(attempt->qp, &flight);
	return flight.tag;
}

/* ---- messages ---- */

static void describe(const struct attempt *attempt, struct far_request *request)
{
	const struct hca_qp *qp = attempt->qp;
	const struct wqe *wqe = attempt->wqe;
	const struct hca_qp_attr *attr = &qp->attr;

	*request = (struct far_request){
		.length = wqe->length,
		.offset = attempt->offset,
		.part = (uint32_t)attempt->part,
		.remote_address = wqe->remote_address,
		.swap_add = wqe->swap_add,
		.compare = wqe->compare,
		.av = qp->type == IBV_QPT_UD ? wqe->av : path_av(qp),
		.srqn = wqe->srqn,
		.rkey = wqe->rkey,
		.imm = wqe->imm,
		.qpn = qp->qpn,
		.qkey = attr->qkey,
		.psn = sq_psn(qp),
		.slid = qp->device->port[attr->port].lid,
		.pkey_index = attr->pkey_index,
		.type = (uint8_t)qp->type,
		.opcode = wqe->opcode,
		.path_mtu = attr->path_mtu,
		.path_mig_state = attr->path_mig_state,
		.last = attempt->last,
		.solicited = wqe->solicited,
	};
}

/* The bytes of the piece at hand, behind the request. False: the memory is not there. */
static bool load(struct attempt *attempt, struct far_request *request)
{
	struct mem_vec to;

	if (operation_changes_sender(attempt->wqe))
		return true;
	mem_vec_init(&to, NULL);
	mem_vec_add(&to, (uint64_t)(uintptr_t)(request + 1), (size_t)attempt->part);
	mem_vec_seek(&attempt->local, attempt->offset);
	return mem_copy(&to, &attempt->local, attempt->part) == MEM_OK;
}

static size_t size_of(const struct attempt *attempt)
{
	return sizeof(struct far_request) +
	       (operation_changes_sender(attempt->wqe) ? 0 : (size_t)attempt->part);
}

static void send_copy(const struct far_request *request, size_t size, int machine)
{
	struct fabric_parcel *parcel = fabric_new(FABRIC_REQUEST, machine, true, size);

	if (!parcel)
		return;
	memcpy(fabric_body(parcel), request, size);
	fabric_send(parcel, size);
}

/* Sends the request, unless the port is down. The device's faults may lose or repeat it. */
static void dispatch(const struct attempt *attempt, struct fabric_parcel *parcel, int machine)
{
	struct hca_device *device = attempt->qp->device;

	if (!device->port[attempt->qp->attr.port].active ||
	    fault_strikes(&device->faults, FAULT_DROP)) {
		fabric_release(parcel);
		return;
	}
	if (fault_strikes(&device->faults, FAULT_DUPLICATE))
		send_copy(fabric_body(parcel), size_of(attempt), machine);
	fabric_send(parcel, size_of(attempt));
}

/* Writes the request and its bytes into the parcel. NULL: the memory is not there. */
static struct far_request *fill(struct attempt *attempt, struct fabric_parcel *parcel)
{
	struct far_request *request = fabric_body(parcel);

	describe(attempt, request);
	if (load(attempt, request))
		return request;
	fabric_release(parcel);
	return NULL;
}

/* The first piece may exceed the limit: with nothing away, no answer would make the QP ready. */
enum outcome far_send(struct attempt *attempt)
{
	struct hca_qp *qp = attempt->qp;
	const int machine = far_machine(qp->attr.dest.dlid);
	struct fabric_parcel *parcel;
	struct far_request *request;

	if (!away_begin(qp))
		return LOST;
	if (is_held(qp, attempt->wqe))
		return HELD;
	parcel = fabric_new(FABRIC_REQUEST, machine, away_count(qp), size_of(attempt));
	if (!parcel)
		return away_count(qp) ? HELD : LOST;
	request = fill(attempt, parcel);
	if (!request)
		return operation_fail(attempt, SYNDROME_LOCAL_PROT);
	request->reading = (uint8_t)(reads_away(qp) + 1);
	tap_request(attempt);
	request->tag = add_flight(attempt);
	dispatch(attempt, parcel, machine);
	return AWAY;
}

enum outcome far_cast(struct attempt *attempt, int machine)
{
	const enum outcome sent = attempt->last ? SENT : PART;
	struct fabric_parcel *parcel = fabric_new(FABRIC_REQUEST, machine, true, size_of(attempt));

	/* Without memory the piece is lost: perhaps nothing is away that will make the QP ready. */
	if (!parcel)
		return fabric_is_full(machine) ? HELD : sent;
	if (!fill(attempt, parcel))
		return operation_fail(attempt, SYNDROME_LOCAL_PROT);
	if (attempt->qp->type == IBV_QPT_UC)
		tap_request(attempt);
	dispatch(attempt, parcel, machine);
	return sent;
}

/* To a group. A machine for which there is no room loses the datagram. */
enum outcome far_cast_all(struct attempt *attempt)
{
	enum outcome outcome = SENT;

	for (int machine = 0; here && machine < here->machines && outcome != FAILED; machine++) {
		if (machine != here->number)
			outcome = far_cast(attempt, machine);
	}
	return outcome == FAILED ? FAILED : SENT;
}

void far_has_room(void)
{
	while (!list_empty(&here->held)) {
		struct hca_qp *qp = container_of(here->held.next, struct hca_qp, send.held);

		list_del(&qp->send.held);
		sq_kick(qp);
	}
}
