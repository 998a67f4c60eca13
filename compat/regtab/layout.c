/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The header of a table: writing it, and deciding whether to trust one. */

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "layout.h"

_Static_assert(sizeof(struct regtab_key) == 96, "the key is the same for 32 and 64 bits");
_Static_assert(offsetof(struct table_header, key) == 32, "the header is the same for 32 and 64 bits");
_Static_assert(offsetof(struct table_header, alive) == 192 && sizeof(struct table_header) == 192 + 8 * PLANES_MAX,
	       "the header is the same for 32 and 64 bits");
_Static_assert(sizeof(struct member_record) == 128 && offsetof(struct member_record, start_time) == 16, "as above");
_Static_assert(sizeof(struct mailbox) == 2048, "as above");
_Static_assert(SEGMENTS_OFFSET % 4096 == 0, "segments begin on a page");
_Static_assert(REGTAB_MEMBERS_MAX < KEY_OWNER_MASK, "a member number and none fit in a key");

/* One step of FNV-1a over a number instead of a byte: good enough to notice that a structure changed. */
#define MIX(hash, value) ((((uint32_t)(hash)) ^ (uint32_t)(value)) * 16777619u)

enum { LAYOUT_HASH = (int)
	(MIX(MIX(MIX(MIX(MIX(MIX(MIX(MIX(MIX(MIX(MIX(MIX(MIX(2166136261u,
	sizeof(struct table_header)), offsetof(struct table_header, shape)), offsetof(struct table_header, alive)),
	sizeof(struct member_record)), offsetof(struct member_record, start_time)),
	offsetof(struct member_record, label)), sizeof(struct mailbox)), offsetof(struct mailbox, request)),
	SEGMENTS_OFFSET), SLOT_BYTES), BUCKET_SLOTS), KEY_SEQ_SHIFT), SLOT_LOST) >> 1)
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The kernel's random number of this boot. Zeros where /proc is absent: then all processes of the machine lack it. */
static void boot_id(uint8_t id[16])
{
	char text[40] = "";
	unsigned nibbles = 0;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(id, 0, 16);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	for (const char *p = text; *p && nibbles < 32; p++) {
		int value = hex_value(*p);

		if (value >= 0) {
			id[nibbles / 2] = (uint8_t)(id[nibbles / 2] << 4 | value);
			nibbles++;
		}
	}
}

void regtab_header_fill(struct table_header *header, const struct regtab_key *key)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	header->version = REGTAB_VERSION;
	header->layout_hash = LAYOUT_HASH;
	boot_id(header->boot_id);
	header->key = *key;
	header->created = (uint64_t)now.tv_sec;
	header->shape = shape_word((struct shape){ 1, 1 });
}

bool regtab_header_is_table(const struct table_header *header)
{
	return header->magic == REGTAB_MAGIC;
}

int regtab_header_check(const struct table_header *header, const struct regtab_key *key, const char **reason)
{
	uint8_t boot[16];

	if (!regtab_header_is_table(header)) {
		*reason = "it is not a registration table";
		return -EPERM;
	}
	if (header->version != REGTAB_VERSION || header->layout_hash != LAYOUT_HASH) {
		*reason = "processes that use another version of this library are using it";
		return -EPROTO;
	}
	boot_id(boot);
	if (memcmp(boot, header->boot_id, sizeof(boot))) {
		*reason = "another machine is using it: the directory must be local";
		return -EPROTO;
	}
	if (key && memcmp(key, &header->key, sizeof(*key))) {
		*reason = "it is the table of another domain";
		return -EPERM;
	}
	return 0;
}

uint64_t regtab_key_hash(const struct regtab_key *key)
{
	const unsigned char *byte = (const unsigned char *)key;
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < sizeof(*key); i++)
		hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
	return hash;
}
