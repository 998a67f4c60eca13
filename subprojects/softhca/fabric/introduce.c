/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Greetings and introductions. The seal of an introduction proves that its sender has the key, and
 * does not contain it. It covers both nonces, so it is valid on this connection only. It covers
 * the machine that was called, so another one cannot pass it on.
 */
#include "introduce.h"

#include <machine/hca.h>
#include <proto.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define GREETING 0x53484631u /* "SHF1"; also tells the order of bytes */

static const struct fabric_list *machines;
static uint8_t terms[FABRIC_SEAL];

int introduce_begin(const struct settings *settings, const struct fabric_list *list)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	machines = list;
	if (!out)
		return -ENOMEM;
	fprintf(out, "%u %s %s %d %d %d %x", SOFTHCA_VERSION, carrier_provider(),
		settings->model->name, settings->devices, settings->ports, settings->ethernet,
		settings->address);
	for (int i = 0; i < list->count; i++)
		fprintf(out, " %s", list->host[i].name);
	if (fclose(out))
		return -ENOMEM;
	fabric_seal(text, size, terms);
	free(text);
	return 0;
}

bool introduce_greet(struct greeting *greeting)
{
	*greeting = (struct greeting){ .magic = GREETING };
	return getrandom(greeting->nonce, FABRIC_NONCE, 0) == FABRIC_NONCE;
}

const char *introduce_answer(const struct greeting *greeting, const uint8_t ours[FABRIC_NONCE])
{
	if (greeting->magic != GREETING)
		return "no softhca speaks there";
	/* A stranger could echo the nonce, and then echo the introduction, too. */
	return fabric_same(greeting->nonce, ours) ? "it repeats what it hears" : NULL;
}

static void seal(const struct introduction *introduction, const uint8_t sender[FABRIC_NONCE],
		 const uint8_t receiver[FABRIC_NONCE], uint8_t out[FABRIC_SEAL])
{
	fabric_seal_text(sender, receiver, introduction, offsetof(struct introduction, seal), out);
}

void introduce_self(struct introduction *introduction, int called, const uint8_t ours[FABRIC_NONCE],
		    const uint8_t theirs[FABRIC_NONCE])
{
	size_t length;
	const void *address = carrier_address(&length);

	*introduction = (struct introduction){
		.machine = (uint16_t)machines->own,
		.address_length = (uint16_t)length,
		.called = called < 0 ? INTRODUCE_NOBODY : (uint16_t)called,
	};
	memcpy(introduction->address, address, length);
	memcpy(introduction->terms, terms, FABRIC_SEAL);
	seal(introduction, ours, theirs, introduction->seal);
}

const char *introduce_verify(const struct introduction *introduction, int machine,
			     const uint8_t ours[FABRIC_NONCE], const uint8_t theirs[FABRIC_NONCE])
{
	uint8_t right[FABRIC_SEAL];

	seal(introduction, theirs, ours, right);
	if (!fabric_same(right, introduction->seal))
		return "it has another key";
	if (!fabric_same(terms, introduction->terms))
		return "it has another list of machines, other settings, another release of softhca, or another "
		       "provider of libfabric";
	if (introduction->called != (machine < 0 ? (unsigned int)machines->own : INTRODUCE_NOBODY))
		return "it repeats what another machine says";
	/* The later machine of the list calls the earlier one. */
	if (introduction->machine >= machines->count ||
	    (machine < 0 ? introduction->machine <= machines->own
			 : introduction->machine != machine))
		return "it is at another place of the list";
	return introduction->address_length <= CARRIER_ADDRESS ? NULL : "its address is too long";
}

void introduce_token(int machine, const uint8_t ours[FABRIC_NONCE],
		     const uint8_t theirs[FABRIC_NONCE], uint8_t token[FABRIC_TOKEN])
{
	const bool later = machine > machines->own;

	fabric_seal_text(later ? ours : theirs, later ? theirs : ours, "token", 5, token);
}
