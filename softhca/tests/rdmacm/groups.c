/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Multicast groups by librdmacm: addresses, the contents of the event, and refused joins. */
#include "ground.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IPOIB_QKEY 0x0b1b

static struct rdma_cm_id *bound(struct ground *ground, enum rdma_port_space ps)
{
	struct rdma_cm_id *id = new_id(ground, ps);

	NEED(!rdma_bind_addr(id, address(HERE, 0)));
	return id;
}

static struct sockaddr *by_gid(const char *text)
{
	static struct sockaddr_ib ib;

	memset(&ib, 0, sizeof(ib));
	ib.sib_family = AF_IB;
	NEED(inet_pton(AF_INET6, text, &ib.sib_addr) == 1);
	return (struct sockaddr *)&ib;
}

/* What the event of a join contains. */
struct joined {
	char gid[INET6_ADDRSTRLEN];
	uint16_t lid;
	uint32_t qkey;
};

static struct joined join(struct ground *ground, struct rdma_cm_id *id, struct sockaddr *group,
			  void *context)
{
	struct rdma_cm_event *event;
	struct joined joined;

	NEED(!rdma_join_multicast(id, group, context));
	event = next_event(ground->channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	NEED(event->id == id && !event->status && event->param.ud.private_data == context);
	NEED(event->param.ud.qp_num == 0xffffff && event->param.ud.ah_attr.is_global &&
	     event->param.ud.ah_attr.port_num == 1);
	NEED(inet_ntop(AF_INET6, event->param.ud.ah_attr.grh.dgid.raw, joined.gid,
		       sizeof(joined.gid)));
	joined.lid = event->param.ud.ah_attr.dlid;
	joined.qkey = event->param.ud.qkey;
	NEED(joined.lid > 0xc000 && joined.lid < 0xffff);
	rdma_ack_cm_event(event);
	return joined;
}

/* Joins @group, which must have @gid and the Q_Key of the id's port space. */
static void expect_group(struct ground *ground, struct rdma_cm_id *id, struct sockaddr *group,
			 const char *gid)
{
	uint32_t qkey = id->ps == RDMA_PS_UDP ? RDMA_UDP_QKEY : IPOIB_QKEY;
	struct joined joined = join(ground, id, group, id);

	if (!strcmp(joined.gid, gid) && joined.qkey == qkey)
		return;
	fprintf(stderr, "the group is %s with Q_Key %#x, not %s with %#x\n", joined.gid,
		joined.qkey, gid, qkey);
	exit(EXIT_FAILURE);
}

/* The GID to which the kernel maps the address (cma_set_mgid). */
TEST(an_address_maps_to_the_kernels_gid)
{
	struct rdma_cm_id *udp = bound(ground, RDMA_PS_UDP), *ipoib = bound(ground, RDMA_PS_IPOIB);

	expect_group(ground, udp, address("239.1.2.3", 0), "ff12:4001:ffff::f01:203");
	expect_group(ground, ipoib, address("239.1.2.3", 0), "ff12:401b:ffff::f01:203");
	expect_group(ground, udp, address6("ff0e::1:2:3", 0), "ff12:6001:ffff::1:2:3");
	expect_group(ground, ipoib, address6("ff0e::1:2:3", 0), "ff12:601b:ffff::1:2:3");
	expect_group(ground, udp, address6("ff15:a01b:fe80::5", 0), "ff15:a01b:fe80::5");
	expect_group(ground, udp, by_gid("ff12:1234::9"), "ff12:1234::9");
	rdma_destroy_id(udp);
	rdma_destroy_id(ipoib);
}

/* Ids that join one address get one GID and LID. Each join of the address 0 gets a new group. */
TEST(ids_share_a_group_by_its_address)
{
	struct rdma_cm_id *first = bound(ground, RDMA_PS_UDP), *second = ground->datagram;
	struct joined a, b, other, nameless, another;

	NEED(!rdma_bind_addr(second, address(THERE, 0)));
	a = join(ground, first, address("239.1.1.1", 0), NULL);
	b = join(ground, second, address("239.1.1.1", 0), NULL);
	other = join(ground, second, address("239.1.1.2", 0), NULL);
	NEED(a.lid == b.lid && !strcmp(a.gid, b.gid) && other.lid != a.lid);
	nameless = join(ground, first, address("0.0.0.0", 0), NULL);
	another = join(ground, second, address("0.0.0.0", 0), NULL);
	NEED(!strncmp(nameless.gid, "ff12:a01b:fe80:", 15) && strcmp(nameless.gid, another.gid) &&
	     nameless.lid != another.lid);
	/* The group keeps its LID until the last id leaves. */
	NEED(!rdma_leave_multicast(first, address("239.1.1.1", 0)));
	a = join(ground, first, address("239.1.1.1", 0), NULL);
	NEED(a.lid == b.lid);
	rdma_destroy_id(first);
}

/*
 * rdma_leave_multicast discards a JOIN event that was not read yet. It waits until as many events
 * are acknowledged as the daemon has counted, so a wrong count hangs.
 */
TEST(leaving_discards_an_unread_event)
{
	struct rdma_cm_id *id = bound(ground, RDMA_PS_UDP);
	struct rdma_cm_event *event;

	join(ground, id, address("239.1.1.1", 0), NULL);
	NEED(!rdma_join_multicast(id, address("239.1.1.2", 0), NULL));
	NEED(!rdma_leave_multicast(id, address("239.1.1.2", 0)) &&
	     !rdma_leave_multicast(id, address("239.1.1.1", 0)));
	NEED(rdma_leave_multicast(id, address("239.1.1.1", 0)) == -1 && errno == EADDRNOTAVAIL);
	NEED(!fcntl(ground->channel->fd, F_SETFL, O_NONBLOCK));
	NEED(rdma_get_cm_event(ground->channel, &event) == -1 && errno == EAGAIN);
	rdma_destroy_id(id);
}

static void *leave(void *id)
{
	NEED(!rdma_leave_multicast(id, address("239.1.1.1", 0)));
	return NULL;
}

TEST(leaving_waits_for_an_unacknowledged_event)
{
	struct rdma_cm_id *id = bound(ground, RDMA_PS_UDP);
	struct rdma_cm_event *event;
	pthread_t leaver;

	NEED(!rdma_join_multicast(id, address("239.1.1.1", 0), NULL));
	event = next_event(ground->channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	NEED(!pthread_create(&leaver, NULL, leave, id));
	NEED(still_waits(leaver));
	rdma_ack_cm_event(event);
	NEED(!pthread_join(leaver, NULL));
	rdma_destroy_id(id);
}

TEST(joining_a_unicast_gid_raises_an_error_event)
{
	struct rdma_cm_id *id = bound(ground, RDMA_PS_UDP);
	struct rdma_cm_event *event;

	NEED(!rdma_join_multicast(id, by_gid("fe80::1"), NULL));
	event = next_event(ground->channel, RDMA_CM_EVENT_MULTICAST_ERROR);
	NEED(event->id == id && event->status == -EINVAL);
	rdma_ack_cm_event(event);
	rdma_destroy_id(id);
}

TEST(a_group_address_is_resolved_and_its_route_is_not)
{
	struct rdma_cm_id *id = ground->datagram, *of_event;

	NEED(!rdma_resolve_addr(id, address(HERE, 0), address("239.1.1.1", 0), 1000));
	NEED(!take_event(ground, RDMA_CM_EVENT_ADDR_RESOLVED, &of_event));
	NEED(of_event == id && id->verbs);
	NEED(!rdma_resolve_route(id, 1000));
	NEED(take_event(ground, RDMA_CM_EVENT_ROUTE_ERROR, NULL) == -EINVAL);
	join(ground, id, address("239.1.1.1", 0), NULL);
}

int main(void)
{
	return ground_run();
}
