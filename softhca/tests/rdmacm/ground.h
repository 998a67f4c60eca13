/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of librdmacm in the states that tests start from. */
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
	struct rdma_cm_id *idle, *second; /* of RDMA_PS_TCP, as created */
	struct rdma_cm_id *datagram;	  /* of RDMA_PS_UDP, as created */
	struct rdma_cm_id *bound;	  /* to HERE, PORT */
	struct rdma_cm_id *listener;	  /* on THERE, PORT */
	struct rdma_cm_id *routed;	  /* from HERE to the listener */
};

/* Ends the process unless @good, with a message of @what and errno. */
void ground_need(bool good, const char *what);
#define NEED(expression) ground_need(expression, #expression)

void ground_lay(struct ground *ground);
void ground_clear(struct ground *ground);

/* TEST(what_is_so) { ... } adds a test. It gets a @ground and a process of its own. */
#define TEST(test) \
	static void test(struct ground *ground); \
	static void __attribute__((constructor(1000 + __COUNTER__))) test##_add(void) \
	{ \
		ground_add(#test, test); \
	} \
	static void test(struct ground *ground __attribute__((unused)))

void ground_add(const char *name, void (*run)(struct ground *ground));

/* Runs all tests in the order of their file, and prints a line for each. Exit status. */
int ground_run(void);

/* address - valid until the fourth call after this one; with IPv6 until the next one. */
struct sockaddr *address(const char *text, uint16_t port);
struct sockaddr *address6(const char *text, uint16_t port);

struct rdma_cm_id *new_id(struct ground *ground, enum rdma_port_space ps);

/* The next event, which must be of @type. The caller acknowledges it. */
struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/*
 * Acknowledges the next event, which must be of @type. Returns its status, and its id in @id unless
 * that is NULL.
 */
int take_event(struct ground *ground, enum rdma_cm_event_type type, struct rdma_cm_id **id);

/* Resolves address and route, from HERE. */
void resolve(struct ground *ground, struct rdma_cm_id *id, const char *to, uint16_t port);

/* True if @thread has not ended within 100 ms. */
bool still_waits(pthread_t thread);

#endif
