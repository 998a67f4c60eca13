/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of librdmacm in the states that rows start from. */
#ifndef TEST_RDMACM_GROUND_H
#define TEST_RDMACM_GROUND_H

#define ROW_BEFORE ground_lay
#define ROW_AFTER ground_clear
#include <harness/row.h>

#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <string.h>

#define HERE  "198.18.0.1"
#define THERE "198.18.1.1"
#define PORT  7100

/* Each row is a process of its own, and begins with these. */
extern struct rdma_event_channel *channel;
extern struct rdma_cm_id *idle, *second; /* of RDMA_PS_TCP, as created */
extern struct rdma_cm_id *datagram;	 /* of RDMA_PS_UDP, as created */
extern struct rdma_cm_id *bound;	 /* to HERE, PORT */
extern struct rdma_cm_id *listener;	 /* on THERE, PORT */
extern struct rdma_cm_id *routed;	 /* from HERE to the listener */

void ground_lay(void);
void ground_clear(void);

/* address - valid until the fourth call after this one; with IPv6 until the next one. */
struct sockaddr *address(const char *text, uint16_t port);
struct sockaddr *address6(const char *text, uint16_t port);

struct rdma_cm_id *new_id(enum rdma_port_space ps);

/* The next event, which must be of @type. The caller acknowledges it. */
struct rdma_cm_event *next_event_at(enum rdma_cm_event_type type, const char *file, int line);
#define next_event(type) next_event_at(type, __FILE__, __LINE__)

/*
 * Acknowledges the next event, which must be of @type. Returns its status, and its id in @id unless
 * that is NULL.
 */
int take_event_at(enum rdma_cm_event_type type, struct rdma_cm_id **id, const char *file, int line);
#define take_event(type, id) take_event_at(type, id, __FILE__, __LINE__)

/* The next event is the timeout of @id, which got no answer. */
void must_be_unreachable(const struct rdma_cm_id *id);

/* Resolves address and route, from HERE. */
void resolve(struct rdma_cm_id *id, const char *to, uint16_t port);

/* UINT8_MAX bytes that tell their place, of which none is 0. */
const uint8_t *private_data(void);

/* True if @thread has not ended within 100 ms. */
bool still_waits(pthread_t thread);

#endif
