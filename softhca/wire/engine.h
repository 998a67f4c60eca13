/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The HCAs' own activity: doorbells, work requests, retries. */
#ifndef SOFTHCA_ENGINE_H
#define SOFTHCA_ENGINE_H

#include <softhca/machine/hca.h>

/*
 * Does what there is to do now. Nanoseconds until the next turn is wanted; UINT64_MAX = not before
 * something arrives.
 */
uint64_t engine_turn(struct hca_machine *machine);

/*
 * Takes the doorbells that have rung and executes what they announce, but for most of long messages
 * and long queues.
 */
void engine_catch_up(struct hca_machine *machine);

#endif
