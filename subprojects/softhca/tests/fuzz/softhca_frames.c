/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Frames of another machine that knows the token of the meeting. */
#include "softhca_hca.h"

#include <fabric/carrier.h>
#include <fabric/messages.h>

#include <stdlib.h>
#include <string.h>

static const uint8_t token[FABRIC_TOKEN] = "token";
static bool handled;
static uint64_t next; /* number of a frame */

/* Reads each byte of the body. AddressSanitizer reports a body that ends behind its frame. */
static void handle(int machine, const void *body, size_t length)
{
	const uint8_t *bytes = body;
	volatile uint8_t last;

	must(machine == FUZZ_FAR, "a message of nobody");
	must((uintptr_t)body % sizeof(uint64_t) == 0, "a body that is not aligned");
	for (size_t i = 0; i < length; i++)
		last = bytes[i];
	(void)last;
	handled = true;
}

static void lose(int machine)
{
	messages_end(machine);
	messages_begin(machine, token);
	next = 0;
}

static void offer(void)
{
}

/* Its first messages have right labels, as @right says. The others are as the input is. */
static void one_frame(struct input *input)
{
	const uint8_t flags = take(input, 1), right = take(input, 1) % 4;
	const size_t length = sizeof(struct carrier_frame) + take(input, 1) * 4;
	uint8_t *bytes = malloc(length);
	struct carrier_frame frame = { .number = next + (flags == 1) };

	must(bytes != NULL, "no memory");
	frame.magic = CARRIER_MAGIC ^ (flags == 2);
	frame.from = FUZZ_FAR + (flags == 3 ? take(input, 2) : 0);
	memcpy(frame.token, token, sizeof(token));
	frame.token[0] ^= flags == 4;
	memcpy(bytes, &frame, sizeof(frame));
	take_bytes(input, bytes + sizeof(frame), (uint32_t)(length - sizeof(frame)));
	for (size_t i = 0, at = sizeof(frame); i < right && at + 16 <= length; i++, at += 16) {
		const uint32_t label[2] = { (uint32_t)i, 8 };

		memcpy(bytes + at, label, sizeof(label));
	}
	/* One that is not known has no number for the receiver. */
	if (flags < 2 || flags > 5)
		next++;
	messages_take(bytes, flags == 5 ? take(input, 1) % sizeof(frame) : length);
	free(bytes);
	/* After a number that was not the next one, the machines meet again. */
	fabric_flush();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fabric_list list = { .count = 2 };
	const struct fabric_plan plan = { .handler = { handle, handle, handle }, .room = offer };
	struct input input = { data, size };

	messages_open(&plan, &list, lose);
	lose(FUZZ_FAR);
	handled = false;
	for (int i = 0; input.left && i < 50; i++)
		one_frame(&input);
	count_accepted(handled);
	return 0;
}
