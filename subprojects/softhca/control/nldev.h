/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A netlink request on its way through the files that answer it. */
#ifndef SOFTHCA_CONTROL_NLDEV_H
#define SOFTHCA_CONTROL_NLDEV_H

#include <base/nl.h>
#include <machine/hca.h>

/* Stands for an attribute that the request does not have. */
#define NLDEV_NOT_GIVEN UINT32_MAX

struct question {
	const struct hca_machine *machine;
	const uint8_t *attributes;
	size_t size;
	uint16_t type, flags; /* of each answer */
	uint32_t seq;
	uint32_t port; /* of the request, or NLDEV_NOT_GIVEN */
	struct nl *nl;
};

/* The number in this attribute of the request, or NLDEV_NOT_GIVEN. */
uint32_t nldev_asked(const struct question *q, uint16_t attribute);
bool nldev_is_dump(const struct question *q);
/* True also if the request names no port. */
bool nldev_port_is_valid(const struct question *q);

/*
 * A dump asks for all objects, or for those of one port. Any other request asks for the object
 * whose number is in this attribute, and names its port if such objects have one.
 */
bool nldev_is_valid(const struct question *q, uint16_t attribute, bool has_port);
bool nldev_wants_port(const struct question *q, uint32_t port);
bool nldev_wants_number(const struct question *q, uint16_t attribute, uint32_t number);

/* Begins an answer about @device. */
void nldev_begin(const struct question *q, const struct hca_device *device);

/* Answers a question about objects of @device. 0, or -EOPNOTSUPP for other commands. */
int nldev_answer_objects(const struct question *q, const struct hca_device *device);

#endif
