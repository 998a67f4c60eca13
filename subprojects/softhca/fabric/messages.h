/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The functions by which meet.c tells messages.c which machines can be reached. */
#ifndef SOFTHCA_FABRIC_MESSAGES_H
#define SOFTHCA_FABRIC_MESSAGES_H

#include "fabric.h"

/* @lost: libfabric has lost a frame to the machine, which must be met again. */
void messages_open(const struct fabric_plan *plan, const struct fabric_list *list,
		   void (*lost)(int machine));

/* Frames from and to the machine have this token until messages_end(). */
void messages_begin(int machine, const uint8_t token[FABRIC_TOKEN]);
void messages_end(int machine);

/* Whether the machine is met, and whether a frame of it has come since. */
bool messages_met(int machine);
bool messages_arrive(int machine);

/* The functions of struct carrier_plan. */
void messages_take(const void *frame, size_t length);
void messages_done(struct fabric_parcel *parcel, bool sent);

#endif
