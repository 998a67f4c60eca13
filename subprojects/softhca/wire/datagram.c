/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Datagrams: to whom one goes, and what is put before it. */
#include "wire.h"

#include <machine/grh.h>

#define MAX_DATAGRAM 4096u

static bool put_grh(const struct attempt *attempt, struct mem_vec *to)
{
	uint8_t grh[GRH_BYTES];
	struct mem_vec from;
	/* BTH, DETH, ICRC, immediate data and padding of the last word count, too. */
	uint32_t bytes = 12 + 8 + (((uint32_t)attempt->wqe->length + 3) & ~3u) + 4 +
			 (attempt->wqe->opcode == OP_SEND_IMM ? 4 : 0);

	grh_fill(attempt->qp->device, attempt->qp->attr.port, &attempt->wqe->av, bytes, grh);
	mem_vec_init(&from, NULL);
	mem_vec_add(&from, (uint64_t)(uintptr_t)grh, sizeof(grh));
	return mem_copy(to, &from, sizeof(grh)) == MEM_OK;
}

/* Ethernet has no service levels. */
static uint8_t service_level(const struct attempt *attempt)
{
	const struct hca_device *device = attempt->qp->device;
	const struct av *av = &attempt->wqe->av;
	uint8_t sgid[16];

	if (!device->machine->settings.ethernet)
		return av->sl;
	if (!device->model->tells_packet)
		return 0;
	if (port_gid(device, attempt->qp->attr.port, av->sgid_index, sgid) != GID_ROCE_V2)
		return KIND_ROCE_V1;
	return KIND_UDP | (port_is_ipv4(sgid) ? KIND_IPV4 : KIND_IPV6);
}

/* The receive buffer is too short or not accessible. */
static enum outcome complete_with_error(struct attempt *attempt, const struct recv_queue *queue,
					enum syndrome syndrome)
{
	struct cqe cqe = { .syndrome = (uint8_t)syndrome };

	recv_complete(queue, &cqe, true);
	operation_receiver_fails(attempt);
	return SENT;
}

/* A datagram for which there is no buffer is dropped without a word. */
static enum outcome deliver_datagram(struct attempt *attempt, const struct recv_queue *queue)
{
	const struct wqe *wqe = attempt->wqe;
	struct cqe cqe = { .opcode = wqe->opcode == OP_SEND_IMM ? RECV_SEND_IMM : RECV_SEND };
	struct mem_vec to;

	if (!recv_available(queue))
		return SENT;
	switch (operation_receive_side(queue, wqe->av.global ? 0 : GRH_BYTES,
				       wqe->length + (wqe->av.global ? GRH_BYTES : 0), &to)) {
	case BUFFER_SHORT:
		return complete_with_error(attempt, queue, SYNDROME_LOCAL_LENGTH);
	case BUFFER_FORBIDDEN:
		return complete_with_error(attempt, queue, SYNDROME_LOCAL_PROT);
	default:
		break;
	}
	if (wqe->av.global && !put_grh(attempt, &to))
		return complete_with_error(attempt, queue, SYNDROME_LOCAL_PROT);
	switch (mem_copy(&to, &attempt->local, wqe->length)) {
	case MEM_BAD_SOURCE:
		return operation_fail(attempt, SYNDROME_LOCAL_PROT);
	case MEM_BAD_TARGET:
		return complete_with_error(attempt, queue, SYNDROME_LOCAL_PROT);
	default:
		break;
	}
	operation_describe(attempt, &cqe);
	cqe.global = wqe->av.global;
	cqe.sl = service_level(attempt);
	cqe.byte_count = (uint32_t)wqe->length + GRH_BYTES;
	recv_complete(queue, &cqe, wqe->solicited);
	return SENT;
}

/* @peer gets it, unless the Q_Key is another one or it is lost on the way. */
static enum outcome send_to(struct attempt *attempt, struct hca_qp *peer, uint32_t qkey)
{
	struct faults *faults = &attempt->qp->device->faults;
	enum outcome outcome;
	struct recv_queue queue;

	attempt->peer = peer;
	if (peer->attr.qkey != qkey || !recv_queue_of(peer, 0, &queue) ||
	    fault_strikes(faults, FAULT_DROP))
		return SENT;
	mem_vec_seek(&attempt->local, 0);
	outcome = deliver_datagram(attempt, &queue);
	if (outcome == SENT && fault_strikes(faults, FAULT_DUPLICATE)) {
		mem_vec_seek(&attempt->local, 0);
		deliver_datagram(attempt, &queue);
	}
	return outcome;
}

/* ---- multicast: a copy for every QP that is attached, the sender's own included ---- */

static bool listens(const struct hca_qp *member, const struct hca_qp *sender)
{
	return path_receives(member) && !member->attr.pkey_index &&
	       member->device->port[member->attr.port].active &&
	       !(member == sender && sender->not_to_self);
}

/* Every port hears it, joined or not: this wire has no switch that would know. */
static enum outcome send_to_group(struct attempt *attempt, uint32_t qkey)
{
	struct hca_machine *machine = attempt->qp->device->machine;
	const struct av *av = &attempt->wqe->av;
	const bool from_afar = device_is_far(attempt->qp->device);

	/* The group's GID is in the global header only. */
	if (!av->global || av->qpn != PORT_EVERY_MEMBER || attempt->qp->attr.pkey_index ||
	    !attempt->qp->device->port[attempt->qp->attr.port].active)
		return SENT;
	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(struct hca_member, member, &machine->device[i].members, peer) {
			/* Each machine gives its groups LIDs of its own. */
			if (mcast_is_member(member, av->dgid, from_afar ? member->lid : av->dlid) &&
			    listens(member->qp, attempt->qp) &&
			    send_to(attempt, member->qp, qkey) == FAILED)
				return FAILED;
		}
	}
	return from_afar ? SENT : far_cast_all(attempt);
}

/* To this machine, to another one, or to a group. */
static enum outcome send_datagram(struct attempt *attempt, uint32_t qkey)
{
	const struct av *av = &attempt->wqe->av;
	const int machine = far_machine(av->dlid);
	struct hca_qp *peer;

	if (machine >= 0)
		return far_cast(attempt, machine);
	if (av->dlid >= PORT_FIRST_GROUP && av->dlid <= PORT_LAST_GROUP)
		return send_to_group(attempt, qkey);
	peer = path_peer(attempt->qp, av->dlid, av->qpn);
	return peer ? send_to(attempt, peer, qkey) : SENT;
}

enum outcome datagram_execute(struct attempt *attempt)
{
	struct hca_qp_attr *attr = &attempt->qp->attr;
	const uint32_t wanted = attempt->wqe->av.qkey;
	/* A Q_Key with the highest bit set stands for the sender's own. */
	const uint32_t qkey = wanted & 0x80000000u ? attr->qkey : wanted;
	enum outcome outcome;

	if (attempt->wqe->length > MAX_DATAGRAM)
		return operation_fail(attempt, SYNDROME_LOCAL_LENGTH);
	outcome = send_datagram(attempt, qkey);
	if (outcome != SENT)
		return outcome;
	tap_datagram(attempt, qkey);
	attr->sq_psn = (attr->sq_psn + 1) & PSN_MASK;
	return SENT;
}
