/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a QP has sent to another machine and has no answer to. */
#include "qp.h"

#include <stdlib.h>

bool away_begin(struct hca_qp *qp)
{
	if (!qp->send.away)
		qp->send.away = calloc(1, sizeof(*qp->send.away));
	return qp->send.away;
}

unsigned int away_count(const struct hca_qp *qp)
{
	return qp->send.away ? qp->send.away->count : 0;
}

struct hca_flight *away_flight(const struct hca_qp *qp, unsigned int nth)
{
	struct hca_away *away = qp->send.away;

	return &away->flight[(away->first + nth) % HCA_FLIGHTS];
}

void away_add(struct hca_qp *qp, struct hca_flight *flight)
{
	static uint64_t tags;
	struct hca_away *away = qp->send.away;
	struct hca_flight *at = away_flight(qp, away->count);
	const bool again = away->count < away->resent;

	flight->tag = again ? at->tag : ++tags;
	flight->since = again ? at->since : hca_now();
	*at = *flight;
	/* A piece that is sent again may be older than the last one that was begun. */
	if (!again)
		away->begun = qp->sq.next + away->slots + flight->slots;
	away->count++;
	away->packets += flight->packets;
	away->slots += flight->last ? flight->slots : 0;
}

struct hca_flight away_take(struct hca_qp *qp)
{
	struct hca_away *away = qp->send.away;
	const struct hca_flight flight = *away_flight(qp, 0);

	away->round_trip = hca_now() - flight.since;
	away->first = (away->first + 1) % HCA_FLIGHTS;
	away->count--;
	away->resent -= away->resent > 0;
	away->packets -= flight.packets;
	away->slots -= flight.last ? flight.slots : 0;
	return flight;
}

void away_recall(struct hca_qp *qp)
{
	struct hca_away *away = qp->send.away;

	list_del(&qp->send.held);
	if (!away_count(qp))
		return;
	qp->send.sent = away_flight(qp, 0)->offset;
	if (away->resent < away->count)
		away->resent = away->count;
	away->count = away->slots = away->packets = 0;
}

void away_forget(struct hca_qp *qp)
{
	away_recall(qp);
	if (qp->send.away)
		qp->send.away->resent = 0;
}
