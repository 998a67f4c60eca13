/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What librdmacm and the connection manager refuse, with the errno, and near calls that they
 * accept.
 */
#include "ground.h"

#include <endian.h>
#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ran, failures;

static void judge(const char *name, int err, int wanted)
{
	ran++;
	if (err == wanted)
		return;
	failures++;
	printf("FAIL %s: got %s, expected %s\n", name, err ? strerrorname_np(err) : "success",
	       wanted ? strerrorname_np(wanted) : "success");
}

/* @attempt is an expression over a new @ground. Its value is an errno, or 0 for success. */
#define ROW(name, wanted, attempt) \
	do { \
		struct ground laid, *ground = &laid; \
		int err; \
		ground_lay(ground); \
		err = attempt; \
		ground_clear(ground); \
		judge(name, err, wanted); \
	} while (0)

/* The errno of a call that returned @result. */
static int error_of(int result)
{
	return result ? errno : 0;
}

/* ---- ids and addresses ---- */

static int unknown_port_space(struct ground *ground)
{
	struct rdma_cm_id *id;

	return error_of(rdma_create_id(ground->channel, &id, NULL, (enum rdma_port_space)0x0107));
}

/* Binds an id of RDMA_PS_TCP to an AF_IB address with a service ID of RDMA_PS_UDP. */
static int bind_to_a_service_of_another_port_space(struct ground *ground)
{
	struct sockaddr_ib ib = { .sib_family = AF_IB,
				  .sib_sid = htobe64((uint64_t)RDMA_PS_UDP << 16 | PORT),
				  .sib_sid_mask = ~0ull };

	return error_of(rdma_bind_addr(ground->idle, (struct sockaddr *)&ib));
}

static void set_on_both(struct ground *ground, int option)
{
	int yes = 1;

	NEED(!rdma_set_option(ground->idle, RDMA_OPTION_ID, option, &yes, sizeof(yes)));
	NEED(!rdma_set_option(ground->second, RDMA_OPTION_ID, option, &yes, sizeof(yes)));
}

/* Two ids may be bound to one port, but an id may listen only if no other id is bound to it. */
static int listen_on_a_shared_port(struct ground *ground)
{
	set_on_both(ground, RDMA_OPTION_ID_REUSEADDR);
	NEED(!rdma_bind_addr(ground->idle, address(HERE, PORT + 2)));
	NEED(!rdma_bind_addr(ground->second, address(HERE, PORT + 2)));
	return error_of(rdma_listen(ground->second, 1));
}

/* An id that was bound with REUSEADDR stops sharing its port when it listens. */
static int share_the_port_of_a_listener(struct ground *ground)
{
	set_on_both(ground, RDMA_OPTION_ID_REUSEADDR);
	NEED(!rdma_bind_addr(ground->idle, address(HERE, PORT + 2)));
	NEED(!rdma_listen(ground->idle, 1));
	return error_of(rdma_bind_addr(ground->second, address(HERE, PORT + 2)));
}

static int two_families(struct ground *ground)
{
	set_on_both(ground, RDMA_OPTION_ID_AFONLY);
	NEED(!rdma_bind_addr(ground->idle, address("0.0.0.0", PORT + 3)));
	return error_of(rdma_bind_addr(ground->second, address6("::", PORT + 3)));
}

static int resolve_an_address_of_no_host(struct ground *ground)
{
	NEED(!rdma_resolve_addr(ground->idle, NULL, address("198.18.99.1", PORT), 50));
	return -take_event(ground, RDMA_CM_EVENT_ADDR_ERROR, NULL);
}

/* ---- options and multicast ---- */

static int option(struct rdma_cm_id *id, int level, int name, size_t length)
{
	char value[64] = { 1 };

	return error_of(rdma_set_option(id, level, name, value, length));
}

static int join_with_unknown_flags(struct ground *ground)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.addr = address("239.1.1.1", 0),
		.join_flags = RDMA_MC_JOIN_FLAG_RESERVED - 1,
	};

	NEED(!rdma_bind_addr(ground->datagram, address(HERE, 0)));
	/* The flag of a member that only sends is known. */
	NEED(!rdma_join_multicast_ex(ground->datagram, &attr, NULL));
	attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	return error_of(rdma_join_multicast_ex(ground->datagram, &attr, NULL));
}

static int join_after_the_route(struct ground *ground)
{
	resolve(ground, ground->datagram, THERE, PORT);
	return error_of(rdma_join_multicast(ground->datagram, address("239.1.1.1", 0), NULL));
}

static void try_ids(void)
{
	ROW("unknown port space", EINVAL, unknown_port_space(ground));
	ROW("bind twice", EINVAL, error_of(rdma_bind_addr(ground->bound, address(HERE, 0))));
	ROW("bind to a port in use", EADDRINUSE,
	    error_of(rdma_bind_addr(ground->idle, address(HERE, PORT))));
	ROW("bind to all addresses at a port in use on one", EADDRNOTAVAIL,
	    error_of(rdma_bind_addr(ground->idle, address("0.0.0.0", PORT))));
	ROW("bind to the same port of another port space", 0,
	    error_of(rdma_bind_addr(ground->datagram, address(HERE, PORT))));
	ROW("bind to a service of another port space", EPROTONOSUPPORT,
	    bind_to_a_service_of_another_port_space(ground));
	ROW("bind to an address of no host", EADDRNOTAVAIL,
	    error_of(rdma_bind_addr(ground->idle, address("192.0.2.1", PORT))));
	ROW("listen on a shared port", EADDRINUSE, listen_on_a_shared_port(ground));
	ROW("share the port of a listener", EADDRINUSE, share_the_port_of_a_listener(ground));
	ROW("one port, two families", 0, two_families(ground));
	ROW("resolve an address of another family", EINVAL,
	    error_of(rdma_resolve_addr(ground->bound, NULL, address6("fd00::198.18.1.1", PORT),
				       1000)));
	ROW("resolve from an address of no host", EADDRNOTAVAIL,
	    error_of(rdma_resolve_addr(ground->idle, address("192.0.2.1", 0), address(THERE, PORT),
				       1000)));
	ROW("resolve an address of no host", ETIMEDOUT, resolve_an_address_of_no_host(ground));
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
	ROW("ACK timeout of a datagram id", EINVAL,
	    option(ground->datagram, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1));
	ROW("path of a wrong length", EINVAL,
	    option(ground->routed, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 60));
	ROW("join a multicast group without a device", EINVAL,
	    error_of(rdma_join_multicast(ground->datagram, address("239.1.1.1", 0), NULL)));
	ROW("join a multicast group in the port space of connections", EINVAL,
	    error_of(rdma_join_multicast(ground->bound, address("239.1.1.1", 0), NULL)));
	ROW("join a multicast group with unknown flags", EINVAL, join_with_unknown_flags(ground));
	ROW("join a multicast group after the route is resolved", EINVAL,
	    join_after_the_route(ground));
}

/* ---- queue pairs and shared receive queues ---- */

static int create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, uint32_t max_send_wr)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = max_send_wr, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	return error_of(rdma_create_qp(id, pd, &attr));
}

static int second_qp(struct ground *ground)
{
	int err;

	NEED(!create_qp(ground->routed, NULL, 1));
	err = create_qp(ground->routed, NULL, 1);
	rdma_destroy_qp(ground->routed);
	return err;
}

/* librdmacm destroys only the second SRQ, so this row destroys the first one. */
static int second_srq(struct ground *ground)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *first;
	int err;

	NEED(!rdma_create_srq(ground->routed, NULL, &attr));
	first = ground->routed->srq;
	err = error_of(rdma_create_srq(ground->routed, NULL, &attr));
	if (!err)
		NEED(!ibv_destroy_srq(first));
	rdma_destroy_srq(ground->routed);
	return err;
}

/* ---- connections ---- */

static struct rdma_conn_param *param(uint8_t data_length)
{
	static const char data[256];
	static struct rdma_conn_param one;

	one = (struct rdma_conn_param){ .private_data = data, .private_data_len = data_length };
	return &one;
}

static int connect_with_many_reads(struct ground *ground)
{
	struct rdma_conn_param *many = param(0);

	many->responder_resources = 17;
	return error_of(rdma_connect(ground->routed, many));
}

static int connect_twice(struct ground *ground)
{
	struct rdma_cm_id *child;
	int err;

	NEED(!create_qp(ground->routed, NULL, 1));
	NEED(!rdma_connect(ground->routed, param(56)));
	err = error_of(rdma_connect(ground->routed, param(56)));
	take_event(ground, RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	rdma_destroy_id(child);
	take_event(ground, RDMA_CM_EVENT_REJECTED, NULL);
	rdma_destroy_qp(ground->routed);
	return err;
}

/* Runs @attempt on the id of a connection request that the listener got. */
static int with_request(struct ground *ground, int (*attempt)(struct rdma_cm_id *child))
{
	struct rdma_cm_id *child;
	int err;

	NEED(!create_qp(ground->routed, NULL, 1));
	NEED(!rdma_connect(ground->routed, param(0)));
	take_event(ground, RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	err = attempt(child);
	rdma_destroy_id(child);
	rdma_destroy_qp(ground->routed);
	return err;
}

static int reject_at_length(struct rdma_cm_id *child)
{
	return error_of(rdma_reject(child, param(149)->private_data, 149));
}

static int accept_at_length(struct rdma_cm_id *child)
{
	return error_of(rdma_accept(child, param(197)));
}

static int accept_rejected(struct rdma_cm_id *child)
{
	NEED(!rdma_reject(child, NULL, 0));
	return error_of(rdma_accept(child, param(0)));
}

static int reject_twice(struct rdma_cm_id *child)
{
	NEED(!rdma_reject(child, NULL, 0));
	return error_of(rdma_reject(child, NULL, 0));
}

static int accept_of_a_peer_that_left(struct ground *ground)
{
	struct rdma_cm_id *child, *id = new_id(ground, RDMA_PS_TCP);
	int err;

	resolve(ground, id, THERE, PORT);
	NEED(!rdma_connect(id, param(0)));
	take_event(ground, RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	rdma_destroy_id(id);
	err = error_of(rdma_accept(child, param(0)));
	rdma_destroy_id(child);
	return err;
}

/* An id without a channel: each call waits for its event and returns the error. */
static int connect_without_a_listener(struct ground *ground)
{
	struct rdma_cm_id *id;
	int err;

	(void)ground;
	NEED(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	NEED(!rdma_resolve_addr(id, address(HERE, 0), address(THERE, PORT + 4), 20000));
	NEED(!rdma_resolve_route(id, 20000));
	err = error_of(rdma_connect(id, param(0)));
	rdma_destroy_id(id);
	return err;
}

static void try_connections(void)
{
	ROW("second QP", EINVAL, second_qp(ground));
	ROW("QP with another device's PD", EINVAL,
	    create_qp(ground->routed, ground->listener->pd, 1));
	ROW("QP of an unbound id", EINVAL, create_qp(ground->idle, ground->routed->pd, 1));
	ROW("QP with too many work requests", EINVAL,
	    create_qp(ground->routed, NULL, 1 << 20));
	ROW("connect without parameters or a QP", EINVAL, error_of(rdma_connect(ground->routed, NULL)));
	ROW("connect before the route is resolved", EINVAL,
	    error_of(rdma_connect(ground->bound, param(0))));
	ROW("connect with 57 bytes of private data", EINVAL,
	    error_of(rdma_connect(ground->routed, param(57))));
	ROW("connect with more reads than the device has", EINVAL, connect_with_many_reads(ground));
	ROW("connect twice", EINVAL, connect_twice(ground));
	ROW("connect without a listener", ECONNREFUSED, connect_without_a_listener(ground));
	ROW("listen twice", EINVAL, error_of(rdma_listen(ground->listener, 4)));
	ROW("listen on a resolved id", EINVAL, error_of(rdma_listen(ground->routed, 4)));
	ROW("listen on an unbound id", 0, error_of(rdma_listen(ground->idle, 4)));
	ROW("accept without a request", EINVAL, error_of(rdma_accept(ground->routed, param(0))));
	ROW("accept with 197 bytes of private data", EINVAL,
	    with_request(ground, accept_at_length));
	ROW("accept after a reject", EINVAL, with_request(ground, accept_rejected));
	ROW("accept of a peer that left", EINVAL, accept_of_a_peer_that_left(ground));
	ROW("reject without a request", EINVAL, error_of(rdma_reject(ground->routed, NULL, 0)));
	ROW("reject with 149 bytes of private data", EINVAL,
	    with_request(ground, reject_at_length));
	ROW("reject twice", EINVAL, with_request(ground, reject_twice));
	ROW("disconnect an id without a connection", EINVAL,
	    error_of(rdma_disconnect(ground->routed)));
	ROW("notify of an id without a connection", EINVAL,
	    error_of(rdma_notify(ground->routed, IBV_EVENT_COMM_EST)));
	ROW("second SRQ", 0, second_srq(ground));
}

int main(void)
{
	try_ids();
	try_connections();
	printf("%d rows, %d failures\n", ran, failures);
	return failures || !ran ? EXIT_FAILURE : EXIT_SUCCESS;
}
