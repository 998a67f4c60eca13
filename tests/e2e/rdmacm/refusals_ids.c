/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is refused about ids, addresses and options. */
#include "ground.h"

#include <fcntl.h>

/* ---- ids and addresses ---- */

static int unknown_port_space(struct ground *ground)
{
	struct rdma_cm_id *id;

	return error_of(rdma_create_id(ground->channel, &id, NULL, (enum rdma_port_space)0x0107));
}

static int bind_twice(struct ground *ground)
{
	return error_of(rdma_bind_addr(ground->bound, address(HERE, 0)));
}

static int bind_in_use(struct ground *ground)
{
	return error_of(rdma_bind_addr(ground->idle, address(HERE, PORT)));
}

static int bind_all_beside_one(struct ground *ground)
{
	return error_of(rdma_bind_addr(ground->idle, address("0.0.0.0", PORT)));
}

static int bind_other_address(struct ground *ground)
{
	return error_of(rdma_bind_addr(ground->idle, address(HERE, PORT + 1)));
}

static int bind_other_port_space(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int error = error_of(rdma_bind_addr(id, address(HERE, PORT)));

	rdma_destroy_id(id);
	return error;
}

static int bind_nobodys(struct ground *ground)
{
	return error_of(rdma_bind_addr(ground->idle, address("192.0.2.1", PORT)));
}

/* Another id beside ground->idle, both with this option. */
static struct rdma_cm_id *two_with(struct ground *ground, int option)
{
	struct rdma_cm_id *other = new_id(ground, RDMA_PS_TCP);
	int yes = 1;

	NEED(!rdma_set_option(ground->idle, RDMA_OPTION_ID, option, &yes, sizeof(yes)));
	NEED(!rdma_set_option(other, RDMA_OPTION_ID, option, &yes, sizeof(yes)));
	return other;
}

static int bind_shared(struct ground *ground)
{
	struct rdma_cm_id *other = two_with(ground, RDMA_OPTION_ID_REUSEADDR);
	int error;

	NEED(!rdma_bind_addr(ground->idle, address(HERE, PORT + 2)));
	NEED(!rdma_bind_addr(other, address(HERE, PORT + 2)));
	/* Bound together, but only one can listen. */
	error = error_of(rdma_listen(other, 1));
	rdma_destroy_id(other);
	return error;
}

/* A listener shares its port with nobody, even if it was bound to share it. */
static int bind_beside_listener(struct ground *ground)
{
	struct rdma_cm_id *other = two_with(ground, RDMA_OPTION_ID_REUSEADDR);
	int error;

	NEED(!rdma_bind_addr(ground->idle, address(HERE, PORT + 2)));
	NEED(!rdma_listen(ground->idle, 1));
	error = error_of(rdma_bind_addr(other, address(HERE, PORT + 2)));
	rdma_destroy_id(other);
	return error;
}

static int two_families(struct ground *ground)
{
	struct rdma_cm_id *other = two_with(ground, RDMA_OPTION_ID_AFONLY);
	int error;

	NEED(!rdma_bind_addr(ground->idle, address("0.0.0.0", PORT + 3)));
	error = error_of(rdma_bind_addr(other, address6("::", PORT + 3)));
	rdma_destroy_id(other);
	return error;
}

static int resolve_other_family(struct ground *ground)
{
	return error_of(rdma_resolve_addr(ground->bound, NULL, address6("fd00::198.18.1.1", PORT), 1000));
}

static int resolve_from_nobodys(struct ground *ground)
{
	return error_of(rdma_resolve_addr(ground->idle, address("192.0.2.1", 0), address(THERE, PORT), 1000));
}

static int resolve_nobody(struct ground *ground)
{
	NEED(!rdma_resolve_addr(ground->idle, NULL, address("198.18.99.1", PORT), 50));
	return -take_event(ground, RDMA_CM_EVENT_ADDR_ERROR, NULL);
}

static int resolve_twice(struct ground *ground)
{
	return error_of(rdma_resolve_addr(ground->routed, NULL, address(THERE, PORT), 1000));
}

static int resolve_listener(struct ground *ground)
{
	return error_of(rdma_resolve_addr(ground->listener, NULL, address(HERE, PORT), 1000));
}

static int route_before_address(struct ground *ground)
{
	return error_of(rdma_resolve_route(ground->bound, 1000));
}

/* ---- options, events, multicast ---- */

static int option(struct rdma_cm_id *id, int level, int name, size_t length)
{
	char value[64] = { 1 };

	return error_of(rdma_set_option(id, level, name, value, length));
}

static int unknown_level(struct ground *ground)
{
	return option(ground->idle, 7, RDMA_OPTION_ID_TOS, 1);
}

static int unknown_option(struct ground *ground)
{
	return option(ground->idle, RDMA_OPTION_ID, 9, 1);
}

static int option_of_wrong_length(struct ground *ground)
{
	return option(ground->idle, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4);
}

static int reuse_of_listener(struct ground *ground)
{
	return option(ground->listener, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, sizeof(int));
}

static int family_of_listener(struct ground *ground)
{
	return option(ground->listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, sizeof(int));
}

static int ack_timeout_of_datagrams(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int error = option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1);

	rdma_destroy_id(id);
	return error;
}

static int path_of_wrong_length(struct ground *ground)
{
	return option(ground->routed, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 60);
}

static int no_event(struct ground *ground)
{
	struct rdma_cm_event *event;

	NEED(!fcntl(ground->channel->fd, F_SETFL, O_NONBLOCK));
	return error_of(rdma_get_cm_event(ground->channel, &event));
}

static int join(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int error;

	NEED(!rdma_bind_addr(id, address(HERE, 0)));
	error = error_of(rdma_join_multicast(id, address("239.1.1.1", 0), NULL));
	rdma_destroy_id(id);
	return error;
}

static int join_on_no_device(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int error = error_of(rdma_join_multicast(id, address("239.1.1.1", 0), NULL));

	rdma_destroy_id(id);
	return error;
}

static int join_of_a_connection(struct ground *ground)
{
	return error_of(rdma_join_multicast(ground->bound, address("239.1.1.1", 0), NULL));
}

static int join_with_unknown_flags(struct ground *ground)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS, .addr = address("239.1.1.1", 0),
		.join_flags = RDMA_MC_JOIN_FLAG_RESERVED - 1,
	};
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int error;

	NEED(!rdma_bind_addr(id, address(HERE, 0)));
	/* The flag of a member that only sends is known. */
	NEED(!rdma_join_multicast_ex(id, &attr, NULL));
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	error = error_of(rdma_join_multicast_ex(id, &attr, NULL));
	rdma_destroy_id(id);
	return error;
}

static int join_too_late(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int error;

	resolve(ground, id, THERE, PORT);
	error = error_of(rdma_join_multicast(id, address("239.1.1.1", 0), NULL));
	rdma_destroy_id(id);
	return error;
}

const struct refusal refusals_of_ids[] = {
	{ "unknown port space", unknown_port_space, EINVAL },
	{ "bind twice", bind_twice, EINVAL },
	{ "bind to a port in use", bind_in_use, EADDRINUSE },
	{ "bind to all addresses beside one", bind_all_beside_one, EADDRNOTAVAIL },
	{ "bind to a free port", bind_other_address, 0 },
	{ "bind to the same port of another port space", bind_other_port_space, 0 },
	{ "bind to nobody's address", bind_nobodys, EADDRNOTAVAIL },
	{ "listen on a port that is shared", bind_shared, EADDRINUSE },
	{ "share the port of a listener", bind_beside_listener, EADDRINUSE },
	{ "one port, two families", two_families, 0 },
	{ "resolve an address of another family", resolve_other_family, EINVAL },
	{ "resolve from nobody's address", resolve_from_nobodys, EADDRNOTAVAIL },
	{ "resolve nobody's address", resolve_nobody, ETIMEDOUT },
	{ "resolve twice", resolve_twice, EINVAL },
	{ "resolve on a listener", resolve_listener, EINVAL },
	{ "resolve the route before the address", route_before_address, EINVAL },
	{ "option of an unknown level", unknown_level, ENOSYS },
	{ "unknown option", unknown_option, ENOSYS },
	{ "option of a wrong length", option_of_wrong_length, EINVAL },
	{ "share the address of a listener", reuse_of_listener, EINVAL },
	{ "restrict the family of a listener", family_of_listener, EINVAL },
	{ "acknowledge timeout of datagrams", ack_timeout_of_datagrams, EINVAL },
	{ "path of a wrong length", path_of_wrong_length, EINVAL },
	{ "no event", no_event, EAGAIN },
	{ "join a multicast group", join, 0 },
	{ "join a multicast group on no device", join_on_no_device, EINVAL },
	{ "join a multicast group for connections", join_of_a_connection, EINVAL },
	{ "join a multicast group with unknown flags", join_with_unknown_flags, EINVAL },
	{ "join a multicast group after the route", join_too_late, EINVAL },
	{ 0 },
};
