/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The messages of ib_cm: where their fields are. InfiniBand specification 12.6. */
#ifndef SOFTHCA_CM_MAD_H
#define SOFTHCA_CM_MAD_H

#include "cm.h"

#define CM_MAD_HEADER 24
#define CM_MAD_DATA (CM_MAD_BYTES - CM_MAD_HEADER)

/* As rdma_cm of the kernel sets it. */
#define CM_RETRIES 15

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

#endif
