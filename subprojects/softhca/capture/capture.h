/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A capture of the wire: packets go into a ring, from which another process writes a file. */
#ifndef SOFTHCA_CAPTURE_H
#define SOFTHCA_CAPTURE_H

#include <machine/hca.h>

#include <stddef.h>

/* Bytes of a packet that are in the file: all headers fit in the least, any packet in the most. */
#define CAPTURE_LEAST 128u
#define CAPTURE_MOST  8192u

#define PACKET_MOST_HEADERS 40u /* XRCETH, RETH, AETH and so on, behind the BTH */

/* Opcodes of a BTH: the transport, and the operation (InfiniBand specification 9.2.1). */
enum { PACKET_RC = 0x00, PACKET_UC = 0x20, PACKET_UD = 0x60, PACKET_XRC = 0xa0 };
enum {
	PACKET_SEND = 0x00,
	PACKET_SEND_ONLY = 0x04,
	PACKET_WRITE = 0x06,
	PACKET_READ = 0x0c,
	PACKET_READ_ANSWER = 0x0d,
	PACKET_ACK = 0x11,
	PACKET_ATOMIC_ACK = 0x12,
	PACKET_SWAP = 0x13,
	PACKET_ADD = 0x14,
};

/* A packet that a port sends. */
struct packet {
	const struct hca_device *device;
	uint8_t port;
	struct av av; /* to whom */
	uint32_t source_qpn;
	uint8_t opcode;
	bool solicited, migrated, ask_ack;
	uint16_t pkey;
	uint32_t psn;
	uint32_t header_length;
	uint8_t header[PACKET_MOST_HEADERS]; /* behind the BTH */
	uint32_t length;		     /* of the payload */
	const uint8_t *payload; /* capture_wants() bytes of it */
};

/* Whether a capture runs. */
extern bool capture_runs;

/* How many packets were sent since the capture began, and how many of them are not in the file. */
struct capture_counts {
	uint64_t sent, dropped;
};

/* Begins a capture of the first @snap bytes of each packet. 0, or -errno. @ring is its memory. */
int capture_start(const struct hca_machine *machine, uint32_t snap, int *ring);

/* Ends the capture. The other process writes the rest of the ring to the file, then exits. */
void capture_end(void);

/*
 * The other process has left a file of @size bytes. Returns how many are in whole records. *lost =
 * the packets that it has not written.
 */
uint64_t capture_close(uint64_t size, uint64_t *lost);

struct capture_counts capture_counted(void);

/* The bytes of a payload of @length that may be in the file. */
uint32_t capture_wants(uint32_t length);

/* Captures a packet, if the port is up and there is room in the ring. */
void capture_packet(const struct packet *packet);

/* ---- a packet as bytes (frame.c) ---- */

#define FRAME_BYTES (CAPTURE_MOST + 256u)

struct frame {
	uint32_t captured, on_wire;
	uint8_t bytes[FRAME_BYTES];
};

/* The link-layer type of the frames in the file. */
uint16_t frame_link_type(const struct hca_machine *machine);

/* Lays out the packet, of which the file gets @snap bytes. */
void frame_fill(struct frame *frame, const struct packet *packet, uint32_t snap);

/* ---- checksums (crc.c) ---- */

/* Goes on with @crc, that of the bytes before, or CRC_NONE. On the wire it is inverted. */
#define CRC_NONE 0xffffffffu
uint32_t crc_icrc(uint32_t crc, const uint8_t *bytes, size_t length);

/* As it is on the wire, the low byte first. */
uint16_t crc_vcrc(const uint8_t *bytes, size_t length);

#endif
