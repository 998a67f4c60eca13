/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages between machines. The short ones that a turn makes for one machine share a frame. An
 * answer waits a moment for the next request to the same machine, and shares its frame.
 */
#include "messages.h"
#include "carrier.h"

#include <stdlib.h>
#include <string.h>

#define FRAME 0x53484632u /* "SHF2"; also tells the order of bytes */
#define MOST_PARCELS 256 /* of each machine: requests on their way, and shared frames */
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
	bool refused; /* a request found no parcel */
	struct {
		bool met, heard; /* a frame of this meeting has come */
		bool broken; /* a frame is lost: the machine must be met again */
		unsigned int parcels; /* of this meeting, that count for MOST_PARCELS */
		unsigned int meeting; /* how many there were */
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

static struct fabric_parcel *make(int home, bool limited, size_t room)
{
	struct fabric_parcel *parcel = limited && messages.peer[home].parcels >= MOST_PARCELS
					       ? NULL
					       : malloc(sizeof(*parcel) + room);

	if (!parcel)
		return NULL;
	list_init(&parcel->link);
	parcel->home = (uint16_t)home;
	parcel->meeting = messages.peer[home].meeting;
	parcel->limited = limited;
	parcel->length = 0;
	messages.peer[home].parcels += limited;
	return parcel;
}

struct fabric_parcel *fabric_new(enum fabric_kind kind, int home, bool limited, size_t room)
{
	struct fabric_parcel *parcel =
		make(home, limited, sizeof(struct label) + ((room + 7) & ~(size_t)7));

	if (parcel)
		parcel->kind = (uint16_t)kind;
	else
		messages.refused |= limited;
	return parcel;
}

/* Those that found no parcel try again. */
static void offer_room(void)
{
	const bool refused = messages.refused;

	messages.refused = false;
	if (refused)
		messages.plan.room();
}

void fabric_release(struct fabric_parcel *parcel)
{
	if (parcel->limited && parcel->meeting == messages.peer[parcel->home].meeting)
		messages.peer[parcel->home].parcels--;
	free(parcel);
	offer_room();
}

/* ---- sending ---- */

static void send_frame(struct fabric_parcel *parcel)
{
	const int home = parcel->home;

	if (!messages.peer[home].met) {
		fabric_release(parcel);
		return;
	}
	parcel->frame = (struct frame){
		.magic = FRAME, .from = (uint16_t)messages.own, .number = messages.peer[home].sent++
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
		send_frame(shared);
}

/* Puts a copy of the message into a frame that others share. False: there can be none. */
static bool put_together(const struct fabric_parcel *parcel)
{
	const int home = parcel->home;
	struct fabric_parcel *shared = messages.peer[home].shared;

	if (shared && shared->length + parcel->length > SHARED) {
		send_shared(home);
		shared = NULL;
	}
	if (!shared)
		shared = make(home, true, SHARED);
	messages.peer[home].shared = shared;
	if (!shared)
		return false;
	memcpy((uint8_t *)shared->body + shared->length, parcel->body, parcel->length);
	shared->length += parcel->length;
	messages.peer[home].urgent |= parcel->kind != FABRIC_ANSWER;
	return true;
}

void fabric_send(struct fabric_parcel *parcel, size_t length)
{
	const struct label label = { parcel->kind, (uint32_t)length };

	memcpy(parcel->body, &label, sizeof(label));
	parcel->length = sizeof(struct label) + ((length + 7) & ~(size_t)7);
	memset((uint8_t *)fabric_body(parcel) + length, 0,
	       parcel->length - sizeof(struct label) - length);
	if (parcel->length <= SHORT && put_together(parcel)) {
		fabric_release(parcel);
		return;
	}
	send_shared(parcel->home);
	send_frame(parcel);
}

/* Not where the loss is noticed: frames and lists may be in use there. Whether there was one. */
static bool meet_broken_again(void)
{
	bool any = false;

	for (int home = 0; home < messages.count; home++) {
		if (!messages.peer[home].broken)
			continue;
		messages.lost(home);
		any = true;
	}
	return any;
}

void fabric_flush(void)
{
	meet_broken_again();
	for (int home = 0; home < messages.count; home++) {
		if (messages.peer[home].urgent || messages.peer[home].old)
			send_shared(home);
		messages.peer[home].old = messages.peer[home].shared;
	}
	if (messages.count)
		carrier_retry();
}

uint64_t fabric_nap(void)
{
	if (!messages.count)
		return UINT64_MAX;
	for (int home = 0; home < messages.count; home++)
		send_shared(home);
	/* A lost meeting has started timers that the caller's sleep does not know. */
	return meet_broken_again() ? 0 : carrier_nap();
}

bool fabric_sends(void)
{
	for (int home = 0; home < messages.count; home++)
		send_shared(home);
	return messages.count && carrier_sends();
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
		/* Does not wrap: a size may have 32 bits, too. */
		padded = label.length > left ? SIZE_MAX : (label.length + (size_t)7) & ~(size_t)7;
		if (padded > left || label.kind >= FABRIC_KINDS)
			return;
		messages.plan.handler[label.kind](home, at, label.length);
	}
}

/*
 * Counts the frame. False: one before it is lost. The first ones may be lost, since the other
 * machine may hear of the meeting earlier than this one.
 */
static bool is_next(int home, uint64_t number)
{
	uint64_t *taken = &messages.peer[home].taken;
	const bool next = !*taken || number == *taken;

	*taken = number + 1;
	return next;
}

static bool is_known(const struct frame *frame, size_t length)
{
	return length >= sizeof(*frame) && frame->magic == FRAME && frame->from < messages.count &&
	       messages.peer[frame->from].met &&
	       fabric_same(messages.peer[frame->from].token, frame->token);
}

/* The machines must meet again before anything behind a lost frame is taken. */
static void lose(int home)
{
	messages.peer[home].broken = messages.peer[home].met;
}

/* Shows that frames arrive. */
static void send_empty(int home)
{
	struct fabric_parcel *parcel = make(home, false, 0);

	if (parcel)
		send_frame(parcel);
}

/* The first one is answered: the other machine may not have known the token of those before. */
static void answer_first(int home)
{
	if (!messages.peer[home].heard)
		send_empty(home);
	messages.peer[home].heard = true;
}

bool messages_met(int home)
{
	return messages.peer[home].met;
}

bool messages_arrive(int home)
{
	return messages.peer[home].met && messages.peer[home].heard;
}

void messages_take(const void *bytes, size_t length)
{
	const struct frame *frame = bytes;

	if (!is_known(frame, length) || messages.peer[frame->from].broken)
		return;
	answer_first(frame->from);
	if (is_next(frame->from, frame->number))
		take_messages(frame->from, (const uint8_t *)(frame + 1), length - sizeof(*frame));
	else
		lose(frame->from);
}

void messages_done(struct fabric_parcel *parcel, bool sent)
{
	const int home = parcel->home;

	if (!sent && parcel->meeting == messages.peer[home].meeting)
		lose(home);
	fabric_release(parcel);
}

/* ---- the other machines ---- */

void messages_begin(int home, const uint8_t token[FABRIC_SEAL])
{
	messages.peer[home].met = true;
	messages.peer[home].heard = false;
	messages.peer[home].sent = messages.peer[home].taken = 0;
	memcpy(messages.peer[home].token, token, FABRIC_SEAL);
	send_empty(home);
}

void messages_end(int home)
{
	messages.peer[home].met = messages.peer[home].broken = false;
	send_shared(home);
	/* Parcels of a machine that has gone may be libfabric's for long. */
	messages.peer[home].meeting++;
	messages.peer[home].parcels = 0;
	offer_room();
}
