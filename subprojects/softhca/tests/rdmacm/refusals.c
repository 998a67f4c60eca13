/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the connection manager refuses, with the errno, and near calls that it accepts. */
#define GROUP "refusals"

#include "ground.h"

#include <endian.h>
#include <infiniband/ib.h>
#include <infiniband/verbs.h>

/* A row: @call returns 0, or sets errno. @wanted is the errno, or 0 for success. */
#define CALL(name_, wanted, call) \
	ROW(name_) \
	{ \
		int err = (call) ? errno : 0; \
\
		if (err != (wanted)) \
			row_fail(__FILE__, __LINE__, "got %s", strerror(err)); \
	}

/* ---- ids and addresses ---- */

static int create_in_unknown_port_space(void)
{
	struct rdma_cm_id *id;

	return rdma_create_id(channel, &id, NULL, (enum rdma_port_space)0x0107);
}

/* Binds an id of RDMA_PS_TCP to an AF_IB address with a service ID of RDMA_PS_UDP. */
static int bind_to_service_of_udp(void)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB,
				  .sib_sid = htobe64((uint64_t)RDMA_PS_UDP << 16 | PORT),
				  .sib_sid_mask = ~0ull };

	return rdma_bind_addr(idle, (struct sockaddr *)&ib);
}

/* Two ids may be bound to one port. */
static void bind_first_of_two(int option, const char *text)
{
	int yes = 1;

	must(!rdma_set_option(idle, RDMA_OPTION_ID, option, &yes, sizeof(yes)));
	must(!rdma_set_option(second, RDMA_OPTION_ID, option, &yes, sizeof(yes)));
	must(!rdma_bind_addr(idle, address(text, PORT + 2)));
}

static int listen_on_a_shared_port(void)
{
	bind_first_of_two(RDMA_OPTION_ID_REUSEADDR, HERE);
	must(!rdma_bind_addr(second, address(HERE, PORT + 2)));
	return rdma_listen(second, 1);
}

static int share_the_port_of_a_listener(void)
{
	bind_first_of_two(RDMA_OPTION_ID_REUSEADDR, HERE);
	must(!rdma_listen(idle, 1));
	return rdma_bind_addr(second, address(HERE, PORT + 2));
}

static int bind_two_families(void)
{
	bind_first_of_two(RDMA_OPTION_ID_AFONLY, "0.0.0.0");
	return rdma_bind_addr(second, address6("::", PORT + 2));
}

static int bind_a_family_beside_both(void)
{
	int yes = 1;

	must(!rdma_set_option(second, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &yes, sizeof(yes)));
	must(!rdma_bind_addr(idle, address6("::", PORT + 2)));
	return rdma_bind_addr(second, address("0.0.0.0", PORT + 2));
}

static int resolve_this_host(void)
{
	must(!rdma_resolve_addr(idle, NULL, address6("::1", PORT), 20000));
	return take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
}

static int resolve_address_of_no_host(void)
{
	must(!rdma_resolve_addr(idle, NULL, address("198.18.99.1", PORT), 50));
	errno = -take_event(RDMA_CM_EVENT_ADDR_ERROR, NULL);
	return -1;
}

CALL("unknown port space", EINVAL, create_in_unknown_port_space())
CALL("bind twice", EINVAL, rdma_bind_addr(bound, address(HERE, 0)))
CALL("bind to a port in use", EADDRINUSE, rdma_bind_addr(idle, address(HERE, PORT)))
CALL("bind to all addresses at a port in use on one", EADDRNOTAVAIL,
     rdma_bind_addr(idle, address("0.0.0.0", PORT)))
CALL("bind to the same port of another port space", 0,
     rdma_bind_addr(datagram, address(HERE, PORT)))
CALL("bind to a service of another port space", EPROTONOSUPPORT, bind_to_service_of_udp())
CALL("bind to an address of no host", EADDRNOTAVAIL, rdma_bind_addr(idle, address("192.0.2.1", 0)))
CALL("listen on a shared port", EADDRINUSE, listen_on_a_shared_port())
CALL("share the port of a listener", EADDRINUSE, share_the_port_of_a_listener())
CALL("one port, two families", 0, bind_two_families())
CALL("one port, two families, of which one takes both", EADDRNOTAVAIL, bind_a_family_beside_both())
CALL("one port of a device's address of each family", 0,
     rdma_bind_addr(idle, address6("fd00::198.18.0.1", PORT)))
CALL("resolve ::1", 0, resolve_this_host())
CALL("resolve an address of another family", EINVAL,
     rdma_resolve_addr(bound, NULL, address6("fd00::198.18.1.1", PORT), 1000))
CALL("resolve from an address of no host", EADDRNOTAVAIL,
     rdma_resolve_addr(idle, address("192.0.2.1", 0), address(THERE, PORT), 1000))
CALL("resolve an address of no host", ETIMEDOUT, resolve_address_of_no_host())
CALL("resolve twice", EINVAL, rdma_resolve_addr(routed, NULL, address(THERE, PORT), 1000))
CALL("resolve on a listener", EINVAL, rdma_resolve_addr(listener, NULL, address(HERE, PORT), 1000))
CALL("resolve the route before the address", EINVAL, rdma_resolve_route(bound, 1000))

/* ---- options and multicast ---- */

static int option(struct rdma_cm_id *id, int level, int name, size_t length)
{
	char value[64] = { 1 };

	return rdma_set_option(id, level, name, value, length);
}

static int join(struct rdma_cm_id *id)
{
	return rdma_join_multicast(id, address("239.1.1.1", 0), NULL);
}

static int join_with_unknown_flags(void)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.addr = address("239.1.1.1", 0),
		.join_flags = RDMA_MC_JOIN_FLAG_RESERVED - 1,
	};

	must(!rdma_bind_addr(datagram, address(HERE, 0)));
	/* The flag of a member that only sends is known. */
	must(!rdma_join_multicast_ex(datagram, &attr, NULL));
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	return rdma_join_multicast_ex(datagram, &attr, NULL);
}

static int join_after_the_route(void)
{
	resolve(datagram, THERE, PORT);
	return join(datagram);
}

CALL("option of an unknown level", ENOSYS, option(idle, 7, RDMA_OPTION_ID_TOS, 1))
CALL("unknown option", ENOSYS, option(idle, RDMA_OPTION_ID, 9, 1))
CALL("option of a wrong length", EINVAL, option(idle, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4))
CALL("share the address of a listener", EINVAL,
     option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, sizeof(int)))
CALL("restrict the family of a listener", EINVAL,
     option(listener, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, sizeof(int)))
CALL("ACK timeout of a datagram id", EINVAL,
     option(datagram, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1))
CALL("path of a wrong length", EINVAL, option(routed, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 60))
CALL("join a group without a device", EINVAL, join(datagram))
CALL("join a group in the port space of connections", EINVAL, join(bound))
CALL("join a group with unknown flags", EINVAL, join_with_unknown_flags())
CALL("join a group after the route is resolved", EINVAL, join_after_the_route())

/* ---- connections ---- */

static struct rdma_conn_param *param(uint8_t data_length)
{
	static const char data[256];
	static struct rdma_conn_param one;

	one = (struct rdma_conn_param){ .private_data = data, .private_data_len = data_length };
	return &one;
}

static int connect_with_many_reads(void)
{
	struct rdma_conn_param *many = param(0);

	many->responder_resources = 17;
	return rdma_connect(routed, many);
}

static int connect_twice(void)
{
	must(!rdma_connect(routed, param(56)));
	return rdma_connect(routed, param(56));
}

/* An id without a channel: each call waits for its event and returns the error. */
static int connect_without_a_listener(void)
{
	struct rdma_cm_id *id;

	must(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	must(!rdma_resolve_addr(id, address(HERE, 0), address(THERE, PORT + 4), 20000));
	must(!rdma_resolve_route(id, 20000));
	return rdma_connect(id, param(0));
}

/* The id of a connection request that the listener got from @id. */
static struct rdma_cm_id *requested(struct rdma_cm_id *id)
{
	struct rdma_conn_param no_data = { 0 };
	struct rdma_cm_id *child;

	must(!rdma_connect(id, &no_data));
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	return child;
}

static int request_beside_a_listener_of_another_family(void)
{
	struct rdma_conn_param no_data = { 0 };
	struct rdma_cm_event *event;

	must(!rdma_bind_addr(second, address6("fd00::198.18.1.1", PORT)));
	must(!rdma_listen(second, 4));
	must(!rdma_connect(routed, &no_data));
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	must(event->listen_id == listener);
	return rdma_ack_cm_event(event);
}

static struct rdma_cm_id *rejected(void)
{
	struct rdma_cm_id *child = requested(routed);

	must(!rdma_reject(child, NULL, 0));
	return child;
}

static int accept_of_a_peer_that_left(void)
{
	struct rdma_cm_id *child, *id = new_id(RDMA_PS_TCP);

	resolve(id, THERE, PORT);
	child = requested(id);
	rdma_destroy_id(id);
	return rdma_accept(child, param(0));
}

CALL("connect before the route is resolved", EINVAL, rdma_connect(bound, param(0)))
CALL("connect with 57 bytes of private data", EINVAL, rdma_connect(routed, param(57)))
CALL("connect with more reads than the device has", EINVAL, connect_with_many_reads())
CALL("connect twice", EINVAL, connect_twice())
CALL("connect without a listener", ECONNREFUSED, connect_without_a_listener())
CALL("connect beside a listener of another family", 0,
     request_beside_a_listener_of_another_family())
CALL("listen twice", EINVAL, rdma_listen(listener, 4))
CALL("listen on a resolved id", EINVAL, rdma_listen(routed, 4))
CALL("listen on an unbound id", 0, rdma_listen(idle, 4))
CALL("accept without a request", EINVAL, rdma_accept(routed, param(0)))
CALL("accept with 197 bytes of private data", EINVAL, rdma_accept(requested(routed), param(197)))
CALL("accept after a reject", EINVAL, rdma_accept(rejected(), param(0)))
CALL("accept of a peer that left", EINVAL, accept_of_a_peer_that_left())
CALL("reject without a request", EINVAL, rdma_reject(routed, NULL, 0))
CALL("reject with 149 bytes of private data", EINVAL,
     rdma_reject(requested(routed), param(149)->private_data, 149))
CALL("reject twice", EINVAL, rdma_reject(rejected(), NULL, 0))
CALL("disconnect an id without a connection", EINVAL, rdma_disconnect(routed))
CALL("notify of an id without a connection", EINVAL, rdma_notify(routed, IBV_EVENT_COMM_EST))
