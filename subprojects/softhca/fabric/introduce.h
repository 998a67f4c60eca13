/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What machines say when they meet: a greeting with a nonce, and an introduction under a seal. */
#ifndef SOFTHCA_FABRIC_INTRODUCE_H
#define SOFTHCA_FABRIC_INTRODUCE_H

#include "carrier.h"

struct greeting {
	uint32_t magic, unused;
	uint8_t nonce[FABRIC_NONCE];
};

#define INTRODUCE_NOBODY 0xffffu

struct introduction {
	uint16_t machine, address_length;
	uint16_t called; /* the machine that its sender called, or INTRODUCE_NOBODY */
	uint8_t address[CARRIER_ADDRESS];
	uint8_t terms[FABRIC_SEAL]; /* of what must be the same on all machines */
	uint8_t seal[FABRIC_SEAL]; /* of both nonces and all members before */
};

_Static_assert(sizeof(struct introduction) <= FABRIC_TEXT, "it is sealed at once");

/* The settings, the list and libfabric's provider, on which machines must agree. 0 or -ENOMEM. */
int introduce_begin(const struct settings *settings, const struct fabric_list *list);

/* A greeting with a new nonce. False: there are no random bytes. */
bool introduce_greet(struct greeting *greeting);

/* NULL, or why the connection by which this greeting came must end. @ours: the nonce sent there. */
const char *introduce_answer(const struct greeting *greeting, const uint8_t ours[FABRIC_NONCE]);

/* This machine's introduction. @called: the machine that it has called; -1 = it was called. */
void introduce_self(struct introduction *introduction, int called, const uint8_t ours[FABRIC_NONCE],
		    const uint8_t theirs[FABRIC_NONCE]);

/* NULL, or why the connection must end. @machine: the machine that was called; -1 = this one. */
const char *introduce_verify(const struct introduction *introduction, int machine,
			     const uint8_t ours[FABRIC_NONCE], const uint8_t theirs[FABRIC_NONCE]);

/* What the frames of this meeting with machine @machine have, in both directions. */
void introduce_token(int machine, const uint8_t ours[FABRIC_NONCE],
		     const uint8_t theirs[FABRIC_NONCE], uint8_t token[FABRIC_TOKEN]);

#endif
