/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Memory that the daemon fills with records and another process writes into a file. */
#include "ring.h"

#include <base/memfd.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct capture_ring *ring_map(int fd)
{
	void *at = mmap(NULL, sizeof(struct capture_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			0);

	return at == MAP_FAILED ? NULL : at;
}

struct capture_ring *ring_create(int *fd, int *err)
{
	struct capture_ring *ring = NULL;

	*fd = memfd_sealed("softhca-capture", sizeof(*ring));
	*err = *fd < 0 ? *fd : -posix_fallocate(*fd, 0, sizeof(*ring));
	if (!*err) {
		ring = ring_map(*fd);
		*err = ring ? 0 : -ENOMEM;
	}
	if (*err && *fd >= 0)
		close(*fd);
	return ring;
}

void ring_unmap(struct capture_ring *ring)
{
	munmap(ring, sizeof(*ring));
}

bool ring_put(struct capture_ring *ring, const void *record, uint32_t length, uint32_t reserve)
{
	const uint32_t put = ring->put;
	const uint32_t used = put - atomic_load_explicit(&ring->taken, memory_order_acquire);
	const uint32_t at = put % RING_BYTES;
	const uint32_t first = RING_BYTES - at < length ? RING_BYTES - at : length;

	if (used > RING_BYTES || RING_BYTES - used < length + reserve)
		return false;
	memcpy(ring->bytes + at, record, first);
	memcpy(ring->bytes, (const uint8_t *)record + first, length - first);
	atomic_store_explicit(&ring->put, put + length, memory_order_release);
	return true;
}

int ring_write(struct capture_ring *ring, int file)
{
	const uint32_t put = atomic_load_explicit(&ring->put, memory_order_acquire);
	uint32_t taken = ring->taken;

	while (taken != put) {
		const uint32_t at = taken % RING_BYTES;
		const uint32_t left = put - taken;
		ssize_t done = write(file, ring->bytes + at,
				     RING_BYTES - at < left ? RING_BYTES - at : left);

		if (done < 0 && errno != EINTR)
			return -errno;
		taken += done > 0 ? (uint32_t)done : 0;
	}
	atomic_store_explicit(&ring->taken, taken, memory_order_release);
	return 0;
}

/* One of a record, which lies on a multiple of its size. */
static uint32_t word(const struct capture_ring *ring, uint32_t at)
{
	uint32_t value;

	memcpy(&value, ring->bytes + at % RING_BYTES, sizeof(value));
	return value;
}

uint64_t ring_whole(const struct capture_ring *ring, uint64_t written, uint64_t size, uint32_t type,
		    uint64_t *lost)
{
	uint32_t left = ring->put - ring->taken, length;
	uint64_t whole = written;

	*lost = 0;
	for (uint32_t at = ring->taken; left; at += length, left -= length) {
		length = word(ring, at + sizeof(length));
		if (!length || length > left)
			break;
		written += length;
		if (written <= size)
			whole = written;
		else
			*lost += word(ring, at) == type;
	}
	return whole;
}
