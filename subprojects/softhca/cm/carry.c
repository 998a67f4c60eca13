/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Carries messages of ib_cm to another machine. */
#include "cm.h"

#include <fabric/fabric.h>

#include <string.h>

void cm_far_send(const struct cm_id *id, const uint8_t mad[CM_MAD_BYTES])
{
	struct fabric_parcel *parcel;
	struct cm_far *message;

	if (!id->device->port[id->port].active)
		return;
	parcel = fabric_new(FABRIC_CM, id->dst_device->home, false, sizeof(*message));
	if (!parcel)
		return;
	message = fabric_body(parcel);
	*message = (struct cm_far){
		.slid = id->device->port[id->port].lid,
		.dlid = id->dst_device->port[id->dst_port].lid,
		.family = id->src.family,
		.ps = id->ps,
		.qp_type = id->qp_type,
	};
	memcpy(message->mad, mad, CM_MAD_BYTES);
	fabric_send(parcel, sizeof(*message));
}
