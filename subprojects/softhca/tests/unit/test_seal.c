/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The seals of messages between machines: SipHash-2-4 with 128 bits, by the vectors of its authors'
 * reference implementation, whose key is 00 01 ... 0f and whose messages are 00 01 02 ...
 */

#include <harness/unit.h>

#include <fabric/fabric.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char why[512];

static int read_key(size_t length, mode_t mode)
{
	const uint8_t key[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	char path[] = "/tmp/softhca-seal-XXXXXX";
	int fd = mkstemp(path), err;

	assert_true(fd >= 0 && write(fd, key, length) == (ssize_t)length && !fchmod(fd, mode));
	close(fd);
	err = fabric_read_key(path, why, sizeof(why));
	unlink(path);
	return err;
}

TEST(seals_are_those_of_the_reference)
{
	static const struct {
		size_t length;
		uint8_t seal[FABRIC_SEAL];
	} vectors[] = {
		{ 0,
		  { 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7,
		    0x55, 0x02, 0x93 } },
		{ 1,
		  { 0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b,
		    0x22, 0xfc, 0x45 } },
		{ 15,
		  { 0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97,
		    0xcf, 0xc3, 0xd9 } },
	};
	uint8_t text[16], seal[FABRIC_SEAL];

	assert_int_equal(read_key(16, 0600), 0);
	for (uint8_t i = 0; i < sizeof(text); i++)
		text[i] = i;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		fabric_seal(text, vectors[i].length, seal);
		assert_memory_equal(seal, vectors[i].seal, FABRIC_SEAL);
		assert_true(fabric_same(seal, vectors[i].seal));
		for (int bit = 0; bit < 8 * FABRIC_SEAL; bit++) {
			seal[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_false(fabric_same(seal, vectors[i].seal));
			seal[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

TEST(a_key_is_16_bytes_that_only_its_owner_reads)
{
	assert_int_equal(read_key(15, 0600), -EPERM);
	assert_int_equal(read_key(17, 0600), -EPERM);
	assert_int_equal(read_key(16, 0640), -EPERM);
	assert_int_equal(read_key(16, 0604), -EPERM);
	assert_non_null(strstr(why, "mode 0600"));
	assert_int_equal(read_key(16, 0400), 0);
}

UNIT_MAIN(NULL, NULL)
