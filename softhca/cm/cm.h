/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The connection manager: files of /dev/infiniband/rdma_cm, their ids, and the addresses that these
 * have.
 */
#ifndef SOFTHCA_CM_H
#define SOFTHCA_CM_H

#include <softhca/machine/hca.h>

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <sys/socket.h>

/* AF_IB and its address: <infiniband/ib.h> has them, but belongs to librdmacm. */
#define CM_AF_IB 27

struct cm_sockaddr_ib {
	uint16_t family;
	uint16_t pkey;
	uint32_t flow_info;
	uint8_t gid[16];
	uint64_t sid, sid_mask; /* big endian */
	uint64_t scope_id;
};

union cm_address {
	uint16_t family;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct cm_sockaddr_ib ib;
	struct __kernel_sockaddr_storage storage;
};

/* What rdma_cm knows of an id. */
enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_ADDR_QUERY, /* nobody has the address: the question is repeated until the time is up */
	CM_ADDR_RESOLVED,
	CM_ROUTE_RESOLVED,
	CM_CONNECT,
	CM_DISCONNECT,
	CM_LISTEN,
};

/* What ib_cm knows of its connection. */
enum cm_link {
	CM_NO_LINK, /* nobody ever asked for a connection */
	CM_OVER,    /* it failed, or has ended */
	CM_REQ_SENT,
	CM_REQ_RCVD,
	CM_REP_SENT,
	CM_REP_RCVD,
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_DREQ_RCVD,
	CM_TIMEWAIT,
	CM_SIDR_SENT,
	CM_SIDR_RCVD,
};

/*
 * An id. Two that are connected, or about to be, point to each other; there is no wire between
 * them.
 */
struct cm_id {
	uint32_t number;
	struct cm_file *file;
	struct list member; /* file->ids */
	struct list known;  /* machine->cm.ids */
	uint64_t uid;	    /* what the program calls it; 0 = it has not said yet */
	uint16_t ps;
	uint8_t qp_type;
	enum cm_state state;
	enum cm_link link;
	struct cm_id *peer;
	/* that tells of this id; NULL = the program has fetched it, or made the id itself */
	struct cm_event *request;
	struct timer timer;
	union cm_address src, dst;
	uint64_t service; /* port space and port that it is bound to; 0 = not bound */
	struct hca_device *device, *dst_device;
	uint8_t port, dst_port;
	bool reuse, family_only;
	int ack_timeout;      /* -1 = not set */
	uint32_t reported;    /* events that the program has fetched */
	unsigned int backlog; /* connection requests that may yet wait to be fetched */
	uint32_t qkey;
	struct list joins;

	/* the connection */
	uint32_t qpn, remote_qpn, psn;
	uint32_t remote_psn;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry;
};

/* A multicast group that an id has joined. */
struct cm_join {
	struct list link; /* id->joins */
	struct cm_id *id;
	struct cm_group *group;
	uint32_t number;
	uint64_t uid;	   /* what the program calls it */
	uint32_t reported; /* events that the program has fetched */
};

/* One open() of /dev/infiniband/rdma_cm. */
struct cm_file {
	struct hca_machine *machine;
	struct list link; /* machine->cm.files */
	struct watch commands, process;
	int sock;
	pid_t pid;
	int pidfd;
	int host; /* the device on whose host the program is; -1 = on all */
	bool dead; /* to be reaped at the end of this turn */
	struct list ids;
	struct list events;
	unsigned int waiting; /* events */
	unsigned int rung;    /* bytes that make the program's descriptor readable */
	int bell;	      /* where they are written */
	int ear;	      /* the program's end, to take them back */
};

int cm_init(struct hca_cm *cm);
void cm_free(struct hca_cm *cm);

#endif
