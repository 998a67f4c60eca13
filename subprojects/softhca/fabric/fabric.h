/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The wire between machines. Their daemons meet by TCP, prove to each other that they have the same
 * key, and then send messages by libfabric, which knows the networks.
 */
#ifndef SOFTHCA_FABRIC_H
#define SOFTHCA_FABRIC_H

#include <base/list.h>
#include <machine/settings.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FABRIC_MAX_MACHINES 256
#define FABRIC_NAME 254 /* bytes of a host name, its end included */
#define FABRIC_BODY (72u << 10) /* the most that a frame carries */

/* Precedes each message of a frame. Zeroes fill the message up to a multiple of 8 bytes. */
struct label {
	uint32_t kind, length;
};

/* ---- the list of machines (hosts.c) ---- */

struct fabric_host {
	char name[FABRIC_NAME];
	struct sockaddr_in6 address; /* of IPv4, too */
	socklen_t length;
};

struct fabric_list {
	int count, own; /* machines; this one */
	struct fabric_host host[FABRIC_MAX_MACHINES];
};

/*
 * Reads a hostfile of an MPI: a name a line, with anything behind a blank or a colon; lines that
 * begin with '#' are comments, and a name that comes again is the same machine. Finds their
 * addresses, and this machine by its own. 0, or -errno with a sentence in @why.
 */
int fabric_read_list(const char *path, struct fabric_list *list, char *why, size_t size);

/* ---- the key (seal.c) ---- */

#define FABRIC_SEAL 16
#define FABRIC_NONCE FABRIC_SEAL
#define FABRIC_TOKEN FABRIC_SEAL

/* Reads the key of @path, or of ~/.softhca-key, and makes it if need be. 0 or -errno; @why. */
int fabric_read_key(const char *path, char *why, size_t size);

/* SipHash-2-4 of the bytes under the key: 128 bits. */
void fabric_seal(const void *bytes, size_t length, uint8_t seal[FABRIC_SEAL]);

/* The hash of two nonces, in an order that both sides know, and at most FABRIC_TEXT bytes. */
#define FABRIC_TEXT 256
void fabric_seal_text(const uint8_t first[FABRIC_NONCE], const uint8_t second[FABRIC_NONCE],
		      const void *text, size_t length, uint8_t seal[FABRIC_SEAL]);

/* Whether two seals, two nonces or two tokens are the same. */
bool fabric_same(const uint8_t one[FABRIC_SEAL], const uint8_t other[FABRIC_SEAL]);

/* ---- messages (messages.c) ---- */

/* What a message is for. Each has one handler. */
enum fabric_kind { FABRIC_REQUEST, FABRIC_ANSWER, FABRIC_CM, FABRIC_KINDS };

/* Handles a body that @machine has sent. Nothing in it has been checked. */
typedef void fabric_handler(int machine, const void *body, size_t length);

/* A message that is filled in and sent, or released. The body is aligned for any object. */
struct fabric_parcel;
void *fabric_body(struct fabric_parcel *parcel);

/*
 * For @machine. NULL: no memory; or the message is @limited, and too many such are on their
 * way there. The plan's room() tells when there are fewer.
 */
struct fabric_parcel *fabric_new(enum fabric_kind kind, int machine, bool limited, size_t room);

/* Whether too many @limited messages are on their way to @machine. */
bool fabric_is_full(int machine);

/* A machine that cannot be reached gets nothing. */
void fabric_send(struct fabric_parcel *parcel, size_t length);
void fabric_release(struct fabric_parcel *parcel);

/* Sends shared frames. One with answers only waits for the next call: a request may join it. */
void fabric_flush(void);

/* Sends all. Nanoseconds that the daemon may sleep, as far as messages are concerned. */
uint64_t fabric_nap(void);

/* Sends all, and goes on sending. Whether libfabric has not sent all yet. */
bool fabric_sends(void);

/* ---- the daemon's side (meet.c) ---- */

struct fabric_plan {
	const struct settings *settings;
	fabric_handler *handler[FABRIC_KINDS];
	void (*room)(void); /* requests that found no parcel may try again */
};

/* Meets the machines of the list. 0, or -errno with a sentence in @why. */
int fabric_open(const struct fabric_plan *plan, const struct fabric_list *list, struct list *timers,
		char *why, size_t size);

/* Closes the ports. Nothing may be sent afterwards. */
void fabric_close(void);

/* Whether all have met. Otherwise *why, if not NULL, says which machine is missing, and why. */
bool fabric_complete(char *why, size_t size);

/* If there are several machines, a line for each: the provider, "met", or why it is not met. */
void fabric_print(FILE *out);

#endif
