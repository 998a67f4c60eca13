/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Multicast groups of the fabric. A group begins with its first join and ends with the last. */
#include "id.h"

#include <base/refuse.h>
#include <machine/port.h>

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* LIDs of the groups. The LID before them is that of the group of all IP hosts. */
#define FIRST_GROUP (PORT_FIRST_GROUP + 1)
#define END_GROUPS (PORT_LAST_GROUP + 1)

struct cm_group {
	struct list link; /* machine->cm->groups */
	uint8_t gid[16];
	uint32_t lid;
	unsigned int joins;
};

int cm_groups_init(struct hca_cm *cm)
{
	list_init(&cm->groups);
	if (numtab_init(&cm->joins, 0, CM_NUMBERS, 0, CM_NUMBERS))
		return -ENOMEM;
	return numtab_init(&cm->group_lids, FIRST_GROUP, END_GROUPS, FIRST_GROUP,
			   END_GROUPS - FIRST_GROUP);
}

/* ---- the group that an address means ---- */

/* A GID of link-local scope. The signature stands for the kind of address. */
static void begin_gid(uint8_t gid[16], uint8_t signature_low, const struct cm_id *id)
{
	memset(gid, 0, 16);
	gid[0] = 0xff;
	gid[1] = 0x12;
	gid[2] = signature_low;
	gid[3] = id->ps == RDMA_PS_UDP ? 0x01 : 0x1b;
	gid[4] = CM_PKEY >> 8;
	gid[5] = CM_PKEY & 0xff;
}

/* An IPv6 address of this form is a GID that a subnet manager has given out. */
static bool is_assigned(const uint8_t *address)
{
	return address[0] == 0xff && address[1] >> 4 == 1 && address[2] == 0xa0 &&
	       address[3] == 0x1b;
}

/* The address itself, in the form that it has with this version of RoCE. */
static void map_ipv4_on_ethernet(const struct cm_id *id, const struct in_addr *ip, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (!id->device->model->roce_v2)
		memcpy(gid, "\xff\x0e", 2);
	memset(gid + 10, 0xff, 2);
	memcpy(gid + 12, ip, sizeof(*ip));
}

/*
 * The mapping of rdma_cm: on InfiniBand that of RFC 4391, with a signature of its own in the port
 * space UDP; on Ethernet the group keeps its address.
 */
static void map_address(const struct cm_id *id, const union cm_address *address, uint8_t gid[16])
{
	const bool ethernet = id->device->machine->settings.ethernet;
	const uint8_t *ip = address->in6.sin6_addr.s6_addr;

	switch (address->family) {
	case AF_INET:
		if (ethernet) {
			map_ipv4_on_ethernet(id, &address->in.sin_addr, gid);
			break;
		}
		begin_gid(gid, 0x40, id);
		memcpy(gid + 12, &address->in.sin_addr, 4);
		gid[12] &= 0x0f;
		break;
	case AF_INET6:
		if (ethernet || is_assigned(ip)) {
			memcpy(gid, ip, 16);
			break;
		}
		begin_gid(gid, 0x60, id);
		memcpy(gid + 6, ip + 6, 10);
		break;
	default:
		memcpy(gid, address->ib.gid, 16);
		break;
	}
}

/*
 * The subnet manager names a group for which the program has no address. Each machine has its own
 * subnet manager, so that its number is part of the name.
 */
static void assign(uint8_t gid[16], int machine, uint32_t lid)
{
	static const uint8_t prefix[8] = { 0xff, 0x12, 0xa0, 0x1b, 0xfe, 0x80 };
	uint32_t number = htobe32((uint32_t)machine << 16 | lid);

	memset(gid, 0, 16);
	memcpy(gid, prefix, sizeof(prefix));
	memcpy(gid + 12, &number, sizeof(number));
}

/* ---- groups ---- */

static struct cm_group *find_group(const struct hca_cm *cm, const uint8_t gid[16])
{
	list_for_each(struct cm_group, group, &cm->groups, link) {
		if (!memcmp(group->gid, gid, sizeof(group->gid)))
			return group;
	}
	return NULL;
}

static struct cm_group *new_group(struct hca_machine *machine, const uint8_t gid[16])
{
	struct hca_cm *cm = machine->cm;
	static const uint8_t none[16];
	struct cm_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	if (numtab_add(&cm->group_lids, group, &group->lid)) {
		free(group);
		return NULL;
	}
	memcpy(group->gid, gid, sizeof(group->gid));
	if (!memcmp(gid, none, sizeof(none)))
		assign(group->gid, machine->number, group->lid);
	list_add(&cm->groups, &group->link);
	return group;
}

static void drop_group(struct hca_cm *cm, struct cm_group *group)
{
	if (--group->joins)
		return;
	numtab_remove(&cm->group_lids, group->lid);
	list_del(&group->link);
	free(group);
}

/* ---- joins ---- */

static void describe(const struct cm_join *join, struct rdma_ucm_ud_param *ud)
{
	ud->qp_num = PORT_EVERY_MEMBER;
	ud->qkey = cm_sidr_qkey(join->id);
	cm_addr_vector(join->id, join->group->gid, &ud->ah_attr);
	if (!join->id->device->machine->settings.ethernet)
		ud->ah_attr.dlid = (uint16_t)join->group->lid;
}

/* A group whose GID is not one of multicast is refused. */
static void report(struct cm_join *join)
{
	bool refused = !port_is_group(join->group->gid);
	struct cm_event *event =
		cm_event_new(join->id, refused ? CM_EVENT_MULTICAST_ERROR : CM_EVENT_MULTICAST_JOIN,
			     refused ? -EINVAL : 0);

	if (!event)
		return;
	event->join = join;
	if (!refused)
		describe(join, &event->resp.param.ud);
	cm_event_raise(event);
}

/* NULL: no memory, or no LID is left. */
static struct cm_join *new_join(struct cm_id *id, const uint8_t gid[16], uint64_t uid)
{
	struct hca_cm *cm = id->file->machine->cm;
	struct cm_join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	join->id = id;
	join->uid = uid;
	if (numtab_add(&cm->joins, join, &join->number)) {
		free(join);
		return NULL;
	}
	join->group = find_group(cm, gid);
	if (!join->group)
		join->group = new_group(id->file->machine, gid);
	if (!join->group) {
		numtab_remove(&cm->joins, join->number);
		free(join);
		return NULL;
	}
	join->group->joins++;
	list_add(&id->joins, &join->link);
	return join;
}

static void leave(struct cm_join *join)
{
	struct hca_cm *cm = join->id->file->machine->cm;
	struct cm_event *event;

	while ((event = cm_event_of(join->id, join)))
		cm_event_withdraw(event);
	numtab_remove(&cm->joins, join->number);
	list_del(&join->link);
	drop_group(cm, join->group);
	free(join);
}

static int join_group(struct cm_cmd *cmd, const union cm_address *address, uint64_t uid,
		      uint64_t response)
{
	struct rdma_ucm_create_id_resp resp;
	struct cm_id *id = cmd->id;
	struct cm_join *join;
	int err;
	uint8_t gid[16];

	if (!id->device || id->qp_type != IBV_QPT_UD ||
	    (id->state != CM_BOUND && id->state != CM_ADDR_RESOLVED))
		return refuse(-EINVAL, "id that may not join groups");
	if (cm_addr_any(address) && id->device->machine->settings.ethernet)
		return refuse(-EINVAL, "no address, and Ethernet has no subnet manager");
	if (cm_addr_any(address))
		memset(gid, 0, sizeof(gid));
	else
		map_address(id, address, gid);
	join = new_join(id, gid, uid);
	if (!join)
		return refuse(-ENOMEM, "memory, or no LID is left");
	resp.id = join->number;
	err = cm_file_write(cmd->file, response, &resp, sizeof(resp));
	if (err)
		leave(join);
	else
		report(join);
	return err;
}

int cm_cmd_join_ip_mcast(struct cm_cmd *cmd)
{
	const struct rdma_ucm_join_ip_mcast *in = cmd->in;
	union cm_address address;

	return cm_addr_take_ip(&address, &in->addr)
		       ? join_group(cmd, &address, in->uid, in->response)
		       : refuse(-EINVAL, "address");
}

int cm_cmd_join_mcast(struct cm_cmd *cmd)
{
	const struct rdma_ucm_join_mcast *in = cmd->in;
	union cm_address address;

	/* A send-only join is a full one here: a QP that is not attached receives nothing. */
	if (in->join_flags > RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER ||
	    !cm_addr_take_storage(&address, &in->addr, in->addr_size))
		return refuse(-EINVAL, "address, or flags");
	return join_group(cmd, &address, in->uid, in->response);
}

int cm_cmd_leave_mcast(struct cm_cmd *cmd)
{
	const struct rdma_ucm_destroy_id *in = cmd->in;
	struct rdma_ucm_destroy_id_resp resp;
	struct cm_join *join = numtab_find(&cmd->file->machine->cm->joins, in->id);

	if (!join)
		return refuse(-ENOENT, "number of the join");
	if (join->id->file != cmd->file)
		return refuse(-EINVAL, "join of another channel");
	resp.events_reported = join->reported;
	leave(join);
	return cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
}

void cm_leave_all(struct cm_id *id)
{
	list_for_each_safe(struct cm_join, join, &id->joins, link)
		leave(join);
}
