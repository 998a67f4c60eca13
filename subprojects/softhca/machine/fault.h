/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Faults on purpose: of the wire, at a rate, and of single commands. */
#ifndef SOFTHCA_FAULT_H
#define SOFTHCA_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_DROP,	 /* a packet is lost, or arrives with a wrong ICRC, which is the same */
	FAULT_DUPLICATE, /* a request arrives twice */
	FAULT_DELAY,	 /* a request arrives late */
	FAULT_KINDS,
};

#define FAULT_ALWAYS	1000000u /* rate of a fault that hits everything */
#define FAULT_MAX_DELAY 10000000u
#define FAULT_COMMANDS	8
#define FAULT_ANY	UINT32_MAX

/* A command that is to fail. */
struct fault_command {
	uint32_t command; /* as in the header of the write(); FAULT_ANY = whichever comes */
	int err;	  /* errno */
	uint32_t times;	  /* how often it still fails; 0 = free slot */
};

/* The faults of what one device sends, requests and answers. */
struct faults {
	uint32_t rate[FAULT_KINDS]; /* of a million; 0 = never */
	uint64_t hits[FAULT_KINDS];
	uint32_t delay; /* microseconds */
	uint64_t random;
	struct fault_command command[FAULT_COMMANDS];
};

/* The same seed and the same traffic make the same faults. */
void fault_seed(struct faults *faults, uint64_t seed);

/* Switches all faults off, and keeps the counts. */
void fault_clear(struct faults *faults);

/* Whether the fault strikes now, by its rate. */
bool fault_strikes(struct faults *faults, enum fault_kind kind);

/* Whether FAULT_COMMANDS failures are planned already. */
bool fault_is_full(const struct faults *faults);

/* Only if there is room. */
void fault_plan_command(struct faults *faults, uint32_t command, int err, uint32_t times);

/* 0, or the -errno with which the command fails. */
int fault_of_command(struct faults *faults, uint32_t command);

/* "5%", "0.1%" or "0" as a rate. 0 or -EINVAL. */
int fault_parse_rate(const char *text, uint32_t *rate);

#endif
