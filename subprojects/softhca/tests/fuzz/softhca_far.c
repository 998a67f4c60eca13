/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Requests and answers of the other machine, made of the input. */
#include "softhca_hca.h"

#include <wire/far.h>
#include <wire/wire.h>

#define FAR_BYTES 1024u

/* Bits of the first @words bytes, and the length if the flags say so. */
static void spoil(struct input *input, uint8_t flags, uint8_t *bytes, size_t words, size_t *length)
{
	for (int i = 0; i < (flags & 3); i++) {
		uint32_t bit = take(input, 2) % (8 * words);

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	if (flags & 4)
		*length = take(input, 2) % (flags & 32 ? words + FAR_BYTES : *length + 1);
}

/* The answer to an atomic has the word that was there, even if the request says another length. */
static void repeat_atomic(struct input *input, const struct hca_qp *qp, struct far_request *request)
{
	request->psn = qp->recv.atomic_psn;
	request->length = request->part = take(input, 2);
	request->last = true;
	fuzz_sent = 0;
	fuzz_deliver(far_take_request, request, sizeof(*request));
	must(fuzz_sent <= sizeof(struct far_answer) + sizeof(uint64_t),
	     "an answer that is too long");
}

/* A machine that names the LID of a third one gets no answer, and nothing arrives. */
static void deliver(const struct fuzz_hca *hca, const struct far_request *request, size_t length)
{
	const uint64_t *received = &hca->machine.device[0].port[1].counts.received;
	const uint64_t before = *received;

	fuzz_sent = 0;
	fuzz_deliver(far_take_request, request, length);
	must(request->slid != fuzz_lid(hca, FUZZ_THIRD) || (!fuzz_sent && *received == before),
	     "a machine has spoken for another one");
}

void fuzz_request(const struct fuzz_hca *hca, struct input *input, const struct hca_qp *qp,
		  uint32_t rkey, uint32_t srqn)
{
	static const uint8_t opcodes[] = { OP_SEND, OP_SEND_IMM,  OP_WRITE,    OP_WRITE_IMM,
					   OP_READ, OP_ATOMIC_CS, OP_ATOMIC_FA };
	struct {
		struct far_request words;
		uint8_t bytes[FAR_BYTES];
	} message = { 0 };
	const uint8_t flags = take(input, 1), what = take(input, 1) % sizeof(opcodes);
	const bool third = !(take(input, 1) % 8);
	const uint32_t part = what > 4 ? 8 : take(input, 2) % FAR_BYTES;
	const uint64_t more = flags & 8 ? take(input, 2) : 0;
	size_t length = sizeof(message.words) + (what < 4 ? part : 0);

	message.words = (struct far_request){
		.length = part + more,
		.part = part,
		.last = !more,
		.remote_address = hca->scratch + (take(input, 2) & ~7u),
		.rkey = rkey,
		.qpn = qp->attr.dest_qpn,
		.psn = qp->attr.rq_psn,
		.srqn = srqn,
		.slid = third ? fuzz_lid(hca, FUZZ_THIRD) : fuzz_lid(hca, FUZZ_FAR),
		.type = qp->type == IBV_QPT_XRC_RECV ? IBV_QPT_XRC_SEND : (uint8_t)qp->type,
		.opcode = opcodes[what],
		.path_mtu = IBV_MTU_1024,
	};
	message.words.av.dlid =
		flags & 64 ? fuzz_lid(hca, FUZZ_FAR) : hca->machine.device[0].port[1].lid;
	message.words.av.qpn = qp->qpn;
	if (flags & 16 && more) {
		message.words.offset = more;
		message.words.last = true;
	}
	spoil(input, flags, (uint8_t *)&message, sizeof(message.words), &length);
	deliver(hca, &message.words, length);
	if (what > 4 && !(flags & 7) && qp->recv.atomic_known)
		repeat_atomic(input, qp, &message.words);
}

void fuzz_answer(const struct fuzz_hca *hca, struct input *input, const struct hca_qp *qp)
{
	struct {
		struct far_answer words;
		uint8_t bytes[FAR_BYTES];
	} message = { 0 };
	const uint8_t flags = take(input, 1);
	const unsigned int nth = take(input, 1) % away_count(qp);
	const struct hca_flight *flight = away_flight(qp, nth);
	const uint64_t *sent = &hca->machine.device[0].port[1].counts.sent, before = *sent;
	const uint64_t tag = flight->tag;
	size_t length = sizeof(message.words);

	if (flight->reads)
		length += flight->part % FAR_BYTES;
	message.words = (struct far_answer){
		.tag = flight->tag,
		.qpn = qp->qpn,
		.slid = hca->machine.device[0].port[1].lid,
		.outcome = flags & 8 ? take(input, 1) % 8 : (uint8_t)(flight->last ? SENT : PART),
		.syndrome = flags & 16 ? take(input, 1) : 0,
	};
	spoil(input, flags, (uint8_t *)&message, sizeof(message.words), &length);
	fuzz_deliver(far_take_answer, &message, length);
	/* A spoiled tag can be that of a later piece, whose answer acknowledges those before it. */
	must(message.words.outcome != FAILED || nth || message.words.tag != tag || *sent == before,
	     "a failure that is a success");
}
