/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Carries messages of ib_cm to another machine, again and again if need be. */
#include "mad.h"

#include <fabric/fabric.h>

#include <string.h>

static void carry(const struct cm_id *id, const uint8_t mad[CM_MAD_BYTES])
{
	struct fabric_parcel *parcel;
	struct cm_far *message;

	if (!id->device->port[id->port].active)
		return;
	parcel = fabric_new(FABRIC_CM, id->dst_device->machine_number, false, sizeof(*message));
	if (!parcel)
		return;
	message = fabric_body(parcel);
	*message = (struct cm_far){
		.slid = id->device->port[id->port].lid,
		.dlid = id->dst_device->port[id->dst_port].lid,
		.family = id->src.family,
		.ps = id->ps,
		.qp_type = id->qp_type,
		/* An answer for an id that has gone may be for one of an earlier daemon. */
		.from = id->number ? id->file->machine->cm->incarnation : 0,
		.to = id->incarnation,
	};
	memcpy(message->mad, mad, CM_MAD_BYTES);
	fabric_send(parcel, sizeof(*message));
}

static bool needs_answer(const struct cm_id *id)
{
	return id->far && (id->ib_state == CM_REQ_SENT || id->ib_state == CM_REP_SENT ||
			   id->ib_state == CM_DREQ_SENT || id->ib_state == CM_SIDR_SENT);
}

static void carry_again(struct timer *timer);

/* The last repetition comes one such time before the id's own timeout ends. */
static void await(struct cm_id *id)
{
	struct hca_machine *machine = id->file->machine;

	id->again.expired = carry_again;
	timer_start(&machine->timers, &id->again,
		    hca_now() +
			    (uint64_t)machine->settings.cm_timeout * 1000000 / (CM_RETRIES + 1));
}

static void carry_again(struct timer *timer)
{
	struct cm_id *id = container_of(timer, struct cm_id, again);

	if (!needs_answer(id))
		return;
	carry(id, id->unanswered);
	await(id);
}

void cm_far_send(struct cm_id *id, const uint8_t mad[CM_MAD_BYTES])
{
	carry(id, mad);
	if (!needs_answer(id))
		return;
	memcpy(id->unanswered, mad, CM_MAD_BYTES);
	await(id);
}
