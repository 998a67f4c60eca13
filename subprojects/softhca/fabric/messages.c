/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages between machines. The short ones that a turn makes for one machine share a frame. An
 * answer waits a moment for the next request to the same machine, and shares its frame.
 */
#include "messages.h"
#include "carrier.h"

#include <stdlib.h>
#include <string.h>

#define MOST_PARCELS 256 /* of each machine: requests on their way, and shared frames */
#define SHORT 1024u
#define SHARED (8u << 10) /* bytes of a frame of several messages */

static struct messages {
	struct fabric_plan plan;
	void (*lost)(int machine);
	int own, count;
	bool refused; /* a request found no parcel */
	struct {
		bool met, heard; /* a frame of this meeting has come */
		bool broken; /* a frame is lost: the machine must be met again */
		unsigned int parcels; /* of this meeting, that count for MOST_PARCELS */
		unsigned int meeting; /* how many there were */
		uint8_t token[FABRIC_TOKEN];
		uint64_t sent, taken; /* frames of this meeting */
		struct fabric_parcel *shared; /* the frame that is being filled, or NULL */
		bool urgent; /* the shared frame has more than answers */
		bool old; /* the shared frame was there at the last flush */
	} peer[FABRIC_MAX_MACHINES];
} messages;

void messages_open(const struct fabric_plan *plan, const struct fabric_list *list,
		   void (*lost)(int machine))
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

bool fabric_is_full(int machine)
{
	return messages.peer[machine].parcels >= MOST_PARCELS;
}

static struct fabric_parcel *make(int machine, bool limited, size_t room)
{
	struct fabric_parcel *parcel =
		limited && fabric_is_full(machine) ? NULL : malloc(sizeof(*parcel) + room);

	if (!parcel)
		return NULL;
	list_init(&parcel->link);
	parcel->machine = (uint16_t)machine;
	parcel->meeting = messages.peer[machine].meeting;
	parcel->limited = limited;
	parcel->length = 0;
	messages.peer[machine].parcels += limited;
	return parcel;
}

struct fabric_parcel *fabric_new(enum fabric_kind kind, int machine, bool limited, size_t room)
{
	struct fabric_parcel *parcel =
		make(machine, limited, sizeof(struct label) + ((room + 7) & ~(size_t)7));

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
	if (parcel->limited && parcel->meeting == messages.peer[parcel->machine].meeting)
		messages.peer[parcel->machine].parcels--;
	free(parcel);
	offer_room();
}

/* ---- sending ---- */

static void send_frame(struct fabric_parcel *parcel)
{
	const int machine = parcel->machine;

	if (!messages.peer[machine].met) {
		fabric_release(parcel);
		return;
	}
	parcel->frame = (struct carrier_frame){ .magic = CARRIER_MAGIC,
						.from = (uint16_t)messages.own,
						.number = messages.peer[machine].sent++ };
	memcpy(parcel->frame.token, messages.peer[machine].token, FABRIC_TOKEN);
	carrier_send(parcel);
}

static void send_shared(int machine)
{
	struct fabric_parcel *shared = messages.peer[machine].shared;

	messages.peer[machine].shared = NULL;
	messages.peer[machine].urgent = messages.peer[machine].old = false;
	if (shared)
		send_frame(shared);
}

/* Puts a copy of the message into a frame that others share. False: there can be none. */
static bool put_together(const struct fabric_parcel *parcel)
{
	const int machine = parcel->machine;
	struct fabric_parcel *shared = messages.peer[machine].shared;

	if (shared && shared->length + parcel->length > SHARED) {
		send_shared(machine);
		shared = NULL;
	}
	if (!shared)
		shared = make(machine, true, SHARED);
	messages.peer[machine].shared = shared;
	if (!shared)
		return false;
	memcpy((uint8_t *)shared->body + shared->length, parcel->body, parcel->length);
	shared->length += parcel->length;
	messages.peer[machine].urgent |= parcel->kind != FABRIC_ANSWER;
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
	send_shared(parcel->machine);
	send_frame(parcel);
}

/* Not where the loss is noticed: frames and lists may be in use there. Whether there was one. */
static bool meet_broken_again(void)
{
	bool any = false;

	for (int machine = 0; machine < messages.count; machine++) {
		if (!messages.peer[machine].broken)
			continue;
		messages.lost(machine);
		any = true;
	}
	return any;
}

void fabric_flush(void)
{
	meet_broken_again();
	for (int machine = 0; machine < messages.count; machine++) {
		if (messages.peer[machine].urgent || messages.peer[machine].old)
			send_shared(machine);
		messages.peer[machine].old = messages.peer[machine].shared;
	}
	if (messages.count)
		carrier_retry();
}

uint64_t fabric_nap(void)
{
	if (!messages.count)
		return UINT64_MAX;
	for (int machine = 0; machine < messages.count; machine++)
		send_shared(machine);
	/* A lost meeting has started timers that the caller's sleep does not know. */
	return meet_broken_again() ? 0 : carrier_nap();
}

bool fabric_sends(void)
{
	for (int machine = 0; machine < messages.count; machine++)
		send_shared(machine);
	return messages.count && carrier_sends();
}

/* ---- receiving ---- */

static void take_messages(int machine, const uint8_t *at, size_t left)
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
		messages.plan.handler[label.kind](machine, at, label.length);
	}
}

/*
 * Counts the frame. False: one before it is lost. The first ones may be lost, since the other
 * machine may hear of the meeting earlier than this one.
 */
static bool is_next(int machine, uint64_t number)
{
	uint64_t *taken = &messages.peer[machine].taken;
	const bool next = !*taken || number == *taken;

	*taken = number + 1;
	return next;
}

static bool is_known(const struct carrier_frame *frame, size_t length)
{
	return length >= sizeof(*frame) && frame->magic == CARRIER_MAGIC &&
	       frame->from < messages.count && messages.peer[frame->from].met &&
	       fabric_same(messages.peer[frame->from].token, frame->token);
}

/* The machines must meet again before anything behind a lost frame is taken. */
static void lose(int machine)
{
	messages.peer[machine].broken = messages.peer[machine].met;
}

/* Shows that frames arrive. */
static void send_empty(int machine)
{
	struct fabric_parcel *parcel = make(machine, false, 0);

	if (parcel)
		send_frame(parcel);
}

/* The first one is answered: the other machine may not have known the token of those before. */
static void answer_first(int machine)
{
	if (!messages.peer[machine].heard)
		send_empty(machine);
	messages.peer[machine].heard = true;
}

bool messages_met(int machine)
{
	return messages.peer[machine].met;
}

bool messages_arrive(int machine)
{
	return messages.peer[machine].met && messages.peer[machine].heard;
}

void messages_take(const void *bytes, size_t length)
{
	const struct carrier_frame *frame = bytes;

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
	const int machine = parcel->machine;

	if (!sent && parcel->meeting == messages.peer[machine].meeting)
		lose(machine);
	fabric_release(parcel);
}

/* ---- the other machines ---- */

void messages_begin(int machine, const uint8_t token[FABRIC_TOKEN])
{
	messages.peer[machine].met = true;
	messages.peer[machine].heard = false;
	messages.peer[machine].sent = messages.peer[machine].taken = 0;
	memcpy(messages.peer[machine].token, token, FABRIC_TOKEN);
	send_empty(machine);
}

void messages_end(int machine)
{
	messages.peer[machine].met = messages.peer[machine].broken = false;
	send_shared(machine);
	/* Parcels of a machine that has gone may be libfabric's for long. */
	messages.peer[machine].meeting++;
	messages.peer[machine].parcels = 0;
	offer_room();
}
