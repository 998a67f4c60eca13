/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The emulated machine: HCAs on one wire, and the contexts that are open on them. Objects are in
 * objects/, QPs in qp/, and the connection manager's in cm/.
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

struct hca_channel;
struct hca_cm;
struct hca_device;
struct hca_machine;

/*
 * The objects of a context, each with a handle. The death of a context destroys them in this order
 * (ib_core's cleanup order).
 */
enum hca_type { HCA_AH, HCA_QP, HCA_SRQ, HCA_CQ, HCA_MR, HCA_XRCD, HCA_PD, HCA_TYPES };

/* Executed requests, filled receives, and completions with errors other than flush errors. */
struct hca_counts {
	uint64_t sent, sent_bytes, received, received_bytes, errors;
};

/* One open() of a uverbs file. */
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
	/*
	 * On which the program last rang, or the daemon's own if the daemon lingered for it in
	 * vain; -1: not known.
	 */
	int processor;
};

/* ---- devices and the machine ---- */

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
	int wire_index; /* among the devices of all machines; gives it LIDs, GUIDs and addresses */
	int machine_number;
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

struct hca_machine {
	struct settings settings;
	struct hca_cm *cm; /* NULL before cm_init() */
	struct list clients; /* contexts, and files of the connection manager */
	struct hca_device device[SOFTHCA_MAX_DEVICES];
	int machines; /* on the wire */
	int number; /* of this machine among them */
	/* the devices of all machines, by their wire_index; NULL: there is one machine only */
	struct hca_device *wire;
	struct list timers;
	struct list ready;	/* QPs with work to do now */
	struct list failed;	/* QPs in ERR: what is posted to them is flushed */
	struct list unanswered; /* QPs whose last packet had no answer yet */
	struct list held; /* QPs that wait for an answer from another machine, or for room */
	/* of the turn, which wire/engine.c begins: */
	uint64_t now;		/* when it began */
	bool overrun; /* a CQ overran, and its QPs have not failed yet */
	bool active; /* something happened in this turn */
	bool raised; /* a completion event was raised in this turn */
	enum sleep_end slept; /* how the sleep before this turn ended */
	struct hca_context *reached; /* the last that got a message, or NULL */
	bool stop;		/* asked to end */
	FILE *trace;
	/* writes the port's state into the device tree; NULL without one */
	void (*show_port)(const struct hca_device *device, int port);
};

/* Machine @number of so many on the wire. 0, -EINVAL or -ENOMEM. */
int machine_init(struct hca_machine *machine, const struct settings *settings, int machines,
		 int number);
void machine_free(struct hca_machine *machine);

uint64_t hca_now(void); /* nanoseconds, CLOCK_MONOTONIC */

/* The devices on the wire, those of other machines included: their number, and one of them. */
int machine_wire_devices(const struct hca_machine *machine);
struct hca_device *machine_wire_device(struct hca_machine *machine, int wire_index);

/* The device of this machine whose port @lid names, or NULL. */
struct hca_device *machine_route(struct hca_machine *machine, uint16_t lid, uint8_t *port);

/* The device of another machine whose port @lid names, or NULL. */
struct hca_device *machine_far(struct hca_machine *machine, uint16_t lid, uint8_t *port);

/* Whether the device is another machine's. */
bool device_is_far(const struct hca_device *device);

/* The GUID of the system that the device is in, host order. */
uint64_t device_system_guid(const struct hca_device *device);

#endif
