/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The connection manager: files of /dev/infiniband/rdma_cm and their ids. What the daemon calls. */
#ifndef SOFTHCA_CM_H
#define SOFTHCA_CM_H

#include "addr.h"

#include <proto.h>

/* The state of an id in rdma_cm. */
enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_ADDR_QUERY, /* no adapter has the address: the query fails at the timeout */
	CM_ADDR_RESOLVED,
	CM_ROUTE_RESOLVED,
	CM_CONNECT,
	CM_DISCONNECT,
	CM_LISTEN,
};

/* The state of the id's connection in ib_cm. */
enum cm_ib_state {
	CM_NO_CONNECTION, /* no connection was requested */
	CM_OVER, /* the connection failed, or has ended */
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

#define CM_MAD_BYTES 256

/* An id. Two that are connected, or about to be, point to each other. */
struct cm_id {
	uint32_t number;
	struct cm_file *file;
	struct list member; /* file->ids */
	struct list known; /* machine->cm->ids */
	uint64_t uid;	    /* the program's name for the id; 0 = not told yet */
	uint16_t ps;
	uint8_t qp_type;
	enum cm_state state;
	enum cm_ib_state ib_state;
	struct cm_id *peer;
	uint32_t peer_number; /* also when the peer has gone; 0 = there was none */
	bool far; /* its peer is on another machine, and there is no pointer to it */
	uint32_t incarnation; /* of a far peer's daemon; 0 = not known */
	struct timer again; /* until the last message is repeated, as long as it has no answer */
	uint8_t unanswered[CM_MAD_BYTES]; /* that message */
	/* the CONNECT_REQUEST that the program has not fetched yet; NULL = the id has none */
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
	uint64_t uid;	   /* the program's name for the join */
	uint32_t reported; /* events that the program has fetched */
};

/* One open() of /dev/infiniband/rdma_cm. */
struct cm_file {
	struct hca_machine *machine;
	struct list link; /* machine->cm->files */
	struct client client;
	int host; /* the device on whose host the program is; -1 = on all */
	struct list ids;
	struct list events;
	unsigned int waiting; /* events */
	unsigned int rung;    /* bytes that make the program's descriptor readable */
	int wake_fd;	      /* our end of the socket that has them */
	int wake_peer_fd;     /* the program's end, to take bytes back */
};

/* The connection manager of a machine. */
struct hca_cm {
	struct list files;
	struct list ids; /* of all files */
	struct numtab numbers;
	struct list groups; /* for multicast */
	struct numtab group_lids, joins;
	uint32_t psn; /* the last that was given out */
	uint16_t last_free; /* the last port number that was chosen for a program */
	uint32_t incarnation; /* of this daemon, among those that the machine has had */
};

/* 0 or -ENOMEM. */
int cm_init(struct hca_machine *machine);
/* The machine is one of several. */
void cm_far_init(struct hca_machine *machine);

/* A file for the client @pid on @sock, which becomes the file's. 0 or -errno. */
int cm_file_create(struct hca_machine *machine, const struct softhca_hello *hello, int sock,
		   pid_t pid, struct cm_file **file);

/* Ends everything that belongs to the file. */
void cm_file_destroy(struct cm_file *file);

/* Executes one write(). 0 or -errno as of the kernel's; -EAGAIN = there is no event yet. */
int cm_execute(struct cm_file *file, const void *bytes, size_t size, int fd);

/* The function for fabric_open(). */
void cm_far_take(int machine, const void *body, size_t length);

#endif
