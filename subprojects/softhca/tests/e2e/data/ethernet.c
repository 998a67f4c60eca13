/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ports of Ethernet: GID tables, what is refused without a GID, and the header before a datagram.
 */
#include <harness/emulated.h>
#include <e2e/pair.h>

#include <errno.h>
#include <net/if.h>
#include <string.h>

#define GRH   40
#define EMPTY 7

/* A ConnectX-3 has only RoCE v1. */
static unsigned int versions(void)
{
	return emulated_is_mlx5() ? 2 : 1;
}

/* The index of an address' GID with the latest version. */
enum address { LINK_LOCAL, IPV4, IPV6, ADDRESSES };
static uint8_t latest(enum address address)
{
	return (uint8_t)(address * versions() + versions() - 1);
}

ROW("each GID has an entry per RoCE version")
{
	struct host *host = rig_host(0);
	struct ibv_gid_entry entries[32], one;
	const unsigned int count = ADDRESSES * versions();

	must_eq(ibv_query_gid_table(host->ctx, entries, 32, 0), count);
	for (unsigned int i = 0; i < count; i++) {
		must_eq(entries[i].gid_index, i);
		must_eq(entries[i].port_num, 1);
		must(entries[i].gid_type ==
		     (i % versions() ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1));
		must_eq(entries[i].ndev_ifindex, if_nametoindex("lo"));
		must_eq(ibv_query_gid_ex(host->ctx, 1, i, &one, 0), 0);
		must(!memcmp(&one, &entries[i], sizeof(one)));
	}
	must_eq(ibv_query_gid_ex(host->ctx, 1, EMPTY, &one, 0), ENODATA);
}

/* A path from a to b, between the entries of this index in their GID tables. */
static struct ibv_ah_attr path(const struct pair *pair, uint8_t index)
{
	struct ibv_ah_attr attr = {
		.port_num = 1, .is_global = 1,
		.grh = { .sgid_index = index, .hop_limit = 9, .traffic_class = 0xa7 }
	};

	must_eq(ibv_query_gid(pair->b->ctx, 1, index, &attr.grh.dgid), 0);
	return attr;
}

static int to_rtr(struct pair *pair, struct ibv_ah_attr ah)
{
	struct rig_link link = rig_link_to(pair->qb->qp_num, 0);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = pair->qb->qp_num,
		.min_rnr_timer = 1, .ah_attr = ah,
	};

	must_eq(rig_to_state(pair->qa, IBV_QPS_RESET), 0);
	must_eq(rig_init(pair->qa, &link), 0);
	return ibv_modify_qp(pair->qa, &attr, MASK_RTR);
}

/* A path to another GID of the same net. */
static struct ibv_ah_attr path_to_nobody(const struct pair *pair, uint8_t index)
{
	struct ibv_ah_attr attr = path(pair, index);

	attr.grh.dgid.raw[15] ^= 0x40;
	return attr;
}

ROW("an address vector without a valid GID is refused")
{
	struct pair pair = pair_apart(IBV_QPT_RC);
	struct ibv_ah_attr attr = path(&pair, latest(IPV4));

	must_eq(to_rtr(&pair, attr), 0);
	attr.is_global = 0;
	must_eq(to_rtr(&pair, attr), EINVAL);
	attr.is_global = 1;
	attr.grh.sgid_index = EMPTY;
	must_eq(to_rtr(&pair, attr), ENODATA);
	attr.grh.sgid_index = 16;
	must_eq(to_rtr(&pair, attr), EINVAL);
	must_eq(to_rtr(&pair, path_to_nobody(&pair, latest(IPV4))), ETIMEDOUT);
	/* The kernel computes the address behind a link-local GID only for RoCE v1. */
	if (versions() == 2)
		must_eq(to_rtr(&pair, path_to_nobody(&pair, latest(LINK_LOCAL))), ETIMEDOUT);
	must_eq(to_rtr(&pair, path_to_nobody(&pair, 0)), 0);
}

ROW("a query returns the GIDs")
{
	struct pair pair = pair_apart(IBV_QPT_RC);
	struct ibv_ah_attr attr = path(&pair, latest(IPV6)), got;

	must_eq(to_rtr(&pair, attr), 0);
	got = rig_attr(pair.qa).ah_attr;
	must(got.is_global);
	must_eq(got.dlid, 0);
	must_eq(got.grh.sgid_index, latest(IPV6));
	must(!memcmp(&got.grh.dgid, &attr.grh.dgid, 16));
}

/* libmlx5 asks the kernel. libmlx4 asks our hook, which has an Ethernet address for every GID. */
ROW("an address handle needs a GID, and by libmlx5 one that a port has")
{
	struct pair pair = pair_apart(IBV_QPT_UD);
	struct ibv_ah_attr attr = path(&pair, latest(IPV4));
	struct ibv_ah *ah;

	must_eq(ibv_destroy_ah(MADE(ibv_create_ah(pair.a->pd, &attr))), 0);
	attr.is_global = 0;
	must(!ibv_create_ah(pair.a->pd, &attr));
	attr = path_to_nobody(&pair, latest(IPV4));
	errno = 0;
	ah = ibv_create_ah(pair.a->pd, &attr);
	if (!emulated_is_mlx5()) {
		must_eq(ibv_destroy_ah(ah), 0);
		return;
	}
	must(!ah);
	must_eq(errno, ETIMEDOUT);
}

/* The header before a datagram: how it begins, and the kind that a ConnectX-5 reports. */
struct header {
	uint8_t index; /* of the GIDs */
	int kind;
	size_t at;	  /* its offset in the receive buffer */
	uint8_t want[10]; /* BTH, DETH and ICRC are 24 bytes, the header of UDP 8 */
};

/* Sends a datagram to b, which answers to the address that it has arrived from. */
static void must_go_there_and_back(const struct header *header)
{
	struct pair pair = pair_up(IBV_QPT_UD);
	struct ibv_ah_attr attr = path(&pair, header->index);
	struct ibv_send_wr wr = pair_datagram(&pair, &attr, 100);
	struct ibv_wc wc;

	must_eq(rig_post_recv(pair.b, pair.qb, 0, GRH + 100, 1), 0);
	must_eq(rig_post_recv(pair.a, pair.qa, 1024, GRH + 100, 1), 0);
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	wc = rig_must_succeed(pair.b->cq);
	must(wc.wc_flags & IBV_WC_GRH);
	must_eq(wc.slid, 0);
	must_eq(wc.sl, emulated_is_mlx5() ? header->kind : 0);
	must(!memcmp(pair.b->buffer + header->at, header->want, sizeof(header->want)));
	wr = rig_wr(pair.b, IBV_WR_SEND, 0, 100);
	wr.wr.ud.ah = MADE(ibv_create_ah_from_wc(pair.b->pd, &wc, (void *)pair.b->buffer, 1));
	wr.wr.ud.remote_qpn = wc.src_qp;
	wr.wr.ud.remote_qkey = RIG_QKEY;
	rig_must_send(pair.qb, &wr, IBV_WC_SUCCESS);
	wc = rig_must_succeed(pair.a->cq);
	must_eq(wc.byte_len, GRH + 100);
}

ROW("a datagram has the header of its GID type")
{
	static const struct header v1 = { 0, 0, 0,
					  { 0x6a, 0x70, 0, 0, 0, 124, 0x1b, 9, 0xfe, 0x80 } };
	const struct header v2[] = {
		{ latest(IPV4), 10, 20, { 0x45, 0xa7, 0, 152, 0, 0, 0x40, 0, 9, 17 } },
		{ latest(IPV6), 9, 0, { 0x6a, 0x70, 0, 0, 0, 132, 17, 9, 0xfd, 0 } },
	};

	must_go_there_and_back(&v1);
	for (int i = 0; versions() == 2 && i < 2; i++)
		must_go_there_and_back(&v2[i]);
}
