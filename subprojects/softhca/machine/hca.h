/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The emulated machine: HCAs on one wire, contexts that are open on them, and their objects. A
 * comment on a structure names the directory to which it belongs.
 */
#ifndef SOFTHCA_HCA_H
#define SOFTHCA_HCA_H

#include "arena.h"
#include "client.h"
#include "fault.h"
#include "settings.h"

#include <base/list.h>
#include <base/loop.h>
#include <base/numtab.h>
#include <base/timer.h>
#include <model/model.h>

#include <infiniband/verbs.h>
#include <net/if.h>
#include <rdma/ib_user_verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hca_context;
struct hca_device;

/* ---- objects: what a handle of uverbs names; objects/ changes them ---- */

/* The death of a context destroys its objects in this order (ib_core's cleanup order). */
enum hca_type { HCA_AH, HCA_QP, HCA_SRQ, HCA_CQ, HCA_MR, HCA_XRCD, HCA_PD, HCA_TYPES };

struct hca_object {
	enum hca_type type;
	uint32_t handle, number;
	unsigned int uses; /* objects that stand on this one: destroying it is refused with EBUSY */
	struct hca_context *ctx;
	struct list link; /* ctx->objects[type] */
	/* drops the references that the object holds; NULL = none */
	void (*release)(struct hca_object *object);
};

struct hca_pd {
	struct hca_object obj;
};

struct hca_ah {
	struct hca_object obj;
	struct hca_pd *pd;
};

struct hca_mr {
	struct hca_object obj;
	struct hca_pd *pd;
	uint32_t key;
	uint32_t access;
	uint64_t start;	/* in the client */
	uint64_t iova;	/* as work requests name it */
	uint64_t length;
};

/* A completion channel, or a context's asynchronous events: a pipe that the client reads. */
struct hca_channel {
	struct hca_context *ctx;
	struct watch watch;
	struct list link;
	int fd;		   /* write end */
	dev_t dev;
	ino_t ino;
	unsigned int cqs;
	bool reader_closed;
	size_t record;	   /* bytes of one event */
	/* events for which the pipe has no room yet; as in the kernel any number */
	uint8_t *backlog;
	size_t waiting;	   /* their bytes */
};

/* When a completion queue that was armed raises an event (objects.h). */
struct cq_arm {
	uint32_t notified;  /* producer index at the last event */
	uint32_t solicited; /* the index behind the last solicited or erroneous completion */
	int fired;	    /* arm sequence number that has had its event; -1 = none yet */
};

struct hca_cq {
	struct hca_object obj;
	uint64_t user_handle;
	struct hca_channel *channel; /* or NULL */
	struct cq_place place;	     /* in the client */
	uint32_t size;		     /* power of two */
	uint32_t producer;
	uint32_t consumer; /* as last read from the record */
	bool overrun;
	bool stamped; /* completions carry their time */
	struct cq_arm arm;
	struct arm_request armed; /* as last read */
	uint32_t comp_events, async_events; /* written to the pipes so far */
};

/* The domain itself, shared by every context of a device that names the same file. */
struct hca_xrcd {
	struct list link; /* device->xrcds */
	int pin;	  /* keeps the inode; -1 = private domain */
	dev_t dev;
	ino_t ino;
	unsigned int handles;
};

struct hca_xrcd_handle {
	struct hca_object obj;
	struct hca_xrcd *xrcd;
};

struct hca_srq {
	struct hca_object obj;
	uint64_t user_handle;
	struct hca_pd *pd;
	bool xrc;
	struct hca_xrcd_handle *domain; /* XRC only */
	struct hca_cq *cq;		/* XRC only */
	struct srq_place place; /* in the client */
	uint32_t size, stride, max_sge;
	uint16_t head;	   /* index of the next WQE */
	uint16_t consumed;
	uint16_t known; /* posted, as last read from the record */
	uint32_t limit;
	uint32_t async_events;
};

/* Executed requests, filled receives, and completions with errors other than flush errors. */
struct hca_counts {
	uint64_t sent, sent_bytes, received, received_bytes, errors;
};

/* A QP that is attached to a multicast group (qp/). */
struct hca_member {
	struct list peer; /* device->members */
	struct list link; /* qp->groups */
	uint8_t gid[16];
	uint16_t lid;
	struct hca_qp *qp;
};

struct hca_qp_attr {
	struct ib_uverbs_qp_dest dest, alt_dest;
	uint32_t qkey, rq_psn, sq_psn, dest_qpn, access;
	uint16_t pkey_index, alt_pkey_index;
	uint8_t path_mtu, path_mig_state, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer;
	uint8_t port, timeout, retry_cnt, rnr_retry, alt_port, alt_timeout;
};

/* A piece of a message that is on its way to another machine. */
struct hca_flight {
	uint64_t tag; /* that its answer has */
	uint64_t since; /* when it was sent first */
	uint64_t offset;
	uint32_t slots, packets, part;
	bool last; /* of its message */
	bool reads; /* what comes back changes memory here */
};

/* What a QP has sent to another machine and has no answer to, in its order. */
#define HCA_FLIGHTS 16
struct hca_away {
	struct hca_flight flight[HCA_FLIGHTS];
	unsigned int first, count;
	unsigned int resent; /* how many, from the first on, were sent before */
	uint32_t slots; /* of messages that are sent to their end */
	uint32_t packets; /* of all flights */
	uint64_t round_trip; /* nanoseconds until the last answer came */
	uint32_t begun; /* the slot behind the last message that was begun */
};

/*
 * A queue pair (qp/). wire/ changes the members under "sender" and "receiver", the state, and the
 * numbers of packets in attr. An XRC target can have many handles, in many processes.
 */
struct hca_qp {
	struct hca_device *device;
	struct hca_context *ctx; /* owner of the rings; NULL for an XRC target QP */
	struct list link;	 /* ctx->qps */
	struct list handles;
	enum ibv_qp_type type;
	uint32_t qpn;
	enum ibv_qp_state state;
	struct hca_qp_attr attr;
	struct hca_pd *pd;
	struct hca_cq *send_cq, *recv_cq;
	struct hca_srq *srq;
	struct hca_xrcd *xrcd; /* XRC target only */
	bool sq_sig_all;
	uint32_t max_send_wr, max_send_sge, max_recv_sge, max_inline;
	struct ring sq, rq;
	uint32_t user_index;
	struct list groups; /* the memberships */
	bool not_to_self;   /* its messages to a group do not come back to it */
	struct hca_counts counts;

	/* sender */
	struct list ready;  /* machine->ready */
	struct list failed; /* machine->failed */
	struct list unanswered; /* machine->unanswered */
	struct list held; /* machine->held */
	struct timer retry;
	/* attempts of the WQE at hand that got no answer, and that found no buffer */
	unsigned int lost, not_ready;
	uint64_t sent;		      /* bytes of the WQE at hand that have arrived */
	bool started;		      /* the WQE at hand was tried at least once */
	/* reads and atomics that an adapter would have under way, the one at hand included */
	uint8_t reading;
	bool delayed;		      /* the next message has been late enough */
	bool waiting;		      /* for the retry timer, or until something else comes up */
	bool notify_drained;
	struct hca_away *away; /* NULL: it has sent nothing to another machine */

	/* receiver */
	bool communicating; /* COMM_EST has been raised */
	uint32_t msn;	    /* messages that have arrived */
	/* the last request was an atomic one, at atomic_psn, and was answered with atomic_old */
	bool atomic_known;
	uint32_t atomic_psn;
	uint64_t atomic_old;
	/* SRQ whose WQE claimed_index a message has begun to fill; 0 = none */
	uint32_t claimed_srqn;
	uint16_t claimed_index;
};

/* A QP in a context (qp/). */
struct hca_qp_handle {
	struct hca_object obj;
	struct hca_qp *qp;
	struct list peer;		/* qp->handles */
	struct hca_xrcd_handle *domain; /* XRC target only */
	uint64_t user_handle;
	uint32_t async_events;
	bool opened; /* by ibv_open_qp */
};

/* ---- a context: one open() of a uverbs file (uverbs/, objects/) ---- */

struct hca_context {
	struct hca_device *device;
	struct list link; /* device->contexts */
	struct client client;
	bool ready; /* GET_CONTEXT was done */
	uint8_t cqe_version; /* agreed on then */
	uint8_t *uar;
	struct arena arena;
	struct hca_channel *async;
	struct list channels;
	struct numtab handles;
	struct list objects[HCA_TYPES];
	uint64_t registered; /* pages of all its MRs; a page counts for each */
	struct list qps; /* with rings in this context */
	/* of the program when it last rang; -1: not known, taken for another than the daemon's */
	int processor;
};

/* ---- devices and the machine ---- */

/* machine/, and control/ on the user's command. */
struct hca_port {
	uint16_t lid; /* on the wire; port.h knows what programs see */
	bool active;
	struct hca_counts counts; /* of all QPs on it, those that have gone, too */
	/* the network interface; "" and 0 = none */
	char interface[IFNAMSIZ];
	unsigned int interface_index;
};

struct hca_device {
	struct hca_machine *machine;
	const struct model *model;
	int index; /* in its machine */
	int place; /* on the wire, which gives it LIDs, GUIDs and addresses */
	int home; /* the number of its machine */
	char name[16]; /* as libibverbs lists it */
	uint64_t guid;
	struct hca_port port[SETTINGS_MAX_PORTS + 1]; /* from 1 */
	struct numtab numbers[HCA_TYPES]; /* of PDs, MRs, CQs and SRQs */
	struct numtab qps;
	struct list contexts;
	struct list xrcds;
	struct list members; /* of multicast groups */
	uint32_t group_count;
	struct faults faults;
	/* low byte of the next key: a stale key does not fit its index any more */
	uint8_t key_variant;
};

/* The connection manager's part (cm.h). */
struct hca_cm {
	struct list files;
	struct list ids; /* of all files */
	struct numtab numbers;
	struct list groups; /* for multicast */
	struct numtab group_lids, joins;
	uint32_t psn;	/* the last that was given out */
	uint16_t port;	/* the last one that was chosen for a program */
	uint32_t incarnation; /* of this daemon, among those that the machine has had */
};

struct hca_machine {
	struct settings settings;
	struct hca_cm cm;
	struct list clients; /* contexts, and files of the connection manager */
	struct hca_device device[SOFTHCA_MAX_DEVICES];
	/* Machines on the wire, and the number of this one. */
	int machines, home;
	/* The devices of all machines by their place; of those at home only a number. */
	struct hca_device *far;
	struct list timers;
	struct list ready;	/* QPs with work to do now */
	struct list failed;	/* QPs in ERR: what is posted to them is flushed */
	struct list unanswered; /* QPs whose last packet had no answer yet */
	struct list held; /* QPs that wait for an answer from another machine, or for room */
	/* of the turn, which wire/engine.c begins: */
	uint64_t now;		/* when it began */
	bool overrun;		/* a CQ was, and its QPs have not failed yet */
	bool active;		/* something happened */
	bool raised;		/* a completion event was */
	enum sleep_end slept;	/* before it */
	struct hca_context *reached; /* the last that got a message, or NULL */
	bool stop;		/* asked to end */
	FILE *trace;
	/* writes the port's state into the device tree; NULL without one */
	void (*show_port)(const struct hca_device *device, int port);
};

/* Machine number @home of so many on the wire. 0, -EINVAL or -ENOMEM. */
int machine_init(struct hca_machine *machine, const struct settings *settings, int machines,
		 int home);
void machine_free(struct hca_machine *machine);

uint64_t hca_now(void); /* nanoseconds, CLOCK_MONOTONIC */

/* How many devices are on the wire, and the one at @place, which may be another machine's. */
int machine_places(const struct hca_machine *machine);
struct hca_device *machine_at(const struct hca_machine *machine, int place);

/* The device of this machine whose port @lid names, or NULL. */
struct hca_device *machine_route(struct hca_machine *machine, uint16_t lid, uint8_t *port);

/* The device of another machine whose port @lid names, or NULL. */
struct hca_device *machine_far(const struct hca_machine *machine, uint16_t lid, uint8_t *port);

/* Whether the device is another machine's. */
bool device_is_far(const struct hca_device *device);

struct hca_qp *device_qp(const struct hca_device *device, uint32_t qpn);

/* The GUID of the system that the device is in, host order. */
uint64_t device_system_guid(const struct hca_device *device);

#endif
