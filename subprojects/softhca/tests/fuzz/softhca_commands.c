/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Hostile write()s on the uverbs file: any sequence of them, valid or not, while the HCA goes on
 * working. Afterwards the context ends, and no object may be left.
 *
 * The input: commands of a number, flags, a count of words and room for the response, and then the
 * words. Unless a flag says otherwise, this program corrects what most commands have right: the
 * header's own length, and a response that can be written. With SOFTHCA_FUZZ_VALID in the
 * environment, a command that is refused ends the program.
 */
#include "softhca_hca.h"

#include <rdma/mlx5-abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <uverbs/cmd.h>

#define COMMANDS  42
#define MAX_WORDS 40u

enum flags {
	RAW_COMMAND = 1,  /* the number is 4 bytes of the input */
	RAW_LENGTH = 2,	  /* in_words is a byte of the input, not the real length */
	RAW_RESPONSE = 4, /* the input gives the response's address */
	EXTENDED = 8,
	WITH_FILE = 16,	  /* attaches a file, for domains */
	WITH_CHANNEL = 32, /* attaches the last completion channel */
	CUT = 64,	  /* the last bytes are missing */
};

static int file = -1;

/*
 * The fuzzer cannot guess addresses: a highest byte of 0xa5 stands for one in the arena, 0x5a for
 * one in memory of the client.
 */
static void put_addresses(const struct fuzz_hca *hca, uint32_t *words, uint32_t count)
{
	for (uint32_t i = 0; i + 1 < count; i++) {
		bool arena = words[i + 1] >> 24 == 0xa5;
		uint64_t address = arena ? ARENA_BASE + (words[i] & (ARENA_SIZE - 1) & ~63u) :
					   hca->scratch + words[i] % SCRATCH_SIZE;

		if (!arena && words[i + 1] >> 24 != 0x5a)
			continue;
		memcpy(words + i, &address, sizeof(address));
		i++;
	}
}

/* Words of the message after the legacy header. */
static uint32_t compose(struct fuzz_hca *hca, struct input *input, uint8_t flags, uint32_t *body,
			uint16_t *in_words)
{
	uint32_t count = take(input, 1) % MAX_WORDS;
	uint32_t head = flags & EXTENDED ? 4 : 0;

	memset(body, 0, head * 4);
	take_bytes(input, body + head, 4 * count);
	put_addresses(hca, body + head, count);
	if (!(flags & RAW_RESPONSE) && (head || count >= 2))
		memcpy(body, &hca->scratch, sizeof(hca->scratch));
	*in_words = (uint16_t)(head ? count / 2 : count + 2);
	if (head && count > 4) {
		/* The driver's part at the end, as the provider sends it. */
		uint16_t provider = take(input, 1) % 4;

		*in_words = (uint16_t)(*in_words > provider ? *in_words - provider : 0);
		memcpy((uint8_t *)body + 8, &provider, sizeof(provider));
		memcpy((uint8_t *)body + 10, &provider, sizeof(provider));
	}
	return head + count;
}

static void one_command(struct fuzz_hca *hca, struct input *input, int *channel)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		uint32_t body[MAX_WORDS + 8];
	} message = { 0 };
	uint8_t number = take(input, 1), flags = take(input, 1), room = take(input, 1);
	uint32_t words = compose(hca, input, flags, message.body, &message.hdr.in_words);
	size_t length = sizeof(message.hdr) + 4 * words;
	uint64_t give_at;
	int give, err;
	int fd = flags & WITH_FILE ? file : flags & WITH_CHANNEL ? *channel : -1;

	message.hdr.command = flags & RAW_COMMAND ? take(input, 4) : number % COMMANDS;
	if (flags & EXTENDED)
		message.hdr.command |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
	message.hdr.out_words = room;
	if (flags & RAW_LENGTH)
		message.hdr.in_words = take(input, 1);
	if (flags & CUT)
		length -= take(input, 1) % length;
	err = cmd_execute(hca->ctx, &message, length, fd, &give, &give_at);
	if (err && getenv("SOFTHCA_FUZZ_VALID")) {
		fprintf(stderr, "command %u: %s\n", message.hdr.command, strerror(-err));
		must(false, "a valid command was refused");
	}
	if (give < 0)
		return;
	if (*channel >= 0)
		close(*channel);
	*channel = give;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* The command has libmlx5's part, which the other models ignore. */
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_get_context body;
		struct mlx5_ib_alloc_ucontext_req_v2 driver;
	} get = {
		.hdr = { IB_USER_VERBS_CMD_GET_CONTEXT, sizeof(get) / 4, 6 },
		.driver = { .total_num_bfregs = 16, .num_low_latency_bfregs = 4,
			    .max_cqe_version = 1 },
	};
	struct fuzz_hca *hca = fuzz_hca_begin();
	struct input input = { data, size };
	int channel = -1;
	uint64_t give_at;
	int give = -1;

	if (file < 0)
		file = memfd_create("domain", MFD_CLOEXEC);
	get.body.response = hca->scratch;
	/*
	 * The context begins with this command. Few inputs would begin so, and without it all
	 * others fail.
	 */
	if (!(take(&input, 1) & 1))
		cmd_execute(hca->ctx, &get, sizeof(get), -1, &give, &give_at);
	if (give >= 0)
		close(give);
	for (int i = 0; input.left && i < 200; i++) {
		one_command(hca, &input, &channel);
		if (i % 4 == 3)
			fuzz_hca_turn(hca);
	}
	fuzz_hca_turn(hca);
	fuzz_hca_end(hca);
	if (channel >= 0)
		close(channel);
	return 0;
}
