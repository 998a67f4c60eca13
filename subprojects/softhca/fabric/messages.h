/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What meet.c tells of the machines to those who send messages. */
#ifndef SOFTHCA_FABRIC_MESSAGES_H
#define SOFTHCA_FABRIC_MESSAGES_H

#include "fabric.h"

void messages_open(const struct fabric_plan *plan, const struct fabric_list *list);

/* Messages from and to the machine have this token, until it parts. */
void messages_meet(int home, const uint8_t token[FABRIC_SEAL]);
void messages_part(int home);

/* A frame has come. Nothing in it has been checked. */
void messages_take(const void *frame, size_t length);

#endif
