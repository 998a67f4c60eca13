/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The handles of a context, the objects behind them, and the events that these raise. QPs have a
 * room of their own (qp/).
 */
#ifndef SOFTHCA_OBJECTS_H
#define SOFTHCA_OBJECTS_H

#include <machine/hca.h>
#include <proto.h>

#include <stddef.h>

struct hca_cq;
struct hca_srq;

/* ---- objects: what a handle of uverbs names (object.c) ---- */

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

/*
 * An object of @size bytes, which begin with struct hca_object and are otherwise 0, with a handle
 * in @ctx and the number that the adapter gives to its type, if it does. @release is called when it
 * goes, or NULL. NULL stands for -ENOMEM.
 */
void *object_new(struct hca_context *ctx, enum hca_type type, size_t size,
		 void (*release)(struct hca_object *object));

/* Ends it. The caller has made sure that nothing stands on it. */
void object_destroy(struct hca_object *object);

/* The object; NULL when the handle is unknown or names something of another type. */
void *object_find(const struct hca_context *ctx, enum hca_type type, uint32_t handle);

/*
 * Finds an object for a command. *err: -EINVAL; if the command @ends the object, -ENOENT, or -EBUSY
 * for one in use.
 */
void *object_find_for(const struct hca_context *ctx, enum hca_type type, uint32_t handle,
		      bool ends, int *err);

/* Destroys all objects of a context that died, in ib_core's order. */
void object_destroy_all(struct hca_context *ctx);

/* ---- contexts (context.c) ---- */

/*
 * A context for the client @pid on @sock, which becomes the context's. @arena_fd is the memfd of
 * its arena or -1; it stays the caller's. 0 with *uar_fd to be sent and closed; -ENOENT: no such
 * device; -EACCES: the client's memory is out of reach; -EOVERFLOW: its addresses are too long for
 * the daemon; or another -errno.
 */
int context_create(struct hca_machine *machine, const struct softhca_hello *hello, int sock,
		   pid_t pid, int arena_fd, struct hca_context **ctx, int *uar_fd);

/* Ends everything that belongs to the context. */
void context_destroy(struct hca_context *ctx);

/* ---- events (event.c) ---- */

/* A completion channel, or a context's asynchronous events: a pipe that the client reads. */
struct hca_channel {
	struct hca_context *ctx;
	struct watch watch;
	struct list link;
	int fd; /* write end */
	dev_t dev;
	ino_t ino;
	unsigned int cqs;
	bool reader_closed;
	size_t record; /* bytes of one event */
	/* events for which the pipe has no room yet; as in the kernel any number */
	uint8_t *backlog;
	size_t waiting; /* their bytes */
};

/* A new pipe; *reader is the client's end, to be sent and closed. NULL with *err = -errno. */
struct hca_channel *channel_new(struct hca_context *ctx, int *reader, int *err);
void channel_free(struct hca_channel *channel);

/* The completion channel of @ctx behind descriptor @fd, or NULL. */
struct hca_channel *channel_find(struct hca_context *ctx, int fd);

/* A CQ no longer uses the channel. A channel without CQs and without a reader is freed. */
void channel_release(struct hca_channel *channel);

void event_completion(struct hca_cq *cq);

/* Raises an event in a context, of the object that the program calls @element. How many: 0 or 1. */
uint32_t event_async(struct hca_context *ctx, uint64_t element, enum ibv_event_type type);

void event_cq(struct hca_cq *cq, enum ibv_event_type type);
void event_srq(struct hca_srq *srq, enum ibv_event_type type);
/* Raises an event in every context of the device; @port is 0 for IBV_EVENT_DEVICE_FATAL. */
void event_device(struct hca_device *device, enum ibv_event_type type, uint8_t port);

/* Drops unread events of an object that goes. Returns how many the program has read. */
uint32_t event_settle_async(struct hca_context *ctx, uint64_t element, uint32_t written);
uint32_t event_settle_completions(struct hca_cq *cq);

/* ---- completion queues (cq.c) ---- */

/* When a completion queue that was armed raises an event. */
struct cq_arm {
	uint32_t notified; /* the index before which completions are no news */
	uint32_t solicited; /* the index behind the last solicited or erroneous completion */
	int fired; /* arm sequence number that has had its event; -1 = none yet */
};

struct hca_cq {
	struct hca_object obj;
	uint64_t user_handle;
	struct hca_channel *channel; /* or NULL */
	struct cq_place place; /* in the client */
	uint32_t size; /* power of two */
	uint32_t producer;
	uint32_t consumer; /* as last read from the record */
	bool overrun;
	bool stamped; /* completions carry their time */
	struct cq_arm arm;
	struct arm_request armed; /* as last read */
	uint32_t comp_events, async_events; /* written to the pipes so far */
};

struct cq_request {
	uint64_t user_handle;
	uint32_t cqe; /* entries wanted */
	struct hca_channel *channel;
	struct cq_place place;
	bool stamped; /* completions are to carry their time */
};

/* 0, -EINVAL, -ENOMEM or -EFAULT. */
int cq_create(struct hca_context *ctx, const struct cq_request *request, struct hca_cq **cq);

/* Writes a completion and raises the event that is due; @solicited counts for every arming. */
void cq_post(struct hca_cq *cq, const struct cqe *cqe, bool solicited);

/* The program may have armed the CQ since the last completion. */
void cq_check_armed(struct hca_cq *cq);

void cq_arm_init(struct cq_arm *arm);

/* A completion that counts for ibv_req_notify_cq(cq, 1) was written at @index. */
void cq_arm_solicited(struct cq_arm *arm, uint32_t index);

/*
 * The entry that ends the old ring takes an index, and completions from @consumer on move up by
 * one. Comes after an event that is due.
 */
void cq_arm_resized(struct cq_arm *arm, uint32_t consumer);

/* Whether an event is due, which is then taken as raised. @producer: completions so far. */
bool cq_arm_fires(struct cq_arm *arm, struct arm_request request, uint32_t producer);

/* ---- memory regions and their keys (mr.c) ---- */

struct hca_mr {
	struct hca_object obj;
	struct hca_pd *pd;
	uint32_t key;
	uint32_t access;
	uint64_t start; /* in the client */
	uint64_t iova; /* as work requests name it */
	uint64_t length;
};

/* The memory of a REG_MR or REREG_MR. */
struct mr_range {
	uint64_t start, length, iova; /* bytes; addresses in the client */
	uint32_t access;	      /* IBV_ACCESS_* */
};

/* 0 or -ENOMEM. */
int mr_create(struct hca_context *ctx, struct hca_pd *pd, const struct mr_range *range,
	      struct hca_mr **mr);

/* The region that @key opens for such an access by objects of @pd, or NULL. */
struct hca_mr *mr_find(const struct hca_device *device, uint32_t key, const struct hca_pd *pd,
		       uint64_t address, uint64_t length, uint32_t access);

/* @address, as work requests name it, in the client's memory. */
uint64_t mr_address(const struct hca_mr *mr, uint64_t address);

/* ---- shared receive queues (srq.c) ---- */

struct hca_srq {
	struct hca_object obj;
	uint64_t user_handle;
	struct hca_pd *pd;
	bool xrc;
	struct hca_xrcd_handle *domain; /* XRC only */
	struct hca_cq *cq; /* XRC only */
	struct srq_place place; /* in the client */
	uint32_t size, stride, max_sge;
	uint16_t head; /* index of the next WQE */
	uint16_t consumed;
	uint16_t known; /* posted, as last read from the record */
	uint32_t limit;
	uint32_t async_events;
};

struct srq_request {
	uint64_t user_handle;
	struct hca_pd *pd;
	bool xrc;
	struct hca_xrcd_handle *domain; /* XRC */
	struct hca_cq *cq;		/* XRC */
	uint32_t max_wr, max_sge;
	struct srq_place place;
};

/* 0, -EINVAL or -ENOMEM. */
int srq_create(struct hca_context *ctx, const struct srq_request *request, struct hca_srq **srq);

/* Receive WQEs that are posted and not consumed; 0 also if the record is unreadable or wrong. */
uint32_t srq_available(const struct hca_srq *srq);

/* There is one. Reads the record only when all that were known are consumed. */
bool srq_ready(struct hca_srq *srq);

/* The WQE at srq->head was used: goes on to the next, and raises the limit event. */
void srq_consume(struct hca_srq *srq);

struct place srq_slot(const struct hca_srq *srq, uint16_t index);

/* ---- XRC domains: per device, shared by inode (xrcd.c) ---- */

/* The domain itself, shared by every context of a device that names the same file. */
struct hca_xrcd {
	struct list link; /* device->xrcds */
	int pin; /* keeps the inode; -1 = private domain */
	dev_t dev;
	ino_t ino;
	unsigned int handles;
};

struct hca_xrcd_handle {
	struct hca_object obj;
	struct hca_xrcd *xrcd;
};

/*
 * @fd: file that names the domain, -1 for a private one; it stays the caller's. @oflags as for
 * ibv_open_xrcd. 0; -EAGAIN: no such domain and no O_CREAT; -EINVAL: it exists and O_EXCL; -EBADF;
 * -ENOMEM.
 */
int xrcd_open(struct hca_context *ctx, int fd, int oflags, struct hca_xrcd_handle **handle);

/* ---- commands of the uverbs write() interface (their table is uverbs/cmd.c) ---- */

#define OBJECTS_COMP_VECTORS 4

/* A command that has passed the checks of its headers. */
struct cmd {
	struct hca_context *ctx;
	const void *in;	     /* request; at least the size in the table */
	size_t in_size;
	const void *driver_in; /* the provider's part, behind the request */
	size_t driver_in_size;
	uint64_t response; /* in the client; 0 = none */
	size_t out_size, driver_out_size;
	void *object; /* the first that the request names, if the table says so */
	int fd;	    /* descriptor that the client attached, or -1; stays the caller's */
	/* descriptor for the client, or -1: the command sets it, the caller sends and closes it */
	int give;
};

/* ---- their responses (respond.c) ---- */

/*
 * Writes the response: @out, then the driver's part after it. As the kernel, no more than the
 * client has room for, and what it has more is zeroed. 0 or -EFAULT.
 */
int cmd_respond(const struct cmd *cmd, const void *out, size_t size, const void *driver,
		size_t driver_size);

/*
 * The response of a command that has made @object; if it cannot be written, the object goes again.
 * The driver's part of a PD, CQ or SRQ is its number.
 */
int cmd_introduce(const struct cmd *cmd, struct hca_object *object, const void *out, size_t size,
		  const void *driver, size_t driver_size);

/* ---- the commands themselves, each in the file of what it is about: 0 or -errno ---- */

typedef int cmd_fn(struct cmd *cmd);
cmd_fn cmd_create_comp_channel, cmd_alloc_pd, cmd_reg_mr, cmd_rereg_mr, cmd_open_xrcd;
cmd_fn cmd_create_cq, cmd_ex_create_cq, cmd_resize_cq, cmd_destroy_cq;
cmd_fn cmd_create_srq, cmd_create_xsrq, cmd_modify_srq, cmd_query_srq, cmd_destroy_srq;

#endif
