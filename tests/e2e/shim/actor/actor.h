/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Actors: each is one opened device. In mode CONTEXTS all of them live in this process; in mode
 * PROCESSES each is a forked child that opened the device after the fork. A row is written once and
 * runs in both.
 */
#ifndef TESTS_E2E_SHIM_ACTOR_H
#define TESTS_E2E_SHIM_ACTOR_H

#include "request.h"

enum mode { CONTEXTS, PROCESSES, MODES };

/* How an actor ends without destroying its objects. BY_EXIT and BY_KILL need mode PROCESSES. */
enum end { BY_CLOSE_DEVICE, BY_EXIT, BY_KILL };

struct actor;

extern enum mode actor_mode;

/** actor_new - an actor without a device. Ends the row on failure. */
struct actor *actor_new(void);

/** actor_open - an actor with this device opened. Ends the row on failure. */
struct actor *actor_open(int device);

/** actor_ask - what the actor answers. Ends the row if it dies or gives no answer in time. */
struct result actor_ask(struct actor *actor, struct request request);

/**
 * actor_end - ends the actor and leaves its objects to the kernel. A process has been reaped when
 * this returns.
 */
void actor_end(struct actor *actor, enum end how);

/** actor_lid - LID of port 1 of its device. */
uint16_t actor_lid(const struct actor *actor);

/** actor_path - an address vector to that port: by its LID, or on Ethernet by its GID. */
struct ibv_ah_attr actor_path(const struct actor *actor);

#endif
