/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Multicast groups by librdmacm: addresses, the contents of the event, and refused joins. */
#define GROUP "groups"

#include "ground.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/ib.h>

#define IPOIB_QKEY 0x0b1b

static struct rdma_cm_id *bound_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *id = new_id(ps);

	must(!rdma_bind_addr(id, address(HERE, 0)));
	return id;
}

static struct sockaddr *by_gid(const char *text)
{
	static struct sockaddr_ib ib;

	ib = (struct sockaddr_ib){ .sib_family = AF_IB };
	must(inet_pton(AF_INET6, text, &ib.sib_addr) == 1);
	return (struct sockaddr *)&ib;
}

/* What the event of a join contains. */
struct joined {
	char gid[INET6_ADDRSTRLEN];
	uint16_t lid;
};

static struct joined join(struct rdma_cm_id *id, struct sockaddr *group)
{
	struct rdma_cm_event *event;
	const struct rdma_ud_param *ud;
	struct joined joined;

	must(!rdma_join_multicast(id, group, id));
	event = next_event(RDMA_CM_EVENT_MULTICAST_JOIN);
	ud = &event->param.ud;
	must(event->id == id);
	must(!event->status);
	must(ud->private_data == id);
	must_eq(ud->qp_num, 0xffffff);
	must(ud->ah_attr.is_global);
	must_eq(ud->ah_attr.port_num, 1);
	must_eq(ud->qkey, id->ps == RDMA_PS_UDP ? RDMA_UDP_QKEY : IPOIB_QKEY);
	must(inet_ntop(AF_INET6, ud->ah_attr.grh.dgid.raw, joined.gid, sizeof(joined.gid)));
	joined.lid = ud->ah_attr.dlid;
	must(joined.lid > 0xc000);
	must(joined.lid < 0xffff);
	rdma_ack_cm_event(event);
	return joined;
}

static void expect_group(struct rdma_cm_id *id, struct sockaddr *group, const char *gid)
{
	struct joined joined = join(id, group);

	if (strcmp(joined.gid, gid) != 0)
		row_fail(__FILE__, __LINE__, "the group is %s, not %s", joined.gid, gid);
}

/* The GID to which the kernel maps the address (cma_set_mgid). */
ROW("an address maps to the kernel's GID")
{
	struct rdma_cm_id *udp = bound_id(RDMA_PS_UDP), *ipoib = bound_id(RDMA_PS_IPOIB);

	expect_group(udp, address("239.1.2.3", 0), "ff12:4001:ffff::f01:203");
	expect_group(ipoib, address("239.1.2.3", 0), "ff12:401b:ffff::f01:203");
	expect_group(udp, address6("ff0e::1:2:3", 0), "ff12:6001:ffff::1:2:3");
	expect_group(ipoib, address6("ff0e::1:2:3", 0), "ff12:601b:ffff::1:2:3");
	expect_group(udp, address6("ff15:a01b:fe80::5", 0), "ff15:a01b:fe80::5");
	expect_group(udp, by_gid("ff12:1234::9"), "ff12:1234::9");
}

/* Ids that join one address get one GID and LID. Each join of the address 0 gets a new group. */
ROW("ids share a group by its address")
{
	struct rdma_cm_id *first = bound_id(RDMA_PS_UDP);
	struct joined a, b, other, nameless, another;

	must(!rdma_bind_addr(datagram, address(THERE, 0)));
	a = join(first, address("239.1.1.1", 0));
	b = join(datagram, address("239.1.1.1", 0));
	other = join(datagram, address("239.1.1.2", 0));
	must(a.lid == b.lid);
	must(!strcmp(a.gid, b.gid));
	must(other.lid != a.lid);
	nameless = join(first, address("0.0.0.0", 0));
	another = join(datagram, address("0.0.0.0", 0));
	must(!strncmp(nameless.gid, "ff12:a01b:fe80:", 15));
	must(strcmp(nameless.gid, another.gid));
	must(nameless.lid != another.lid);
	/* The group keeps its LID until the last id leaves. */
	must(!rdma_leave_multicast(first, address("239.1.1.1", 0)));
	a = join(first, address("239.1.1.1", 0));
	must_eq(a.lid, b.lid);
}

/*
 * rdma_leave_multicast discards a JOIN event that was not read yet. It waits until as many events
 * are acknowledged as the daemon has counted, so a wrong count hangs.
 */
ROW("leaving discards an unread event")
{
	struct rdma_cm_id *id = bound_id(RDMA_PS_UDP);
	struct rdma_cm_event *event;

	join(id, address("239.1.1.1", 0));
	must(!rdma_join_multicast(id, address("239.1.1.2", 0), NULL));
	must(!rdma_leave_multicast(id, address("239.1.1.2", 0)));
	must(!rdma_leave_multicast(id, address("239.1.1.1", 0)));
	must(rdma_leave_multicast(id, address("239.1.1.1", 0)) == -1);
	must_eq(errno, EADDRNOTAVAIL);
	must(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	must(rdma_get_cm_event(channel, &event) == -1);
	must_eq(errno, EAGAIN);
}

static void *leave(void *id)
{
	must(!rdma_leave_multicast(id, address("239.1.1.1", 0)));
	return NULL;
}

ROW("leaving waits for an unacknowledged event")
{
	struct rdma_cm_id *id = bound_id(RDMA_PS_UDP);
	struct rdma_cm_event *event;
	pthread_t leaver;

	must(!rdma_join_multicast(id, address("239.1.1.1", 0), NULL));
	event = next_event(RDMA_CM_EVENT_MULTICAST_JOIN);
	must(!pthread_create(&leaver, NULL, leave, id));
	must(still_waits(leaver));
	rdma_ack_cm_event(event);
	must(!pthread_join(leaver, NULL));
}

ROW("joining a unicast GID raises an error event")
{
	must(!rdma_join_multicast(bound_id(RDMA_PS_UDP), by_gid("fe80::1"), NULL));
	must_eq(take_event(RDMA_CM_EVENT_MULTICAST_ERROR, NULL), -EINVAL);
}

ROW("a group address is resolved and its route is not")
{
	must(!rdma_resolve_addr(datagram, address(HERE, 0), address("239.1.1.1", 0), 1000));
	must_eq(take_event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL), 0);
	must(datagram->verbs);
	must(!rdma_resolve_route(datagram, 1000));
	must_eq(take_event(RDMA_CM_EVENT_ROUTE_ERROR, NULL), -EINVAL);
	join(datagram, address("239.1.1.1", 0));
}
