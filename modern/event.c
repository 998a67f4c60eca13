/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events of today. */
#include "modern.h"
#include "table.h"
#include "tgt_qp.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

enum modern_event_object modern_event_of(uint32_t type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL ... IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return MODERN_EVENT_OF_QP;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return MODERN_EVENT_OF_SRQ;
	default:
		return MODERN_EVENT_OF_OTHER;
	}
}

int modern_read_async_event(int async_fd, struct ib_uverbs_async_event_desc *desc)
{
	ssize_t got = read(async_fd, desc, sizeof(*desc));

	if (got < 0)
		return -errno;
	return got == sizeof(*desc) ? 0 : -EIO;
}

/* All pointers of the union lie at one place. */
struct ibv_async_event modern_async_event(const struct ib_uverbs_async_event_desc *desc)
{
	struct ibv_async_event event = { .event_type = desc->event_type };

	if (desc->event_type == IBV_EVENT_CQ_ERR || desc->event_type == IBV_EVENT_WQ_FATAL ||
	    modern_event_of(desc->event_type) != MODERN_EVENT_OF_OTHER)
		event.element.qp = (struct ibv_qp *)(uintptr_t)desc->element;
	else
		event.element.port_num = (int)desc->element;
	return event;
}

void modern_ack_async_event(struct ibv_async_event *event)
{
	if (modern_event_of(event->event_type) == MODERN_EVENT_OF_QP &&
	    tgt_qp_is_opened(event->element.qp))
		opened_qp_await_open(event->element.qp);
	modern_table.ack_async_event(event);
}

void modern_uncount_qp_acks(struct ibv_qp *qp, uint32_t events)
{
	pthread_mutex_lock(&qp->mutex);
	qp->events_completed -= events;
	pthread_mutex_unlock(&qp->mutex);
}
