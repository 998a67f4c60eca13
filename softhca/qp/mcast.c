/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Multicast groups: a device knows those to which its QPs are attached. */
#include "qp.h"

#include <softhca/base/refuse.h>
#include <softhca/machine/port.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The group's LID on the wire. */
static uint16_t wire_lid(const struct hca_qp *qp, uint16_t lid)
{
	return qp->device->machine->settings.ethernet ? PORT_FIRST_GROUP : lid;
}

struct hca_group *mcast_find(const struct hca_device *device, const uint8_t gid[16],
				    uint16_t lid)
{
	list_for_each(struct hca_group, group, &device->groups, link) {
		if (group->lid == lid && !memcmp(group->gid, gid, sizeof(group->gid)))
			return group;
	}
	return NULL;
}

static struct hca_member *find_member(const struct hca_qp *qp, const uint8_t gid[16], uint16_t lid)
{
	list_for_each(struct hca_member, member, &qp->groups, link) {
		if (member->group->lid == lid &&
		    !memcmp(member->group->gid, gid, sizeof(member->group->gid)))
			return member;
	}
	return NULL;
}

/* The group, made if there is none yet. NULL: the device knows as many as it can. */
static struct hca_group *enter(struct hca_device *device, const uint8_t gid[16], uint16_t lid)
{
	struct hca_group *group = mcast_find(device, gid, lid);

	if (group)
		return group;
	if (device->group_count == device->model->max_groups)
		return NULL;
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	memcpy(group->gid, gid, sizeof(group->gid));
	group->lid = lid;
	group->device = device;
	list_init(&group->members);
	list_add(&device->groups, &group->link);
	device->group_count++;
	return group;
}

static void leave_if_empty(struct hca_group *group)
{
	if (!list_empty(&group->members))
		return;
	list_del(&group->link);
	group->device->group_count--;
	free(group);
}

static int join(struct hca_group *group, struct hca_qp *qp)
{
	struct hca_member *member = NULL;

	if (group->count < qp->device->model->max_group_members)
		member = calloc(1, sizeof(*member));
	if (!member)
		return refuse(-ENOMEM, "max_mcast_qp_attach");
	*member = (struct hca_member){ .qp = qp, .group = group };
	group->count++;
	list_add(&group->members, &member->peer);
	list_add(&qp->groups, &member->link);
	return 0;
}

int mcast_attach(struct hca_qp *qp, const uint8_t gid[16], uint16_t lid)
{
	struct hca_group *group;
	int err;

	lid = wire_lid(qp, lid);
	if (find_member(qp, gid, lid))
		return 0;
	if (qp->type != IBV_QPT_UD || !port_is_group(gid) || lid < PORT_FIRST_GROUP ||
	    lid > PORT_LAST_GROUP)
		return refuse(-EINVAL, "QP type, or GID or LID of a group");
	group = enter(qp->device, gid, lid);
	if (!group)
		return refuse(-ENOMEM, "max_mcast_grp");
	err = join(group, qp);
	if (err)
		leave_if_empty(group);
	return err;
}

static void detach(struct hca_member *member)
{
	list_del(&member->peer);
	list_del(&member->link);
	member->group->count--;
	leave_if_empty(member->group);
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
