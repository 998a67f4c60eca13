/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Multicast groups: a device knows those to which its QPs are attached. */
#include "qp.h"

#include <base/refuse.h>
#include <machine/port.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The group's LID on the wire. */
static uint16_t wire_lid(const struct hca_qp *qp, uint16_t lid)
{
	return qp->device->machine->settings.ethernet ? PORT_FIRST_GROUP : lid;
}

bool mcast_is_member(const struct hca_member *member, const uint8_t gid[16], uint16_t lid)
{
	return member->lid == lid && !memcmp(member->gid, gid, sizeof(member->gid));
}

static struct hca_member *find_member(const struct hca_qp *qp, const uint8_t gid[16], uint16_t lid)
{
	list_for_each(struct hca_member, member, &qp->groups, link) {
		if (mcast_is_member(member, gid, lid))
			return member;
	}
	return NULL;
}

static uint32_t count_members(const struct hca_device *device, const uint8_t gid[16], uint16_t lid)
{
	uint32_t count = 0;

	list_for_each(struct hca_member, member, &device->members, peer)
		count += mcast_is_member(member, gid, lid);
	return count;
}

int mcast_attach(struct hca_qp *qp, const uint8_t gid[16], uint16_t lid)
{
	struct hca_device *device = qp->device;
	struct hca_member *member;
	uint32_t others;

	lid = wire_lid(qp, lid);
	if (find_member(qp, gid, lid))
		return 0;
	if (qp->type != IBV_QPT_UD || !port_is_group(gid) || lid < PORT_FIRST_GROUP ||
	    lid > PORT_LAST_GROUP)
		return refuse(-EINVAL, "QP type, or GID or LID of a group");
	others = count_members(device, gid, lid);
	if (!others && device->group_count == device->model->max_groups)
		return refuse(-ENOMEM, "max_mcast_grp");
	if (others == device->model->max_group_members)
		return refuse(-ENOMEM, "max_mcast_qp_attach");
	member = calloc(1, sizeof(*member));
	if (!member)
		return -ENOMEM;
	member->qp = qp;
	member->lid = lid;
	memcpy(member->gid, gid, sizeof(member->gid));
	device->group_count += !others;
	list_add(&device->members, &member->peer);
	list_add(&qp->groups, &member->link);
	return 0;
}

static void detach(struct hca_member *member)
{
	struct hca_device *device = member->qp->device;

	list_del(&member->peer);
	list_del(&member->link);
	device->group_count -= !count_members(device, member->gid, member->lid);
	free(member);
}

int mcast_detach(struct hca_qp *qp, const uint8_t gid[16], uint16_t lid)
{
	struct hca_member *member = find_member(qp, gid, wire_lid(qp, lid));

	if (!member)
		return refuse(-EINVAL, "not attached");
	detach(member);
	return 0;
}

void mcast_detach_all(struct hca_qp *qp)
{
	list_for_each_safe(struct hca_member, member, &qp->groups, link)
		detach(member);
}

int cmd_attach_mcast(struct cmd *cmd)
{
	const struct ib_uverbs_attach_mcast *in = cmd->in;

	return mcast_attach(((struct hca_qp_handle *)cmd->object)->qp, in->gid, in->mlid);
}

int cmd_detach_mcast(struct cmd *cmd)
{
	const struct ib_uverbs_detach_mcast *in = cmd->in;

	return mcast_detach(((struct hca_qp_handle *)cmd->object)->qp, in->gid, in->mlid);
}
