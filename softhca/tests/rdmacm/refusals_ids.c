/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Refusals of ids, addresses and options. */
#include "ground.h"

#include <endian.h>
#include <fcntl.h>
#include <infiniband/ib.h>

/* ---- ids and addresses ---- */

static int unknown_port_space(struct ground *ground)
{
	struct rdma_cm_id *id;

	return error_of(rdma_create_id(ground->channel, &id, NULL, (enum rdma_port_space)0x0107));
}

static int bind_other_port_space(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int err = error_of(rdma_bind_addr(id, address(HERE, PORT)));

	rdma_destroy_id(id);
	return err;
}

/* A service of UDP, in an address of InfiniBand. */
static int bind_to_a_service_of_another_port_space(struct ground *ground)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB,
				  .sib_sid = htobe64((uint64_t)RDMA_PS_UDP << 16 | PORT),
				  .sib_sid_mask = ~0ull };

	return error_of(rdma_bind_addr(ground->idle, (struct sockaddr *)&ib));
}

/* Makes another id beside ground->idle. Both ids have this option. */
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
	int err;

	NEED(!rdma_bind_addr(ground->idle, address(HERE, PORT + 2)));
	NEED(!rdma_bind_addr(other, address(HERE, PORT + 2)));
	/* Both ids are bound to one port, but only one of them can listen. */
	err = error_of(rdma_listen(other, 1));
	rdma_destroy_id(other);
	return err;
}

/* An id that was bound with REUSEADDR stops sharing its port when it listens. */
static int bind_beside_listener(struct ground *ground)
{
	struct rdma_cm_id *other = two_with(ground, RDMA_OPTION_ID_REUSEADDR);
	int err;

	NEED(!rdma_bind_addr(ground->idle, address(HERE, PORT + 2)));
	NEED(!rdma_listen(ground->idle, 1));
	err = error_of(rdma_bind_addr(other, address(HERE, PORT + 2)));
	rdma_destroy_id(other);
	return err;
}

static int two_families(struct ground *ground)
{
	struct rdma_cm_id *other = two_with(ground, RDMA_OPTION_ID_AFONLY);
	int err;

	NEED(!rdma_bind_addr(ground->idle, address("0.0.0.0", PORT + 3)));
	err = error_of(rdma_bind_addr(other, address6("::", PORT + 3)));
	rdma_destroy_id(other);
	return err;
}

static int resolve_nobody(struct ground *ground)
{
	NEED(!rdma_resolve_addr(ground->idle, NULL, address("198.18.99.1", PORT), 50));
	return -take_event(ground, RDMA_CM_EVENT_ADDR_ERROR, NULL);
}

/* ---- options, events, multicast ---- */

static int option(struct rdma_cm_id *id, int level, int name, size_t length)
{
	char value[64] = { 1 };

	return error_of(rdma_set_option(id, level, name, value, length));
}

static int ack_timeout_of_datagrams(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int err = option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1);

	rdma_destroy_id(id);
	return err;
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
	int err;

	NEED(!rdma_bind_addr(id, address(HERE, 0)));
	err = error_of(rdma_join_multicast(id, address("239.1.1.1", 0), NULL));
	rdma_destroy_id(id);
	return err;
}

static int join_on_no_device(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int err = error_of(rdma_join_multicast(id, address("239.1.1.1", 0), NULL));

	rdma_destroy_id(id);
	return err;
}

static int join_with_unknown_flags(struct ground *ground)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.addr = address("239.1.1.1", 0),
		.join_flags = RDMA_MC_JOIN_FLAG_RESERVED - 1,
	};
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int err;

	NEED(!rdma_bind_addr(id, address(HERE, 0)));
	/* The flag of a member that only sends is known. */
	NEED(!rdma_join_multicast_ex(id, &attr, NULL));
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	err = error_of(rdma_join_multicast_ex(id, &attr, NULL));
	rdma_destroy_id(id);
	return err;
}

static int join_too_late(struct ground *ground)
{
	struct rdma_cm_id *id = new_id(ground, RDMA_PS_UDP);
	int err;

	resolve(ground, id, THERE, PORT);
	err = error_of(rdma_join_multicast(id, address("239.1.1.1", 0), NULL));
	rdma_destroy_id(id);
	return err;
}

void refusals_of_ids(struct refusals *run)
{
	ROW("unknown port space", EINVAL, unknown_port_space(ground));
	ROW("bind twice", EINVAL, error_of(rdma_bind_addr(ground->bound, address(HERE, 0))));
	ROW("bind to a port in use", EADDRINUSE,
	    error_of(rdma_bind_addr(ground->idle, address(HERE, PORT))));
	ROW("bind to all addresses beside one", EADDRNOTAVAIL,
	    error_of(rdma_bind_addr(ground->idle, address("0.0.0.0", PORT))));
	ROW("bind to a free port", 0,
	    error_of(rdma_bind_addr(ground->idle, address(HERE, PORT + 1))));
	ROW("bind to the same port of another port space", 0, bind_other_port_space(ground));
	ROW("bind to a service of another port space", EPROTONOSUPPORT,
	    bind_to_a_service_of_another_port_space(ground));
	ROW("bind to an address of no host", EADDRNOTAVAIL,
	    error_of(rdma_bind_addr(ground->idle, address("192.0.2.1", PORT))));
	ROW("listen on a port that is shared", EADDRINUSE, bind_shared(ground));
	ROW("share the port of a listener", EADDRINUSE, bind_beside_listener(ground));
	ROW("one port, two families", 0, two_families(ground));
	ROW("resolve an address of another family", EINVAL,
	    error_of(rdma_resolve_addr(ground->bound, NULL, address6("fd00::198.18.1.1", PORT),
				       1000)));
	ROW("resolve from an address of no host", EADDRNOTAVAIL,
	    error_of(rdma_resolve_addr(ground->idle, address("192.0.2.1", 0), address(THERE, PORT),
				       1000)));
	ROW("resolve an address of no host", ETIMEDOUT, resolve_nobody(ground));
	ROW("resolve twice", EINVAL,
	    error_of(rdma_resolve_addr(ground->routed, NULL, address(THERE, PORT), 1000)));
	ROW("resolve on a listener", EINVAL,
	    error_of(rdma_resolve_addr(ground->listener, NULL, address(HERE, PORT), 1000)));
	ROW("resolve the route before the address", EINVAL,
	    error_of(rdma_resolve_route(ground->bound, 1000)));
	ROW("option of an unknown level", ENOSYS, option(ground->idle, 7, RDMA_OPTION_ID_TOS, 1));
	ROW("unknown option", ENOSYS, option(ground->idle, RDMA_OPTION_ID, 9, 1));
	ROW("option of a wrong length", EINVAL,
	    option(ground->idle, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4));
	ROW("share the address of a listener", EINVAL,
	    option(ground->listener, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, sizeof(int)));
	ROW("restrict the family of a listener", EINVAL,
	    option(ground->listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, sizeof(int)));
	ROW("acknowledge timeout of datagrams", EINVAL, ack_timeout_of_datagrams(ground));
	ROW("path of a wrong length", EINVAL,
	    option(ground->routed, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 60));
	ROW("no event", EAGAIN, no_event(ground));
	ROW("join a multicast group", 0, join(ground));
	ROW("join a multicast group on no device", EINVAL, join_on_no_device(ground));
	ROW("join a multicast group for connections", EINVAL,
	    error_of(rdma_join_multicast(ground->bound, address("239.1.1.1", 0), NULL)));
	ROW("join a multicast group with unknown flags", EINVAL, join_with_unknown_flags(ground));
	ROW("join a multicast group after the route", EINVAL, join_too_late(ground));
}
