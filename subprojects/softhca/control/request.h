/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A request of `softhca ctl`, and the commands that answer it. */
#ifndef SOFTHCA_CONTROL_REQUEST_H
#define SOFTHCA_CONTROL_REQUEST_H

#include <machine/hca.h>

#include <stdio.h>

#define MAX_WORDS 8
#define ERRNO_END 4096 /* as in the kernel, where every errno is below */

struct request;

struct command {
	const char *name;
	int (*execute)(struct request *request);
	int least, most; /* words after the name */
	const char *words; /* for people; "" = none */
	const char *help;
};

struct request {
	struct hca_machine *machine;
	int count;
	const char *word[MAX_WORDS];
	const struct command *command;
	FILE *out; /* for the user */
};

/* -EINVAL after a message that says what the command takes. */
int request_usage(const struct request *request);

/* The device of this name, or NULL after a message. */
struct hca_device *request_device(struct request *request, const char *name);

/* Whether @word is a number, @most or less. */
bool request_number(const char *word, uint64_t most, uint64_t *number);

/* Commands: 0 or -errno after a message. */
int control_counters(struct request *request);
int control_capture(struct request *request);
int control_objects(struct request *request);
int control_event(struct request *request);
int control_fault(struct request *request);
int control_port(struct request *request);
int control_migrate(struct request *request);

/* Return names as people write them. */
const char *listing_qp_type(enum ibv_qp_type type);
const char *listing_qp_state(enum ibv_qp_state state);

#endif
