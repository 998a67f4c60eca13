/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a table looks like in memory, the same for 32- and 64-bit processes: no pointers, fixed offsets, zero is empty.
 *
 *   header | member records | mailboxes | segment 0 | segment 1 | ...
 *
 * A segment holds four times the QPs of the one before: its keys, then one plane of registration bits per 64 members. Nothing
 * ever moves, so the table grows by publishing a new "shape" (segments and planes in use) over memory that is reserved
 * and zero already; other processes map more when they see it. What a shape does not reach is a hole and costs nothing.
 */
#ifndef COMPAT_REGTAB_LAYOUT_H
#define COMPAT_REGTAB_LAYOUT_H

#include <stddef.h>

#include "mem.h"
#include "regtab.h"

#define REGTAB_MAGIC		UINT64_C(0x4c42415443525800)	/* "\0XRCTABL", so that an empty file is none */
#define REGTAB_VERSION		1u

#define PLANE_MEMBERS		64u
#define PLANES_MAX		(REGTAB_MEMBERS_MAX / PLANE_MEMBERS)
#define SEGMENTS_MAX		6u				/* 698,880 QPs: more than an HCA has in one domain */
#define BUCKET_SLOTS		16u				/* two cache lines of keys */

struct table_header {
	word64 magic;			/* written last */
	uint32_t version;
	uint32_t layout_hash;
	uint8_t boot_id[16];
	struct regtab_key key;
	word64 created;			/* seconds of CLOCK_REALTIME */
	uint32_t shape;			/* see shape_of() */
	uint32_t cursor;		/* where the next joiner looks for dead members */
	uint8_t pad[48];
	word64 alive[PLANES_MAX];	/* a member's registrations count only while its bit is set */
};

struct member_record {
	uint32_t state;			/* 0: nothing anywhere refers to this member number */
	uint32_t epoch;			/* counts the members that had this number */
	uint32_t has_mailbox;		/* its mailbox is reserved memory */
	uint32_t pid;
	word64 start_time;
	word64 pid_namespace;
	word64 since;
	char command[16];
	char label[REGTAB_LABEL_SIZE];
	uint8_t pad[40];
};

/* Of a member that carries QPs. word: see mail.c. */
struct mailbox {
	uint32_t word;
	uint32_t bell;			/* the owner waits here */
	uint32_t retirements;		/* counts QPs that others left for the owner to destroy */
	uint32_t qp_num;
	uint32_t request_len;
	uint32_t answer_len;
	int32_t result;
	uint32_t pad;
	uint8_t request[REGTAB_MESSAGE_MAX];
	uint8_t answer[REGTAB_MESSAGE_MAX];
	uint8_t pad2[2048 - 32 - 2 * REGTAB_MESSAGE_MAX];
};

#define HEADER_OFFSET		0u
#define MEMBERS_OFFSET		4096u
#define MAILBOXES_OFFSET	(MEMBERS_OFFSET + REGTAB_MEMBERS_MAX * (uint32_t)sizeof(struct member_record))
#define SEGMENTS_OFFSET		(MAILBOXES_OFFSET + REGTAB_MEMBERS_MAX * (uint32_t)sizeof(struct mailbox))
#define SLOT_BYTES		(8u + 8u * PLANES_MAX)

static inline uint32_t segment_slots(unsigned segment)
{
	return 512u << 2 * segment;
}

static inline uint32_t segment_offset(unsigned segment)
{
	return SEGMENTS_OFFSET + (segment_slots(segment) - 512u) / 3 * SLOT_BYTES;
}

/* Offset of the registration bits of 64 members; plane -1 are the keys. */
static inline uint32_t plane_offset(unsigned segment, int plane)
{
	return segment_offset(segment) + (uint32_t)(plane + 1) * segment_slots(segment) * 8u;
}

/* ---- shape: segments and planes in use ---- */

struct shape {
	unsigned segments;
	unsigned planes;
};

static inline uint32_t shape_word(struct shape shape)
{
	return shape.segments | shape.planes << 8;
}

/* Whatever the file says, within bounds. */
static inline struct shape shape_of(uint32_t word)
{
	struct shape shape = { word & 0xff, word >> 8 & 0xff };

	if (shape.segments > SEGMENTS_MAX)
		shape.segments = SEGMENTS_MAX;
	if (shape.planes > PLANES_MAX)
		shape.planes = PLANES_MAX;
	return shape;
}

/* Bytes a file must have for a shape: up to the last plane of the last segment. */
static inline uint32_t shape_bytes(struct shape shape)
{
	return shape.segments ? plane_offset(shape.segments - 1, (int)shape.planes) : SEGMENTS_OFFSET;
}

/* ---- key of a slot: one word, so that every change of an entry is one compare-and-swap ---- */

enum slot_state {
	SLOT_FREE,
	SLOT_RESERVED,		/* its creator is about to enter it; nobody else sees it */
	SLOT_KERNEL,		/* a QP that its registrants' handles keep */
	SLOT_OWNED,		/* a QP that its owner keeps */
	SLOT_RETIRED,		/* the owner shall destroy it */
	SLOT_LOST,		/* its owner is gone, and the QP; registrations remain */
};

#define KEY_QPN_MASK	UINT64_C(0xffffff)
#define KEY_OWNER_SHIFT	24
#define KEY_OWNER_MASK	UINT64_C(0x7ff)
#define KEY_STATE_SHIFT	35
#define KEY_STATE_MASK	UINT64_C(7)
#define KEY_SEQ_SHIFT	38

static inline uint32_t key_qp_num(uint64_t key)
{
	return (uint32_t)(key & KEY_QPN_MASK);
}

static inline enum slot_state key_state(uint64_t key)
{
	return (enum slot_state)(key >> KEY_STATE_SHIFT & KEY_STATE_MASK);
}

/* Whether it is an entry that can be found. */
static inline bool key_is_entry(uint64_t key)
{
	return key_state(key) > SLOT_RESERVED;
}

/* Member number of the creator, -1 when it is gone; a hostile one is "gone". */
static inline int key_owner(uint64_t key)
{
	unsigned owner = (unsigned)(key >> KEY_OWNER_SHIFT & KEY_OWNER_MASK);

	return owner <= REGTAB_MEMBERS_MAX ? (int)owner - 1 : -1;
}

/* The key that follows old: the sequence number tells apart what otherwise looks alike. Never 0, which is "never used". */
static inline uint64_t key_next(uint64_t old, enum slot_state state, uint32_t qp_num, int owner)
{
	uint64_t seq = (old >> KEY_SEQ_SHIFT) + 1;

	if (!(seq << KEY_SEQ_SHIFT))
		seq = 1;
	return seq << KEY_SEQ_SHIFT | (uint64_t)state << KEY_STATE_SHIFT | (uint64_t)(owner + 1) << KEY_OWNER_SHIFT |
	       qp_num;
}

/* ---- layout.c ---- */

/** regtab_header_fill - all but the magic, which makes it valid; header is zeroed. */
void regtab_header_fill(struct table_header *header, const struct regtab_key *key);

/**
 * regtab_header_check - 0, or why a process must not join: -EPERM not a table at all, or of another key; -EPROTO of
 * another version, layout or machine. *reason: a phrase.
 */
int regtab_header_check(const struct table_header *header, const struct regtab_key *key, const char **reason);

/** regtab_header_is_table - whether it is a table of whatever version. */
bool regtab_header_is_table(const struct table_header *header);

uint64_t regtab_key_hash(const struct regtab_key *key);

#endif
