/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A netlink request on its way through the files that answer it. */
#ifndef SOFTHCA_CONTROL_NLDEV_H
#define SOFTHCA_CONTROL_NLDEV_H

#include "nl.h"

#include <softhca/machine/hca.h>

struct question {
	const struct hca_machine *machine;
	const uint8_t *attributes;
	size_t size;
	uint16_t type, flags; /* of each answer */
	uint32_t seq;
	struct nl *nl;
};

/* Begins an answer about @device. */
void nldev_begin(const struct question *q, const struct hca_device *device);

/* Answers a question about objects of @device. 0, or -EOPNOTSUPP for other commands. */
int nldev_answer_objects(const struct question *q, const struct hca_device *device);

#endif
