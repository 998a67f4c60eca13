/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The header of a table: writing it, and deciding whether to trust one. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "layout.h"

#define LAYOUT_HASH \
	((uint32_t)(sizeof(struct regtab_key) << 24 ^ offsetof(struct table_header, rows) << 12 ^ offsetof(struct member_row, maps)))

_Static_assert(sizeof(struct regtab_key) == 96 && offsetof(struct table_header, key) == 32 &&
	       offsetof(struct table_header, alive) == 192 && sizeof(struct table_header) <= REGTAB_PAGE,
	       "the header is the same for 32 and 64 bits, and one page");
_Static_assert(sizeof(struct member_row) == REGTAB_PAGE && offsetof(struct member_row, since) == 16, "so is a row");
_Static_assert(PAGES_MAX <= UINT16_MAX, "a page number has 16 bits");

/*
 * The kernel's random number of this boot, its first 13 digits. Zeros where it cannot be seen, as in a container whose /proc has
 * processes only; but not where a process cannot open it for the moment: its table would be any machine's.
 */
static int boot_id(uint8_t id[16])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -errno;
	if (fd < 0 || read(fd, id, 16) < 0)
		memset(id, 0, 16);
	if (fd >= 0)
		close(fd);
	return 0;
}

int regtab_header_fill(struct table_header *header, const struct regtab_key *key)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	header->version = REGTAB_VERSION;
	header->layout_hash = LAYOUT_HASH;
	header->key = *key;
	header->created = (uint64_t)now.tv_sec;
	header->pages = 1;
	return boot_id(header->boot_id);
}

static bool maybe_same_boot(const uint8_t one[16], const uint8_t other[16])
{
	static const uint8_t unknown[16];

	return !memcmp(one, other, 16) || !memcmp(one, unknown, 16) || !memcmp(other, unknown, 16);
}

int regtab_header_check(const struct table_header *header, const struct regtab_key *key, const char **reason)
{
	uint8_t boot[16] = { 0 };
	int err;

	*reason = "it is not a registration table";
	if (header->magic != REGTAB_MAGIC)
		return -EPERM;
	*reason = "processes that use another version of this library are using it";
	if (header->version != REGTAB_VERSION || header->layout_hash != LAYOUT_HASH)
		return -EPROTO;
	*reason = "cannot find out whether it is of this machine: too many open files, or no memory";
	err = boot_id(boot);
	if (err)
		return err;
	*reason = "another machine is using it: the directory must be local";
	if (!maybe_same_boot(boot, header->boot_id))
		return -EPROTO;
	*reason = "it is the table of another domain";
	return key && memcmp(key, &header->key, sizeof(*key)) ? -EPERM : 0;
}

uint64_t regtab_key_hash(const struct regtab_key *key)
{
	const unsigned char *byte = (const unsigned char *)key;
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < sizeof(*key); i++)
		hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
	return hash;
}
