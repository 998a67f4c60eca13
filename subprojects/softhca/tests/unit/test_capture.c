/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A capture's packets with their checksums, and the ring between its two processes. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <capture/capture.h>
#include <capture/ring.h>

#include <harness/unit.h>

TEST(the_icrc_is_the_crc_of_ethernet)
{
	assert_int_equal(~crc_icrc(CRC_NONE, (const uint8_t *)"123456789", 9), 0xcbf43926u);
}

/* InfiniBand specification 7.8.2: x^16 + x^12 + x^3 + x + 1, the low bit of a byte first. */
static uint16_t vcrc_by_bits(const uint8_t *bytes, size_t length)
{
	uint32_t crc = 0xffff;

	for (size_t i = 0; i < length * 8; i++) {
		bool bit = (bytes[i / 8] >> i % 8 & 1) != (int)(crc & 1);

		crc = crc >> 1 ^ (bit ? 0xd008 : 0);
	}
	return (uint16_t)~crc;
}

TEST(checksums_are_the_same_for_each_length_and_in_two_parts)
{
	uint8_t bytes[100];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 73 + 5);
	for (size_t length = 0; length <= sizeof(bytes); length++) {
		uint32_t first = crc_icrc(CRC_NONE, bytes, length / 3);

		assert_int_equal(crc_vcrc(bytes, length), vcrc_by_bits(bytes, length));
		assert_int_equal(crc_icrc(first, bytes + length / 3, length - length / 3),
				 crc_icrc(CRC_NONE, bytes, length));
	}
}

/* ---- the ring ---- */

static struct capture_ring *ring;
static int file = -1;

static void begin(void)
{
	int fd, err;

	ring = ring_create(&fd, &err);
	assert_non_null(ring);
	close(fd);
	file = memfd_create("capture", 0);
	assert_true(file >= 0);
}

static void end(void)
{
	ring_unmap(ring);
	close(file);
}

static off_t file_size(void)
{
	struct stat st;

	assert_int_equal(fstat(file, &st), 0);
	return st.st_size;
}

/* The records are longer than a part of the ring, so that one of them goes round its end. */
TEST(records_are_written_in_order_also_round_the_end)
{
	enum { LENGTH = (3 << 20) + 5 };
	uint8_t *record = malloc(LENGTH), last;

	begin();
	for (int i = 0; i < 7; i++) {
		memset(record, 'a' + i, LENGTH);
		assert_true(ring_put(ring, record, LENGTH, 0));
		assert_int_equal(ring_write(ring, file), 0);
		assert_int_equal(file_size(), (i + 1) * (off_t)LENGTH);
		for (off_t at = i * (off_t)LENGTH; at < file_size(); at += LENGTH - 1) {
			assert_int_equal(pread(file, &last, 1, at), 1);
			assert_int_equal(last, 'a' + i);
		}
	}
	end();
	free(record);
}

TEST(a_record_without_room_is_refused_as_a_whole)
{
	uint8_t *record = calloc(1, RING_BYTES);

	begin();
	assert_false(ring_put(ring, record, RING_BYTES - 99, 100));
	assert_true(ring_put(ring, record, RING_BYTES - 100, 100));
	assert_false(ring_put(ring, record, 101, 0));
	assert_true(ring_put(ring, record, 100, 0));
	assert_int_equal(ring_write(ring, file), 0);
	assert_int_equal(file_size(), RING_BYTES);
	assert_true(ring_put(ring, record, RING_BYTES, 0));
	end();
	free(record);
}

/* The last of three is cut. */
TEST(records_that_are_whole_are_known_by_their_length)
{
	const uint32_t record[5] = { 6, sizeof(record) };

	uint64_t lost;

	begin();
	for (int i = 0; i < 3; i++)
		assert_true(ring_put(ring, record, sizeof(record), 0));
	assert_int_equal(ring_whole(ring, 100, 99, 6, &lost), 100);
	assert_int_equal(lost, 3);
	assert_int_equal(ring_whole(ring, 100, 159, 6, &lost), 140);
	assert_int_equal(lost, 1);
	assert_int_equal(ring_whole(ring, 100, 159, 5, &lost), 140);
	assert_int_equal(lost, 0);
	assert_int_equal(ring_whole(ring, 100, 160, 6, &lost), 160);
	assert_int_equal(ring_whole(ring, 100, 1000, 6, &lost), 160);
	assert_int_equal(lost, 0);
	end();
}

TEST(records_that_a_full_disk_did_not_take_stay)
{
	int full = open("/dev/full", O_WRONLY);

	assert_true(full >= 0);
	begin();
	assert_true(ring_put(ring, "1234", 4, 0));
	assert_int_equal(ring_write(ring, full), -ENOSPC);
	assert_int_equal(ring->taken, 0);
	assert_int_equal(ring_write(ring, file), 0);
	assert_int_equal(ring->taken, 4);
	end();
	close(full);
}

/* ---- blocks and packets ---- */

static struct hca_machine machine;

/* Captures a packet of 6 bytes for each device in turn. */
static void capture_packets(int count, uint8_t opcode)
{
	int fd;

	assert_int_equal(machine_init(&machine, &settings_default, 1, 0), 0);
	assert_int_equal(capture_start(&machine, CAPTURE_MOST, &fd), 0);
	ring = ring_map(fd);
	close(fd);
	file = memfd_create("capture", 0);
	for (int i = 0; i < count; i++) {
		struct packet packet = { .device = &machine.device[i % 2], .port = 1,
					 .av = { .dlid = 0x1234, .qpn = 7 }, .opcode = opcode,
					 .pkey = 0xffff, .psn = 0xabcdef, .length = 6,
					 .payload = (const uint8_t *)"abcdef" };

		capture_packet(&packet);
	}
	capture_end();
}

/* The types of all blocks, which begin and end with their length; and of one kind the last. */
static void read_blocks(char *types, uint32_t wanted, uint8_t block[256])
{
	uint32_t head[2], last;
	uint64_t lost;

	assert_int_equal(ring_write(ring, file), 0);
	for (off_t at = 0; at < file_size(); at += head[1]) {
		assert_int_equal(pread(file, head, sizeof(head), at), sizeof(head));
		assert_int_equal(pread(file, &last, sizeof(last), at + head[1] - 4), sizeof(last));
		assert_int_equal(last, head[1]);
		assert_in_range(head[0] & 0xf, 0, 0xa);
		*types++ = "0123456789a"[head[0] & 0xf];
		if (head[0] == wanted)
			assert_true(pread(file, block, 256, at) > 0);
	}
	*types = 0;
	capture_close((uint64_t)file_size(), &lost);
	assert_int_equal(lost, 0);
	end();
	machine_free(&machine);
}

TEST(a_file_has_a_section_interfaces_packets_and_statistics)
{
	uint8_t block[256];
	uint64_t sent, dropped;
	char types[64];

	capture_packets(3, 4);
	read_blocks(types, 5, block);
	assert_string_equal(types, "a1166655");
	memcpy(&sent, block + 24, sizeof(sent));
	memcpy(&dropped, block + 36, sizeof(dropped));
	assert_int_equal(sent, 1);
	assert_int_equal(dropped, 0);
}

TEST(a_packet_of_infiniband_has_both_checksums)
{
	static const uint8_t wanted[28] = {
		0, 2, 0x12, 0x34, 0, 8, 0, 1,		    /* LRH */
		4, 0x20, 0xff, 0xff, 0, 0, 0, 7, 0, 0xab, 0xcd, 0xef, /* BTH */
		'a', 'b', 'c', 'd', 'e', 'f',
	};
	uint8_t block[256], masked[28];
	const uint8_t *packet = block + 28 + 16; /* behind the headers of pcapng and ERF */
	char types[64];
	uint32_t icrc;
	uint16_t vcrc;

	capture_packets(1, 4);
	read_blocks(types, 6, block);
	assert_memory_equal(packet, wanted, sizeof(wanted));
	memcpy(masked, packet, sizeof(masked));
	masked[0] = 0xf0;  /* virtual lane */
	masked[12] = 0xff; /* reserved byte of the BTH */
	memcpy(&icrc, packet + 28, sizeof(icrc));
	memcpy(&vcrc, packet + 32, sizeof(vcrc));
	assert_int_equal(icrc, ~crc_icrc(CRC_NONE, masked, sizeof(masked)));
	assert_int_equal(vcrc, vcrc_by_bits(packet, 32));
}

UNIT_MAIN(NULL, NULL)
