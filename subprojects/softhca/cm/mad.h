/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The messages of ib_cm, for captures and for other machines: where their fields are (InfiniBand
 * specification 12.6), and who sends them.
 */
#ifndef SOFTHCA_CM_MAD_H
#define SOFTHCA_CM_MAD_H

#include "cm.h"

#include <string.h>

#define CM_MAD_HEADER 24
#define CM_MAD_DATA (CM_MAD_BYTES - CM_MAD_HEADER)

/* As rdma_cm of the kernel sets it. */
#define CM_RETRIES 15

/* Of messages. */
enum cm_attribute {
	CM_REQ = 0x10,
	CM_REJ = 0x12,
	CM_REP,
	CM_RTU,
	CM_DREQ,
	CM_DREP,
	CM_SIDR_REQ,
	CM_SIDR_REP
};

/* In the header. */
enum { MAD_TRANSACTION = 8, MAD_ATTRIBUTE = 16 };

/* Behind the header: the ids of sender and receiver, in all messages but those of datagrams. */
enum { FROM_ID, TO_ID = 4 };

enum {
	REQ_SERVICE = 8,
	REQ_CA_GUID = 16,
	REQ_QPN = 32,
	REQ_RESPONDER = 35,
	REQ_INITIATOR = 39,
	REQ_FLOW = 43, /* and the type of transport */
	REQ_PSN = 44,
	REQ_RETRIES = 47,
	REQ_PKEY = 48,
	REQ_RNR_RETRY = 50, /* and the MTU */
	REQ_SRQ = 51,
	REQ_PATH = 52,
	REQ_PRIVATE = 140
};

/* Of the path in a REQ. */
enum {
	PATH_SLID,
	PATH_DLID = 2,
	PATH_SGID = 4,
	PATH_DGID = 20,
	PATH_RATE = 39,
	PATH_HOP_LIMIT = 41,
	PATH_LOCAL = 42, /* whether it stays within the subnet */
	PATH_TIMEOUT = 43
};

enum {
	REP_QPN = 12,
	REP_PSN = 20,
	REP_RESPONDER = 24,
	REP_INITIATOR = 25,
	REP_FLOW = 26,
	REP_RNR_RETRY = 27, /* and whether there is an SRQ */
	REP_CA_GUID = 28,
	REP_PRIVATE = 36
};

enum { REJ_MESSAGE = 8, REJ_REASON = 10, REJ_PRIVATE = 84 };

enum { DREQ_QPN = 8 };

/* Both begin with the number of the id that asks. */
enum { SIDR_REQ_PKEY = 4, SIDR_REQ_SERVICE = 8, SIDR_REQ_PRIVATE = 16 };

enum {
	SIDR_REP_STATUS = 4,
	SIDR_REP_QPN = 8,
	SIDR_REP_SERVICE = 12,
	SIDR_REP_QKEY = 20,
	SIDR_REP_PRIVATE = 96
};

/* Bytes of private data. The receiver sees all: no field has their length. */
#define REQ_ROOM (CM_MAD_DATA - REQ_PRIVATE)
#define REP_ROOM (CM_MAD_DATA - REP_PRIVATE)
#define REJ_ROOM (CM_MAD_DATA - REJ_PRIVATE)
#define SIDR_REQ_ROOM (CM_MAD_DATA - SIDR_REQ_PRIVATE)
#define SIDR_REP_ROOM (CM_MAD_DATA - SIDR_REP_PRIVATE)

/* Private data. */
static inline void put_data(uint8_t *at, const void *data, size_t length)
{
	if (length)
		memcpy(at, data, length);
}

/* ---- messages that are sent (mad.c) ---- */

/* Each is sent by @id to its destination. */
void cm_mad_req(struct cm_id *id, const struct rdma_ucm_conn_param *param);
void cm_mad_rep(struct cm_id *id, const struct rdma_ucm_conn_param *param);
void cm_mad_rtu(struct cm_id *id);
void cm_mad_rej(struct cm_id *id, uint8_t reason, const void *content, size_t length);
void cm_mad_dreq(struct cm_id *id);
void cm_mad_drep(struct cm_id *id);
void cm_mad_sidr_req(struct cm_id *id, const struct rdma_ucm_conn_param *param);
void cm_mad_sidr_rep(struct cm_id *id, uint8_t status, uint32_t qpn, const void *content,
		     size_t length);

/* Sent for the destination of @id when no id there has the request, or none any more. */
void cm_mad_refused(const struct cm_id *id, uint8_t reason);
void cm_mad_sidr_refused(const struct cm_id *id, uint8_t status);
void cm_mad_gone(const struct cm_id *id);

/* ---- to another machine (carry.c) ---- */

/* A message between the ports of two machines. */
struct cm_far {
	uint16_t slid, dlid;
	uint16_t family, ps; /* of the addresses of a request; its port space */
	uint8_t qp_type; /* of the id that has sent it */
	uint8_t unused[3];
	uint32_t from, to; /* incarnations of both daemons; 0 = not known */
	uint8_t unused2[4];
	uint8_t mad[CM_MAD_BYTES];
};

/*
 * Carries the message to the machine of the id's peer. A message that needs an answer is
 * repeated until the id's state says that it has come.
 */
void cm_far_send(struct cm_id *id, const uint8_t mad[CM_MAD_BYTES]);

#endif
