/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What carries messages between machines: libfabric, opened at run time (carrier.c). */
#ifndef SOFTHCA_FABRIC_CARRIER_H
#define SOFTHCA_FABRIC_CARRIER_H

#include "fabric.h"

#define CARRIER_ADDRESS 128 /* the most bytes of an address */

#define CARRIER_MAGIC 0x53484632u /* "SHF2"; also tells the order of bytes */

/* What each message begins with. */
struct carrier_frame {
	uint32_t magic; /* CARRIER_MAGIC */
	uint16_t from, unused;
	uint64_t number; /* of those that its sender has sent in this meeting */
	uint8_t token[FABRIC_TOKEN]; /* of this meeting of the two machines */
};

#define CARRIER_FRAME (sizeof(struct carrier_frame) + FABRIC_BODY)

/* The context is libfabric's while the message is on its way. */
struct fabric_parcel {
	void *context[8];
	struct list link;
	uint16_t machine; /* which gets it */
	uint16_t kind; /* of its only message; unused if others share the frame, or it is empty */
	bool limited; /* it counts against the limit of its machine */
	unsigned int meeting;
	size_t length; /* of the body */
	struct carrier_frame frame;
	uint64_t body[];
};

_Static_assert(offsetof(struct fabric_parcel, body) ==
		       offsetof(struct fabric_parcel, frame) + sizeof(struct carrier_frame),
	       "the body follows the frame");

struct carrier_plan {
	const struct fabric_host *own;
	int port;
	/* A frame has come. Nothing in it has been checked. */
	void (*take)(const void *frame, size_t length);
	/* libfabric has released the parcel: it was sent, or is lost. */
	void (*done)(struct fabric_parcel *parcel, bool sent);
};

/* 0, or -errno with a sentence in @why. */
int carrier_open(const struct carrier_plan *plan, char *why, size_t size);

/* Leaves the port, if it is open. */
void carrier_close(void);

/* Which of libfabric's providers was taken, as "tcp;ofi_rxm". */
const char *carrier_provider(void);

/* The address by which others reach this machine. */
const void *carrier_address(size_t *length);

/* Machine @machine has this address from now on, or none any more. 0 or -errno. */
int carrier_reach(int machine, const void *address, size_t length);
void carrier_leave(int machine);

/* Sends the parcel to its machine, in the order of the calls. */
void carrier_send(struct fabric_parcel *parcel);

/* Sends what has waited. */
void carrier_retry(void);

/* The same, and takes what has come. Nanoseconds that the daemon may sleep then. */
uint64_t carrier_nap(void);

/* Goes on sending. Whether a parcel has not been sent yet. */
bool carrier_sends(void);

#endif
