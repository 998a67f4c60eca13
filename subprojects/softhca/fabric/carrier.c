/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages by libfabric. Its functions are in the objects that it makes; the few others are looked
 * up when the first machine is to be met, so that a daemon without machines does not need it.
 */
#include "carrier.h"

#include <base/loop.h>

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define API_VERSION FI_VERSION(1, 11)
#define RECEIVES 64
#define MOST_READ 64 /* completions in one turn */
#define WAIT 200000u /* nanoseconds between two attempts to send */

struct receive {
	void *context[8];
	bool idle; /* libfabric does not have it */
	uint64_t bytes[(CARRIER_FRAME + 7) / 8];
};

_Static_assert(sizeof(struct fi_context2) <= sizeof(((struct receive *)0)->context),
	       "room for what libfabric keeps");
_Static_assert(offsetof(struct receive, context) == 0 &&
		       offsetof(struct fabric_parcel, context) == 0,
	       "complete() takes a context for the whole");

static struct carrier {
	struct carrier_plan plan;
	struct fi_info *(*dupinfo)(const struct fi_info *info);
	void (*freeinfo)(struct fi_info *info);
	const char *(*describe)(int err);
	uint32_t (*version)(void);
	int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info);
	int (*open_fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_av *av;
	struct fid_cq *cq;
	int descriptor; /* the CQ's */
	struct watch watch;
	char provider[64];
	uint8_t address[CARRIER_ADDRESS];
	size_t address_length;
	fi_addr_t reach[FABRIC_MAX_MACHINES];
	struct list waiting[FABRIC_MAX_MACHINES]; /* parcels for which libfabric has no room yet */
	unsigned int waits, sending; /* parcels here; and those that libfabric has */
	struct receive *receive;
	unsigned int idle; /* receives */
} carrier;

/* ---- sending ---- */

static bool try_to_send(struct fabric_parcel *parcel)
{
	const fi_addr_t to = carrier.reach[parcel->machine];
	ssize_t err = -FI_EHOSTUNREACH;

	if (to != FI_ADDR_UNSPEC)
		err = fi_send(carrier.ep, &parcel->frame, sizeof(parcel->frame) + parcel->length,
			      NULL, to, parcel->context);
	if (err == -FI_EAGAIN)
		return false;
	carrier.sending += !err;
	if (err)
		carrier.plan.done(parcel, false);
	return true;
}

void carrier_send(struct fabric_parcel *parcel)
{
	struct list *waiting = &carrier.waiting[parcel->machine];

	if (list_empty(waiting) && try_to_send(parcel))
		return;
	list_add(waiting, &parcel->link);
	carrier.waits++;
}

/* done() frees a parcel that libfabric refuses, so it leaves the list first. */
static void send_waiting_to(struct list *waiting)
{
	while (!list_empty(waiting)) {
		struct fabric_parcel *parcel =
			container_of(waiting->next, struct fabric_parcel, link);

		list_del(&parcel->link);
		carrier.waits--;
		if (try_to_send(parcel))
			continue;
		list_add(waiting->next, &parcel->link);
		carrier.waits++;
		return;
	}
}

void carrier_retry(void)
{
	for (int machine = 0; carrier.waits && machine < FABRIC_MAX_MACHINES; machine++)
		send_waiting_to(&carrier.waiting[machine]);
}

/* ---- completions ---- */

static bool is_receive(const void *context)
{
	const char *at = context, *first = (const char *)carrier.receive;

	return at >= first && at < first + RECEIVES * sizeof(struct receive);
}

static bool post(struct receive *receive)
{
	receive->idle = fi_recv(carrier.ep, receive->bytes, CARRIER_FRAME, NULL, FI_ADDR_UNSPEC,
				receive->context);
	return !receive->idle;
}

static void post_idle(void)
{
	for (int i = 0; carrier.idle && i < RECEIVES; i++)
		carrier.idle -= carrier.receive[i].idle && post(&carrier.receive[i]);
}

/* A failed receive has length 0 and is dropped: the gap in the numbers shows the loss. */
static void take_frame(struct receive *receive, size_t length)
{
	carrier.plan.take(receive->bytes, length);
	carrier.idle += !post(receive);
}

static void complete(const struct fi_cq_msg_entry *entry, bool good)
{
	if (!entry->op_context)
		return;
	if (is_receive(entry->op_context)) {
		take_frame(entry->op_context, good ? entry->len : 0);
		return;
	}
	carrier.sending--;
	carrier.plan.done(entry->op_context, good);
}

static void take_error(void)
{
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_msg_entry entry;

	if (fi_cq_readerr(carrier.cq, &error, 0) <= 0)
		return;
	entry.op_context = error.op_context;
	complete(&entry, false);
}

/* Whether something was complete. */
static bool carrier_turn(void)
{
	struct fi_cq_msg_entry entry[MOST_READ];
	ssize_t count = fi_cq_read(carrier.cq, entry, MOST_READ);

	if (count == -FI_EAVAIL)
		take_error();
	for (ssize_t i = 0; i < count; i++)
		complete(&entry[i], true);
	post_idle();
	carrier_retry();
	return count > 0;
}

/* The descriptor tells of completions, not of room to send. */
uint64_t carrier_nap(void)
{
	struct fid *fid = &carrier.cq->fid;

	if (!carrier.waits && !carrier.idle && fi_trywait(carrier.fabric, &fid, 1) != -FI_EAGAIN)
		return UINT64_MAX;
	if (carrier_turn())
		return 0;
	return carrier.waits || carrier.idle ? WAIT : 0;
}

bool carrier_sends(void)
{
	carrier_turn();
	return carrier.waits || carrier.sending;
}

static void completion_ready(struct watch *watch, uint32_t events)
{
	(void)watch;
	(void)events;
	carrier_turn();
}

/* ---- whom it reaches ---- */

int carrier_reach(int machine, const void *address, size_t length)
{
	carrier_leave(machine);
	if (length != carrier.address_length)
		return -EINVAL;
	return fi_av_insert(carrier.av, address, 1, &carrier.reach[machine], 0, NULL) == 1
		       ? 0
		       : -EIO;
}

void carrier_leave(int machine)
{
	struct list *waiting = &carrier.waiting[machine];

	if (carrier.reach[machine] != FI_ADDR_UNSPEC)
		fi_av_remove(carrier.av, &carrier.reach[machine], 1, 0);
	carrier.reach[machine] = FI_ADDR_UNSPEC;
	while (!list_empty(waiting)) {
		struct fabric_parcel *parcel =
			container_of(waiting->next, struct fabric_parcel, link);

		list_del(&parcel->link);
		carrier.waits--;
		carrier.plan.done(parcel, false);
	}
}

const char *carrier_provider(void)
{
	return carrier.provider;
}

const void *carrier_address(size_t *length)
{
	*length = carrier.address_length;
	return carrier.address;
}

/* ---- birth ---- */

/*
 * libfabric before 1.18 sends by TCP with its layer rxm. rxm sends a frame at once if it is not
 * longer than EAGER_LIMIT. The receiver fetches a longer frame, which takes a round trip more, and
 * completes it after short frames that follow: messages.c would take it for lost. So the user's
 * value, which may be smaller than a frame, is replaced.
 *
 * For RDMA devices, and before 1.13 always, BUFFER_SIZE is the limit. Buffers as long as a frame
 * take 140 MB. MSG_RX_SIZE and MSG_TX_SIZE leave each connection fewer buffers.
 */
static int set_up_rxm(void)
{
	const bool by_buffers =
		carrier.version() < FI_VERSION(1, 13) || !access("/sys/class/infiniband", F_OK);
	char most[16];

	snprintf(most, sizeof(most), "%zu", CARRIER_FRAME);
	return setenv("FI_OFI_RXM_EAGER_LIMIT", most, 1) ||
			       setenv("FI_OFI_RXM_BUFFER_SIZE", by_buffers ? most : "4096", 1) ||
			       setenv("FI_OFI_RXM_MSG_RX_SIZE", "32", 1) ||
			       setenv("FI_OFI_RXM_MSG_TX_SIZE", "32", 1)
		       ? -errno
		       : 0;
}

static int load(char *why, size_t size)
{
	void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		snprintf(why, size, "%.300s: install libfabric (package libfabric1, or libfabric)",
			 dlerror());
		return -ENOENT;
	}
	*(void **)&carrier.dupinfo = dlsym(library, "fi_dupinfo");
	*(void **)&carrier.getinfo = dlsym(library, "fi_getinfo");
	*(void **)&carrier.freeinfo = dlsym(library, "fi_freeinfo");
	*(void **)&carrier.open_fabric = dlsym(library, "fi_fabric");
	*(void **)&carrier.describe = dlsym(library, "fi_strerror");
	*(void **)&carrier.version = dlsym(library, "fi_version");
	if (carrier.dupinfo && carrier.getinfo && carrier.freeinfo && carrier.open_fabric &&
	    carrier.describe && carrier.version)
		return 0;
	snprintf(why, size, "libfabric.so.1 lacks a function: it is no libfabric of 1.11 or later");
	return -ENOENT;
}

/* The networks that reach other machines, or that of FI_PROVIDER. */
static int find_networks(struct fi_info **info)
{
	struct fi_info *hints;
	const struct fabric_host *own = carrier.plan.own;
	char node[NI_MAXHOST], service[8];
	int err;

	/* The name may have other addresses here, as 127.0.1.1. A numeric address always fits. */
	if (getnameinfo((const void *)&own->address, own->length, node, sizeof(node), NULL, 0,
			NI_NUMERICHOST))
		return -FI_EADDRNOTAVAIL;
	hints = carrier.dupinfo(NULL);
	if (!hints)
		return -FI_ENOMEM;
	hints->caps = FI_MSG | FI_REMOTE_COMM;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	/* These concern memory that others reach, and there is none. */
	hints->domain_attr->mr_mode =
		FI_MR_ENDPOINT | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	snprintf(service, sizeof(service), "%d", carrier.plan.port);
	err = carrier.getinfo(API_VERSION, node, service, FI_SOURCE, hints, info);
	/* The addresses of other networks than IP have no names. */
	if (err)
		err = carrier.getinfo(API_VERSION, NULL, NULL, 0, hints, info);
	carrier.freeinfo(hints);
	return err;
}

static int open_queue(struct fi_info *info)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD };
	int err = carrier.open_fabric(info->fabric_attr, &carrier.fabric, NULL);

	if (!err)
		err = fi_domain(carrier.fabric, info, &carrier.domain, NULL);
	if (!err)
		err = fi_cq_open(carrier.domain, &cq, &carrier.cq, NULL);
	return err ? err : fi_control(&carrier.cq->fid, FI_GETWAIT, &carrier.descriptor);
}

static void close_queue(void)
{
	if (carrier.cq)
		fi_close(&carrier.cq->fid);
	if (carrier.domain)
		fi_close(&carrier.domain->fid);
	if (carrier.fabric)
		fi_close(&carrier.fabric->fid);
	carrier.cq = NULL;
	carrier.domain = NULL;
	carrier.fabric = NULL;
}

/*
 * Leaves *info at the first network whose provider has a descriptor to wait for. The providers opx
 * and efa of libfabric 2.1 have none.
 */
static int open_first(struct fi_info **info)
{
	int err;

	while ((err = open_queue(*info))) {
		close_queue();
		if (!(*info)->next)
			break;
		*info = (*info)->next;
	}
	return err;
}

static int open_endpoint(struct fi_info *info)
{
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	int err = fi_av_open(carrier.domain, &av, &carrier.av, NULL);

	snprintf(carrier.provider, sizeof(carrier.provider), "%s", info->fabric_attr->prov_name);
	if (!err)
		err = fi_endpoint(carrier.domain, info, &carrier.ep, NULL);
	if (!err)
		err = fi_ep_bind(carrier.ep, &carrier.av->fid, 0);
	if (!err)
		err = fi_ep_bind(carrier.ep, &carrier.cq->fid, FI_SEND | FI_RECV);
	return err ? err : fi_enable(carrier.ep);
}

static int begin(void)
{
	int err;

	carrier.receive = calloc(RECEIVES, sizeof(*carrier.receive));
	if (!carrier.receive)
		return -FI_ENOMEM;
	for (int i = 0; i < RECEIVES; i++)
		carrier.idle += !post(&carrier.receive[i]);
	carrier.address_length = sizeof(carrier.address);
	err = carrier.idle ? -FI_ENOMEM
			   : fi_getname(&carrier.ep->fid, carrier.address, &carrier.address_length);
	carrier.watch.ready = completion_ready;
	return err ? err : loop_watch(carrier.descriptor, EPOLLIN, &carrier.watch);
}

int carrier_open(const struct carrier_plan *plan, char *why, size_t size)
{
	struct fi_info *found, *info;
	int err;

	carrier.plan = *plan;
	for (int i = 0; i < FABRIC_MAX_MACHINES; i++) {
		carrier.reach[i] = FI_ADDR_UNSPEC;
		list_init(&carrier.waiting[i]);
	}
	err = load(why, size);
	if (err)
		return err;
	err = set_up_rxm();
	if (!err)
		err = find_networks(&found);
	if (!err) {
		info = found;
		err = open_first(&info);
		if (!err)
			err = open_endpoint(info);
		carrier.freeinfo(found);
	}
	if (!err)
		err = begin();
	if (err)
		snprintf(why, size, "libfabric, for %.200s and port %d: %s", plan->own->name,
			 plan->port, carrier.describe(-err));
	return err;
}

void carrier_close(void)
{
	if (carrier.ep)
		fi_close(&carrier.ep->fid);
}
