/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a dead daemon leaves undone: requests that are posted complete with a flush error, as those of a queue pair in ERR. The
 * ledger says how far the daemon was; here it is written on.
 */
#include "client.h"

#include <softhca/ledger.h>
#include <softhca/model/model.h>
#include <softhca/proto.h>

#include <endian.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define CONSUMER_MASK 0xffffffu

/* The program may have given its rings back: that must not crash it. */
static bool load(void *to, uint64_t from, size_t length)
{
	struct iovec here = { to, length };
	struct iovec there = { (void *)(uintptr_t)from, length };

	return process_vm_readv(own_tid(), &here, 1, &there, 1, 0) == (ssize_t)length;
}

/* The last bytes last: they make the entry valid for whoever polls at the same time. */
static bool store_entry(uint64_t to, const uint8_t *bytes, size_t length)
{
	const size_t tail = sizeof(uint32_t);
	struct iovec here = { (void *)bytes, length };
	struct iovec there[] = { { (void *)(uintptr_t)to, length - tail }, { (void *)(uintptr_t)(to + length - tail), tail } };

	return process_vm_writev(own_tid(), &here, 1, there, 2, 0) == (ssize_t)length;
}

static const struct model *model_of(const struct ledger *ledger)
{
	for (uint32_t i = 0; models[i]; i++) {
		if (i == ledger->model)
			return models[i];
	}
	return NULL;
}

/* ---- where the daemon stopped ---- */

static uint64_t entry_at(const struct ledger_cq *cq, uint32_t index)
{
	return cq->buffer + (uint64_t)(index & (cq->size - 1)) * cq->entry;
}

static bool is_written(const struct model *model, const struct ledger_cq *cq)
{
	uint8_t last;

	return load(&last, entry_at(cq, cq->producer) + cq->entry - 1, 1) && model->is_valid(last, cq->producer & cq->size);
}

/* It died after it had written a completion and before it noted so. */
static void catch_up(struct ledger *ledger, const struct model *model, struct ledger_cq *cq)
{
	uint32_t place = cq->coming & ~LEDGER_SEND;

	if (!is_written(model, cq))
		return;
	if (cq->coming != LEDGER_NOTHING && place < LEDGER_QPS) {
		struct ledger_qp *qp = &ledger->qp[place];

		*(cq->coming & LEDGER_SEND ? &qp->sq.next : &qp->rq.next) = cq->coming_next;
	}
	cq->producer++;
}

/* ---- flushing ---- */

static bool has_room(const struct ledger_cq *cq)
{
	uint32_t consumer;

	return load(&consumer, cq->record, sizeof(consumer)) &&
	       ((cq->producer - be32toh(consumer)) & CONSUMER_MASK) < cq->size;
}

/* False when there is no such CQ, or no room: then it is tried again when the program has polled. */
static bool complete(struct ledger *ledger, const struct model *model, uint32_t place, const struct cqe *cqe)
{
	struct ledger_cq *cq = place < LEDGER_CQS ? &ledger->cq[place] : NULL;
	uint8_t bytes[CQE_MAX_BYTES];
	struct cqe_format format;

	if (!cq || !cq->used || cq->entry > sizeof(bytes) || !has_room(cq))
		return false;
	format = (struct cqe_format){ cq->entry, cq->producer & cq->size, (uint8_t)ledger->cqe_version };
	model->build_cqe(cqe, &format, bytes);
	if (!store_entry(entry_at(cq, cq->producer), bytes, cq->entry))
		return false;
	cq->producer++;
	return true;
}

static struct ring ring_of(const struct ledger_queue *queue)
{
	return (struct ring){
		.buffer = queue->buffer, .record = queue->record, .count = queue->count, .shift = queue->shift, .next = queue->next,
	};
}

/* Slots of the request at the head of a send queue; 0 = nothing is posted. */
static uint32_t send_at_hand(const struct model *model, const struct ledger_queue *queue)
{
	struct ring ring = ring_of(queue);
	uint8_t head[WQE_MAX_BYTES];
	uint32_t word, posted, slots;

	if (!ring.count || !load(&word, model->sq_word(&ring), sizeof(word)))
		return 0;
	posted = model->sq_known(&ring, word) - ring.next;
	if (!posted || 1u << ring.shift > sizeof(head) ||
	    !load(head, ring.buffer + ((uint64_t)(ring.next & (ring.count - 1)) << ring.shift), (size_t)1 << ring.shift))
		return 0;
	slots = model->wqe_slots(head);
	return slots < posted ? slots : posted;
}

static void flush_sends(struct ledger *ledger, const struct model *model, struct ledger_qp *qp)
{
	uint32_t slots;

	for (uint32_t left = qp->sq.count; left && (slots = send_at_hand(model, &qp->sq)); left--) {
		const struct cqe cqe = {
			.qpn = qp->qpn, .send = true, .wqe_index = (uint16_t)qp->sq.next, .syndrome = SYNDROME_FLUSH,
			.user_index = qp->user_index,
		};

		if (!complete(ledger, model, qp->send_cq, &cqe))
			return;
		qp->sq.next += slots;
	}
}

static void flush_receives(struct ledger *ledger, const struct model *model, struct ledger_qp *qp)
{
	uint32_t word;
	uint16_t posted;

	if (!qp->rq.count || !load(&word, qp->rq.record, sizeof(word)))
		return;
	posted = (uint16_t)(be32toh(word) - qp->rq.next);
	if (posted > qp->rq.count)
		return;
	for (; posted; posted--) {
		const struct cqe cqe = {
			.qpn = qp->qpn, .wqe_index = (uint16_t)qp->rq.next, .syndrome = SYNDROME_FLUSH, .user_index = qp->user_index,
		};

		if (!complete(ledger, model, qp->recv_cq, &cqe))
			return;
		qp->rq.next++;
	}
}

/* ---- a context ---- */

struct ledger *flush_open(int fd)
{
	struct ledger *ledger = real()->mmap64(NULL, LEDGER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
					       (off64_t)SOFTHCA_UAR_LEN * SOFTHCA_UAR_PAGES);
	const struct model *model;

	if (ledger == MAP_FAILED)
		return NULL;
	model = model_of(ledger);
	for (uint32_t i = 0; model && i < ledger->cqs && i < LEDGER_CQS; i++) {
		if (ledger->cq[i].used)
			catch_up(ledger, model, &ledger->cq[i]);
	}
	return ledger;
}

void flush_posted(struct ledger *ledger)
{
	const struct model *model = ledger ? model_of(ledger) : NULL;

	for (uint32_t i = 0; model && i < ledger->qps && i < LEDGER_QPS; i++) {
		struct ledger_qp *qp = &ledger->qp[i];

		if (!qp->used || !qp->active)
			continue;
		flush_sends(ledger, model, qp);
		flush_receives(ledger, model, qp);
	}
}

void flush_close(struct ledger *ledger)
{
	if (ledger)
		real()->munmap(ledger, LEDGER_BYTES);
}
