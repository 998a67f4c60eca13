/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of librdmacm in the states that tests start from, and rows of refusals. */
#ifndef TEST_RDMACM_GROUND_H
#define TEST_RDMACM_GROUND_H

#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#define HERE  "198.18.0.1"
#define THERE "198.18.1.1"
#define PORT  7100

struct ground {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *idle;     /* nothing was done with it */
	struct rdma_cm_id *bound;    /* to HERE, PORT */
	struct rdma_cm_id *listener; /* on THERE, PORT */
	struct rdma_cm_id *routed;   /* from HERE to the listener */
};

/* Ends the process with a message: a test that cannot run has not passed. */
void ground_need(bool good, const char *what);
#define NEED(expression) ground_need(expression, #expression)

void ground_lay(struct ground *ground);
void ground_clear(struct ground *ground);

/* A test on a ground of its own. */
struct ground_test {
	const char *name;
	void (*run)(struct ground *ground);
};

#define TEST(function) { #function, function }

/* Runs all tests, and prints the name of each. */
void ground_run(const struct ground_test *tests, size_t count);

/* address - valid until the fourth call after this one; with IPv6 until the next one. */
struct sockaddr *address(const char *text, uint16_t port);
struct sockaddr *address6(const char *text, uint16_t port);

struct rdma_cm_id *new_id(struct ground *ground, enum rdma_port_space ps);

/* The next event, which must be of @type. The caller acknowledges it. */
struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/* The status of the next event, which must be of @type, and of @id if that is not NULL. */
int take_event(struct ground *ground, enum rdma_cm_event_type type, struct rdma_cm_id **id);

/* Resolves address and route, from HERE. */
void resolve(struct ground *ground, struct rdma_cm_id *id, const char *to, uint16_t port);

/* True if @thread, which has to wait, is still there after 100 ms. */
bool still_waits(pthread_t thread);

/* The errno of what returned @result. */
static inline int error_of(int result)
{
	return result ? errno : 0;
}

struct refusals {
	int ran, failures;
};

void refusals_judge(struct refusals *run, const char *name, int err, int wanted);

/* @attempt is an expression over @ground, and says which errno it was given, or 0. */
#define ROW(name, wanted, attempt) \
	do { \
		struct ground laid, *ground = &laid; \
		int err; \
		ground_lay(ground); \
		err = attempt; \
		ground_clear(ground); \
		refusals_judge(run, name, err, wanted); \
	} while (0)

void refusals_of_ids(struct refusals *run);
void refusals_of_connections(struct refusals *run);

#endif
