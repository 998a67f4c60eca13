/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The key that the machines of a user share, and the seals that it makes. SipHash-2-4 by Aumasson
 * and Bernstein, with their vectors in the tests: no library that every machine has offers a keyed
 * hash.
 */
#include "fabric.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t key[2];

/* ---- the hash ---- */

static uint64_t rotate(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void take_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix(v, 2);
	v[0] ^= word;
}

void fabric_seal(const void *bytes, size_t length, uint8_t seal[FABRIC_SEAL])
{
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575ull,
		key[1] ^ 0x646f72616e646f6dull ^ 0xee,
		key[0] ^ 0x6c7967656e657261ull,
		key[1] ^ 0x7465646279746573ull,
	};
	const uint8_t *at = bytes;
	uint64_t word, out[2];
	size_t left = length;

	for (; left >= sizeof(word); left -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		take_word(v, word);
	}
	word = (uint64_t)length << 56;
	for (size_t i = 0; i < left; i++)
		word |= (uint64_t)at[i] << 8 * i;
	take_word(v, word);
	v[2] ^= 0xee;
	mix(v, 4);
	out[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
	v[1] ^= 0xdd;
	mix(v, 4);
	out[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
	memcpy(seal, out, FABRIC_SEAL);
}

void fabric_seal_text(const uint8_t first[FABRIC_NONCE], const uint8_t second[FABRIC_NONCE],
		      const void *text, size_t length, uint8_t seal[FABRIC_SEAL])
{
	uint8_t bytes[2 * FABRIC_NONCE + FABRIC_TEXT];

	memcpy(bytes, first, FABRIC_NONCE);
	memcpy(bytes + FABRIC_NONCE, second, FABRIC_NONCE);
	memcpy(bytes + 2 * FABRIC_NONCE, text, length);
	fabric_seal(bytes, 2 * FABRIC_NONCE + length, seal);
}

/* Takes the same time wherever they differ. */
bool fabric_same(const uint8_t one[FABRIC_SEAL], const uint8_t other[FABRIC_SEAL])
{
	uint8_t difference = 0;

	for (int i = 0; i < FABRIC_SEAL; i++)
		difference |= one[i] ^ other[i];
	return !difference;
}

/* ---- the file ---- */

/* Under another name first: a machine that shares the directory sees a whole key or none. */
static int make_key(const char *path)
{
	char early[PATH_MAX];
	uint64_t fresh[2];
	int fd, err = 0;

	if (snprintf(early, sizeof(early), "%s.XXXXXX", path) >= (int)sizeof(early))
		return -ENAMETOOLONG;
	if (getrandom(fresh, sizeof(fresh), 0) != sizeof(fresh))
		return -errno;
	fd = mkostemp(early, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, fresh, sizeof(fresh)) != sizeof(fresh) || fsync(fd) ||
	    (link(early, path) && errno != EEXIST))
		err = -errno;
	unlink(early);
	close(fd);
	return err;
}

static int open_key(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int err;

	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	err = make_key(path);
	if (err)
		return err;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077) && st.st_size == sizeof(key);
}

int fabric_read_key(const char *path, char *why, size_t size)
{
	const char *home = getenv("HOME");
	char own[PATH_MAX];
	int fd, err = 0;

	if (!path[0] && (!home || !home[0])) {
		snprintf(why, size, "HOME is not set, so --key=FILE must name the key's file");
		return -ENOENT;
	}
	snprintf(own, sizeof(own), "%s/.softhca-key", home ? home : "");
	if (!path[0])
		path = own;
	fd = open_key(path);
	if (fd < 0) {
		snprintf(why, size, "%.400s: %s", path, strerror(-fd));
		return fd;
	}
	if (!is_private(fd) || read(fd, key, sizeof(key)) != sizeof(key))
		err = -EPERM;
	close(fd);
	if (err)
		snprintf(
			why, size,
			"%.400s: must be a file of %zu bytes that belongs to you and to nobody else (mode 0600)",
			path, sizeof(key));
	return err;
}
