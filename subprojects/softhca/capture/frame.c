/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A packet as bytes: of InfiniBand in a record of ERF, or of RoCE in an Ethernet frame. */
#include "capture.h"

#include <base/bytes.h>
#include <machine/grh.h>

/* Wireshark 4.0 does not know LINKTYPE_INFINIBAND (247). */
#define LINKTYPE_ETHERNET 1
#define LINKTYPE_ERF	  197

#define ERF_BYTES	16u
#define ERF_INFINIBAND	21
#define ERF_VARYING	4 /* length of records */
#define LRH_BYTES	8u
#define BTH_BYTES	12u
#define ICRC_BYTES	4u
#define VCRC_BYTES	2u
#define MAC_BYTES	6u
#define ROCE_V1		0x8915 /* types of Ethernet */
#define IPV4		0x0800
#define IPV4_BYTES	20u
#define IPV6		0x86dd
#define ROCE_V2_PORT	4791
#define UDP_CHECKSUM	6 /* where it is */
#define NEXT_BTH	0x1b /* what follows a GRH; UDP follows IPv6 */
#define LNH_LOCAL	2 /* what follows the LRH: BTH, or GRH */
#define LNH_GLOBAL	3

_Static_assert(ERF_BYTES + LRH_BYTES + GRH_BYTES + BTH_BYTES + PACKET_MOST_HEADERS <= CAPTURE_LEAST,
	       "a capture has all headers");

uint16_t frame_link_type(const struct hca_machine *machine)
{
	return machine->settings.ethernet ? LINKTYPE_ETHERNET : LINKTYPE_ERF;
}

static uint8_t *append(uint8_t *at, const void *bytes, size_t length)
{
	memcpy(at, bytes, length);
	return at + length;
}

static uint32_t padding(const struct packet *packet)
{
	return -packet->length & 3;
}

/* From the BTH to the ICRC. */
static uint32_t transport_bytes(const struct packet *packet)
{
	return BTH_BYTES + packet->header_length + packet->length + padding(packet) + ICRC_BYTES;
}

/* ---- the link and network headers ---- */

/* As the kernel chooses it (rdma_get_udp_sport): all packets of a connection take one way. */
static uint16_t udp_source(const struct packet *packet)
{
	uint64_t label = packet->av.flow_label;

	if (!label) {
		label = (uint64_t)packet->source_qpn * packet->av.qpn;
		label ^= label >> 20;
		label ^= label >> 40;
	}
	return (uint16_t)(0xc000 | ((label ^ (label >> 14 & 0x3f)) & 0x3fff));
}

/* The checksum is 0 in RoCE v2, also with IPv6. */
static uint8_t *put_udp(uint8_t *at, const struct packet *packet)
{
	put16(at, udp_source(packet));
	put16(at + 2, ROCE_V2_PORT);
	put16(at + 4, (uint16_t)(UDP_BYTES + transport_bytes(packet)));
	put16(at + UDP_CHECKSUM, 0);
	return at + UDP_BYTES;
}

static uint8_t *put_ethernet(uint8_t *at, const struct packet *packet)
{
	uint8_t grh[GRH_BYTES];
	const enum gid_type type = grh_fill(packet->device, packet->port, &packet->av,
					    transport_bytes(packet), grh);
	const bool udp = type == GID_ROCE_V2, ipv4 = udp && grh_is_ipv4(grh);
	const size_t unused = ipv4 ? GRH_BYTES - IPV4_BYTES : 0;

	memset(at, 0, MAC_BYTES);
	port_mac(packet->device->machine, packet->av.dgid, at);
	port_own_mac(packet->device, packet->port, at + MAC_BYTES);
	at += 2 * MAC_BYTES;
	put16(at, ipv4 ? IPV4 : udp ? IPV6 : ROCE_V1);
	at = append(at + 2, grh + unused, sizeof(grh) - unused);
	return udp ? put_udp(at, packet) : at;
}

/* The length of the LRH is in words, without the VCRC. */
static uint8_t *put_infiniband(uint8_t *at, const struct packet *packet)
{
	const struct av *av = &packet->av;
	uint32_t bytes = LRH_BYTES + (av->global ? GRH_BYTES : 0) + transport_bytes(packet);
	uint8_t grh[GRH_BYTES];

	at[0] = 0; /* virtual lane and version */
	at[1] = (uint8_t)(av->sl << 4 | (av->global ? LNH_GLOBAL : LNH_LOCAL));
	put16(at + 2, av->dlid);
	put16(at + 4, (uint16_t)(bytes / 4));
	put16(at + 6, packet->device->port[packet->port].lid);
	at += LRH_BYTES;
	if (!av->global)
		return at;
	grh_fill(packet->device, packet->port, av, transport_bytes(packet), grh);
	return append(at, grh, sizeof(grh));
}

static uint8_t *put_bth(uint8_t *at, const struct packet *packet)
{
	at[0] = packet->opcode;
	at[1] = (uint8_t)((packet->solicited ? 0x80u : 0) | (packet->migrated ? 0x40u : 0) |
			  padding(packet) << 4);
	put16(at + 2, packet->pkey);
	put32(at + 4, packet->av.qpn);
	put32(at + 8, (uint32_t)packet->ask_ack << 31 | packet->psn);
	return append(at + BTH_BYTES, packet->header, packet->header_length);
}

/* ---- checksums ---- */

/* A switch or router may change these fields, so they count as ones. @ip has IPv4, IPv6 or GRH. */
static void mask_network(uint8_t *ip, bool ipv4)
{
	if (ipv4) {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
		put16(ip + IPV4_BYTES + UDP_CHECKSUM, 0xffff);
		return;
	}
	ip[0] |= 0x0f;
	ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
	if (ip[6] != NEXT_BTH)
		put16(ip + GRH_BYTES + UDP_CHECKSUM, 0xffff);
}

/*
 * The ICRC of the packet from @begin to @end. One with a network header is computed as if an LRH of
 * ones stood before that header, with RoCE as well, which has no LRH.
 */
static uint32_t icrc(const uint8_t *begin, const uint8_t *network, const uint8_t *bth,
		     const uint8_t *end)
{
	static const uint8_t ones[LRH_BYTES] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint8_t masked[LRH_BYTES + GRH_BYTES + UDP_BYTES + BTH_BYTES];
	const uint8_t *from = network == bth ? begin : network;
	const size_t before = (size_t)(bth - from);
	uint32_t crc = CRC_NONE;

	append(masked, from, before + BTH_BYTES);
	if (network == bth)
		masked[0] |= 0xf0; /* virtual lane */
	else
		mask_network(masked, from[0] >> 4 == 4);
	masked[before + 4] = 0xff;
	if (network != bth)
		crc = crc_icrc(crc, ones, sizeof(ones));
	crc = crc_icrc(crc, masked, before + BTH_BYTES);
	bth += BTH_BYTES;
	return ~crc_icrc(crc, bth, (size_t)(end - bth));
}

/* ---- the frame ---- */

/* Wireshark takes the time from the block around it. */
static void put_erf(uint8_t *at, uint32_t captured, uint32_t on_wire)
{
	memset(at, 0, ERF_BYTES);
	at[8] = ERF_INFINIBAND;
	at[9] = ERF_VARYING;
	put16(at + 10, (uint16_t)captured);
	put16(at + 14, (uint16_t)(on_wire - ERF_BYTES));
}

static void put_little_endian(uint8_t *at, uint32_t value, size_t bytes)
{
	value = htole32(value);
	memcpy(at, &value, bytes);
}

void frame_fill(struct frame *frame, const struct packet *packet, uint32_t snap)
{
	const bool ethernet = packet->device->machine->settings.ethernet;
	uint8_t *begin = frame->bytes + (ethernet ? 0 : ERF_BYTES);
	uint8_t *bth = ethernet ? put_ethernet(begin, packet) : put_infiniband(begin, packet);
	uint8_t *network = begin + (ethernet ? 2 * MAC_BYTES + 2 : LRH_BYTES);
	uint8_t *end = put_bth(bth, packet);
	const uint32_t wanted = packet->length < snap ? packet->length : snap;

	end = append(end, packet->payload, wanted);
	/* A packet that is cut has no checksums: they are made of all its bytes. */
	if (wanted == packet->length) {
		memset(end, 0, padding(packet));
		end += padding(packet);
		put_little_endian(end, icrc(begin, network, bth, end), ICRC_BYTES);
		end += ICRC_BYTES;
		if (!ethernet)
			put_little_endian(end, crc_vcrc(begin, (size_t)(end - begin)), VCRC_BYTES);
	}
	frame->on_wire = (uint32_t)(bth - frame->bytes) + transport_bytes(packet) +
			 (ethernet ? 0 : VCRC_BYTES);
	frame->captured = frame->on_wire < snap ? frame->on_wire : snap;
	if (!ethernet)
		put_erf(frame->bytes, frame->captured, frame->on_wire);
}
