/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* When a completion queue that was armed raises an event. */
#include "cq_arm.h"

void cq_arm_init(struct cq_arm *arm)
{
	arm->notified = 0;
	arm->solicited = 0;
	arm->fired = -1;
}

void cq_arm_solicited(struct cq_arm *arm, uint32_t index)
{
	arm->solicited = index + 1;
}

/* a - b of 24-bit counters. */
static int32_t ahead24(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

bool cq_arm_fires(struct cq_arm *arm, struct arm_request request, uint32_t producer)
{
	uint32_t last = request.kind == ARM_SOLICITED ? arm->solicited : producer;

	if (request.kind == ARM_NONE)
		return false;
	/*
	 * One event per sequence number: the provider counts it on when the program has fetched the
	 * event.
	 */
	if (arm->fired == request.sequence)
		return false;
	/*
	 * What the program had polled when it armed, and what an event has told already, is no
	 * news.
	 */
	if (ahead24(last, request.consumer) <= 0 || (int32_t)(last - arm->notified) <= 0)
		return false;
	arm->notified = producer;
	arm->fired = request.sequence;
	return true;
}
