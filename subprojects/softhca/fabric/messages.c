/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages between machines. The short ones that a turn makes for one machine share a frame. The
 * answer to a request so goes with the request that its receiver sends next, if that comes soon.
 */
#include "messages.h"
#include "carrier.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x53484632u /* "SHF2"; also tells the order of bytes */
#define MOST_PARCELS 256 /* requests on their way, and frames of several messages */
#define SHORT 1024u
#define SHARED (8u << 10) /* bytes of a frame of several messages */

/* Before each message; both have multiples of 8 bytes. */
struct label {
	uint32_t kind, length;
};

static struct messages {
	struct fabric_plan plan;
	void (*lost)(int home);
	int own, count;
	unsigned int parcels; /* that count for MOST_PARCELS */
	bool refused; /* a request found no parcel */
	struct {
		bool met;
		uint8_t token[FABRIC_SEAL];
		uint64_t sent, taken; /* frames of this meeting */
		struct fabric_parcel *shared; /* the frame that is being filled, or NULL */
		bool urgent; /* it has more than answers */
		bool old; /* it was there at the last flush */
	} peer[FABRIC_MAX_MACHINES];
} messages;

void messages_open(const struct fabric_plan *plan, const struct fabric_list *list,
		   void (*lost)(int home))
{
	messages.plan = *plan;
	messages.lost = lost;
	messages.own = list->own;
	messages.count = list->count;
}

/* ---- parcels ---- */

void *fabric_body(struct fabric_parcel *parcel)
{
	return (uint8_t *)parcel->body + sizeof(struct label);
}

static struct fabric_parcel *make(bool counts, size_t room)
{
	struct fabric_parcel *parcel =
		counts && messages.parcels >= MOST_PARCELS ? NULL : malloc(sizeof(*parcel) + room);

	if (!parcel)
		return NULL;
	list_init(&parcel->link);
	parcel->counts = counts;
	parcel->length = 0;
	messages.parcels += counts;
	return parcel;
}

struct fabric_parcel *fabric_new(enum fabric_kind kind, size_t room)
{
	struct fabric_parcel *parcel =
		make(kind == FABRIC_REQUEST, sizeof(struct label) + ((room + 7) & ~(size_t)7));

	if (parcel)
		parcel->kind = (uint16_t)kind;
	else
		messages.refused |= kind == FABRIC_REQUEST;
	return parcel;
}

void fabric_release(struct fabric_parcel *parcel)
{
	const bool refused = messages.refused;

	messages.parcels -= parcel->counts;
	free(parcel);
	messages.refused = false;
	if (refused)
		messages.plan.room();
}

/* ---- sending ---- */

static void send_frame(struct fabric_parcel *parcel, int home)
{
	if (!messages.peer[home].met) {
		fabric_release(parcel);
		return;
	}
	parcel->home = home;
	parcel->frame = (struct frame){
		.magic = MAGIC, .from = (uint16_t)messages.own, .number = messages.peer[home].sent++
	};
	memcpy(parcel->frame.token, messages.peer[home].token, FABRIC_SEAL);
	carrier_send(parcel);
}

static void send_shared(int home)
{
	struct fabric_parcel *shared = messages.peer[home].shared;

	messages.peer[home].shared = NULL;
	messages.peer[home].urgent = messages.peer[home].old = false;
	if (shared)
		send_frame(shared, home);
}

/* Whether a copy of the message is in a frame that others share. */
static bool share(const struct fabric_parcel *parcel, int home)
{
	struct fabric_parcel *shared = messages.peer[home].shared;

	if (shared && shared->length + parcel->length > SHARED) {
		send_shared(home);
		shared = NULL;
	}
	if (!shared)
		shared = make(true, SHARED);
	messages.peer[home].shared = shared;
	if (!shared)
		return false;
	memcpy((uint8_t *)shared->body + shared->length, parcel->body, parcel->length);
	shared->length += parcel->length;
	messages.peer[home].urgent |= parcel->kind != FABRIC_ANSWER;
	return true;
}

void fabric_send(struct fabric_parcel *parcel, int home, size_t length)
{
	const struct label label = { parcel->kind, (uint32_t)length };

	memcpy(parcel->body, &label, sizeof(label));
	parcel->length = sizeof(struct label) + ((length + 7) & ~(size_t)7);
	if (parcel->length <= SHORT && share(parcel, home)) {
		fabric_release(parcel);
		return;
	}
	send_shared(home);
	send_frame(parcel, home);
}

void fabric_flush(void)
{
	for (int home = 0; home < messages.count; home++) {
		if (messages.peer[home].urgent || messages.peer[home].old)
			send_shared(home);
		messages.peer[home].old = messages.peer[home].shared;
	}
}

uint64_t fabric_nap(void)
{
	if (!messages.count)
		return UINT64_MAX;
	for (int home = 0; home < messages.count; home++)
		send_shared(home);
	return carrier_nap();
}

/* ---- receiving ---- */

static void take_messages(int home, const uint8_t *at, size_t left)
{
	struct label label;
	size_t padded;

	for (; left >= sizeof(label); at += padded, left -= padded) {
		memcpy(&label, at, sizeof(label));
		at += sizeof(label);
		left -= sizeof(label);
		padded = ((size_t)label.length + 7) & ~(size_t)7;
		if (padded > left || label.kind >= FABRIC_KINDS)
			return;
		messages.plan.handler[label.kind](home, at, label.length);
	}
}

/* The first frames may be lost: the other machine may hear of the meeting earlier than this one. */
static bool is_early(int home, uint64_t number)
{
	uint64_t *taken = &messages.peer[home].taken;

	if (*taken && number > *taken)
		return true;
	if (number >= *taken)
		*taken = number + 1;
	return false;
}

static bool is_known(const struct frame *frame, size_t length)
{
	return length >= sizeof(*frame) && frame->magic == MAGIC && frame->from < messages.count &&
	       messages.peer[frame->from].met &&
	       fabric_same(messages.peer[frame->from].token, frame->token);
}

bool messages_take(const void *bytes, size_t length)
{
	const struct frame *frame = bytes;

	if (!is_known(frame, length))
		return true;
	if (is_early(frame->from, frame->number))
		return false;
	take_messages(frame->from, (const uint8_t *)(frame + 1), length - sizeof(*frame));
	return true;
}

/* The frames behind a lost one would wait for it. */
void messages_done(struct fabric_parcel *parcel, bool sent)
{
	const int home = parcel->home;
	const bool now = messages.peer[home].met &&
			 fabric_same(messages.peer[home].token, parcel->frame.token);

	fabric_release(parcel);
	if (!sent && now)
		messages.lost(home);
}

/* ---- the other machines ---- */

void messages_meet(int home, const uint8_t token[FABRIC_SEAL])
{
	messages.peer[home].met = true;
	messages.peer[home].sent = messages.peer[home].taken = 0;
	memcpy(messages.peer[home].token, token, FABRIC_SEAL);
}

void messages_part(int home)
{
	messages.peer[home].met = false;
	send_shared(home);
}
