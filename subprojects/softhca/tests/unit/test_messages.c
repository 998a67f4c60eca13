/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Messages of another machine are handled in the order in which it has sent them, or not at all. */

#include <fabric/carrier.h>
#include <fabric/messages.h>
#include <wire/wire.h>

#define UNIT_SETUP meet
static int meet(void **state);

#include <harness/unit.h>

#define OTHER 1 /* the machine that sends to itself here */

static const uint8_t token[FABRIC_TOKEN] = "token";
static uint8_t sent[16][sizeof(struct carrier_frame) + 16384];
static size_t length[16];
static unsigned int count;
static uint64_t handled[16];
static unsigned int handled_count, lost_count;
static bool is_sent; /* what libfabric says of the next frame */

static bool no_memory;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return no_memory ? NULL : __real_malloc(size);
}

/* Instead of carrier.c: keeps the frame. */
void carrier_send(struct fabric_parcel *parcel)
{
	length[count] = sizeof(parcel->frame) + parcel->length;
	memcpy(sent[count++], &parcel->frame, sizeof(parcel->frame) + parcel->length);
	messages_done(parcel, is_sent);
}

uint64_t carrier_nap(void)
{
	return UINT64_MAX;
}

bool carrier_sends(void)
{
	return false;
}

void carrier_retry(void)
{
}

static void handle(int machine, const void *body, size_t size)
{
	assert_int_equal(machine, OTHER);
	assert_true(size >= sizeof(handled[0]));
	memcpy(&handled[handled_count++], body, sizeof(handled[0]));
}

static unsigned int offers; /* of room, to those that found none */

static void count_offer(void)
{
	offers++;
}

static void lose(int machine)
{
	assert_int_equal(machine, OTHER);
	lost_count++;
	messages_end(machine);
}

static void send_as(enum fabric_kind kind, uint64_t value, size_t size)
{
	struct fabric_parcel *parcel = fabric_new(kind, OTHER, false, size);

	memcpy(fabric_body(parcel), &value, sizeof(value));
	fabric_send(parcel, size);
}

/* Each message has a frame of its own, as long ones have. */
static void send_value(uint64_t value)
{
	send_as(FABRIC_CM, value, 2048);
}

static void take(unsigned int index)
{
	messages_take(sent[index], length[index]);
}

static int meet(void **state)
{
	static const struct fabric_list list = { .count = 2, .own = OTHER };
	const struct fabric_plan plan = { .handler = { handle, handle, handle },
					  .room = count_offer };

	(void)state;
	messages_end(OTHER);
	count = 0;
	is_sent = true;
	messages_open(&plan, &list, lose);
	messages_begin(OTHER, token);
	assert_int_equal(count, 1);
	count = handled_count = lost_count = 0;
	for (uint64_t value = 0; value < 8; value++)
		send_value(value);
	return 0;
}

TEST(only_the_first_frame_is_answered)
{
	assert_false(messages_arrive(OTHER));
	take(0);
	take(1);
	assert_true(messages_arrive(OTHER));
	assert_int_equal(count, 8 + 1);
	assert_int_equal(length[8], sizeof(struct carrier_frame));
}

TEST(messages_are_handled_in_their_order)
{
	for (unsigned int i = 0; i < 4; i++)
		take(i);
	assert_int_equal(handled_count, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(handled[i], i);
	fabric_flush();
	assert_int_equal(lost_count, 0);
}

TEST(nothing_behind_a_missing_message_is_handled)
{
	take(0);
	take(2);
	take(1);
	take(3);
	assert_int_equal(handled_count, 1);
	fabric_flush();
	assert_int_equal(lost_count, 1);
}

TEST(a_message_that_comes_again_is_not_handled)
{
	take(0);
	take(0);
	assert_int_equal(handled_count, 1);
	fabric_flush();
	assert_int_equal(lost_count, 1);
}

/* Takes the frames that were sent since @first. They have these values, one after the other. */
static void take_values(unsigned int first, uint64_t begin, uint64_t end)
{
	handled_count = 0;
	while (first < count)
		take(first++);
	assert_int_equal(handled_count, end - begin);
	for (unsigned int i = 0; i < handled_count; i++)
		assert_int_equal(handled[i], begin + i);
}

TEST(short_messages_share_a_frame)
{
	take_values(0, 0, 8);
	count = 0;
	for (uint64_t value = 0; value < 4; value++)
		send_as(FABRIC_CM, value, 8);
	assert_int_equal(count, 0);
	fabric_flush();
	assert_int_equal(count, 1);
	take_values(0, 0, 4);
	fabric_flush();
	assert_int_equal(count, 1);
}

TEST(a_shared_frame_goes_before_a_long_one_and_when_it_is_full)
{
	take_values(0, 0, 8);
	count = 0;
	send_as(FABRIC_CM, 0, 8);
	send_value(1);
	assert_int_equal(count, 2);
	for (uint64_t value = 2; value < 11; value++)
		send_as(FABRIC_CM, value, 1000);
	assert_int_equal(count, 3);
	fabric_flush();
	assert_int_equal(count, 4);
	take_values(0, 0, 11);
}

TEST(answers_wait_for_a_request_until_the_next_flush)
{
	take_values(0, 0, 8);
	count = 0;
	send_as(FABRIC_ANSWER, 0, 8);
	fabric_flush();
	assert_int_equal(count, 0);
	fabric_flush();
	assert_int_equal(count, 1);
	send_as(FABRIC_ANSWER, 1, 8);
	fabric_flush();
	send_as(FABRIC_REQUEST, 2, 8);
	fabric_flush();
	assert_int_equal(count, 2);
	send_as(FABRIC_ANSWER, 3, 8);
	fabric_nap();
	assert_int_equal(count, 3);
	take_values(0, 0, 4);
}

/* The other machine may know the token first. */
TEST(the_first_messages_of_a_meeting_may_be_lost)
{
	take(5);
	take(6);
	assert_int_equal(handled_count, 2);
}

TEST(a_message_with_another_token_is_not_handled)
{
	sent[0][sizeof(struct carrier_frame) - 1] ^= 1;
	take(0);
	assert_int_equal(handled_count, 0);
}

TEST(a_lost_message_ends_the_meeting)
{
	assert_int_equal(lost_count, 0);
	is_sent = false;
	send_value(0);
	assert_int_equal(lost_count, 0);
	fabric_flush();
	assert_int_equal(lost_count, 1);
	take(0);
	assert_int_equal(handled_count, 0);
}

TEST(a_shared_frame_that_is_lost_before_a_nap_ends_the_meeting)
{
	is_sent = false;
	send_as(FABRIC_ANSWER, 0, 8);
	assert_int_equal(fabric_nap(), 0);
	assert_int_equal(lost_count, 1);
}

TEST(a_new_meeting_begins_to_count_anew)
{
	take(0);
	take(1);
	meet(state);
	take(0);
	take(2);
	assert_int_equal(handled_count, 1);
}

/* libfabric may keep the parcels of a machine that has gone. */
TEST(a_new_meeting_has_room_again)
{
	struct fabric_parcel *parcel[1000];
	unsigned int limit = 0;

	while ((parcel[limit] = fabric_new(FABRIC_REQUEST, OTHER, true, 8)))
		assert_true(++limit < 1000);
	offers = 0;
	messages_end(OTHER);
	assert_int_equal(offers, 1);
	messages_begin(OTHER, token);
	parcel[limit] = fabric_new(FABRIC_REQUEST, OTHER, true, 8);
	assert_non_null(parcel[limit]);
	for (unsigned int i = 0; i <= limit; i++)
		fabric_release(parcel[i]);
	/* Those of the first meeting have given no room to the second. */
	for (unsigned int i = 0; i < limit; i++)
		assert_non_null(parcel[i] = fabric_new(FABRIC_REQUEST, OTHER, true, 8));
	assert_null(fabric_new(FABRIC_REQUEST, OTHER, true, 8));
	for (unsigned int i = 0; i < limit; i++)
		fabric_release(parcel[i]);
}

TEST(a_datagram_waits_for_room_but_not_for_memory)
{
	static const struct wqe wqe = { .opcode = OP_SEND };
	struct attempt attempt = { .wqe = &wqe, .last = true };
	struct fabric_parcel *parcel[1000];
	unsigned int limit = 0;

	no_memory = true;
	assert_int_equal(far_cast(&attempt, OTHER), SENT);
	no_memory = false;
	while ((parcel[limit] = fabric_new(FABRIC_REQUEST, OTHER, true, 8)))
		assert_true(++limit < 1000);
	assert_int_equal(far_cast(&attempt, OTHER), HELD);
	while (limit)
		fabric_release(parcel[--limit]);
}

UNIT_MAIN(NULL, NULL)
