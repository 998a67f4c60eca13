/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events of today, read so that the read cannot block. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/select.h>

#include "event.h"
#include "modern.h"
#include "table.h"

/* An opened device. Never freed, but given to another device after its own was closed. */
struct event_source {
	const struct ibv_context *context;
	pthread_rwlock_t reading;	/* written: an event is read; read: objects come or go */
	SLIST_ENTRY(event_source) link;
};

/* An object with events that were read and are not acknowledged yet. */
struct unacked {
	const void *object;
	const struct ibv_context *context;
	unsigned count;
	SLIST_ENTRY(unacked) link;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* of both lists, see lists_lock() */
static pthread_cond_t acked = PTHREAD_COND_INITIALIZER;
static SLIST_HEAD(, event_source) sources = SLIST_HEAD_INITIALIZER(sources);
static SLIST_HEAD(, unacked) unacked = SLIST_HEAD_INITIALIZER(unacked);

/* Shared by the devices for which there was no memory. Their readers then wait for each other, but never for an event. */
static struct event_source shared_source = { .reading = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP };

enum modern_event_of modern_event_of(uint32_t type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return MODERN_EVENT_OF_QP;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return MODERN_EVENT_OF_SRQ;
	default:
		return MODERN_EVENT_OF_OTHER;
	}
}

/*
 * From before a fork until after it the forking thread holds all locks, or does without. Fork handlers of the program run in
 * between, and may call verbs: that thread needs, and gives back, no lock then.
 */
static __thread bool forking __attribute__((tls_model("initial-exec")));	/* as in shim/rdmacm.c */

bool modern_forking(void)
{
	return forking;
}

static void lists_lock(void)
{
	if (!forking)
		pthread_mutex_lock(&lock);
}

static void lists_unlock(void)
{
	if (!forking)
		pthread_mutex_unlock(&lock);
}

/* ---- opened devices ---- */

static struct event_source *find_source(const struct ibv_context *context)
{
	struct event_source *source;

	SLIST_FOREACH(source, &sources, link)
		if (source->context == context)
			return source;
	return NULL;
}

/* Who wants to read is next, however many threads make and end objects; by default they would keep it out. None holds it twice. */
static void init_reading(pthread_rwlock_t *reading)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(reading, &attr);
	pthread_rwlockattr_destroy(&attr);
}

static struct event_source *add_source(void)
{
	struct event_source *source = calloc(1, sizeof(*source));

	if (!source)
		return NULL;
	init_reading(&source->reading);
	SLIST_INSERT_HEAD(&sources, source, link);
	return source;
}

struct event_source *modern_event_source(const struct ibv_context *context)
{
	struct event_source *source;

	lists_lock();
	source = find_source(context);
	if (!source) {
		source = find_source(NULL);
		if (!source)
			source = add_source();
		if (source)
			source->context = context;
	}
	lists_unlock();
	return source ? source : &shared_source;
}

/* ---- acknowledgements ---- */

static struct unacked *find_unacked(const void *object)
{
	struct unacked *entry;

	SLIST_FOREACH(entry, &unacked, link)
		if (entry->object == object)
			return entry;
	return NULL;
}

/* All objects lie in one place of the union. */
static const void *object_of(const struct ibv_async_event *event)
{
	return modern_event_of(event->event_type) == MODERN_EVENT_OF_OTHER ? NULL : event->element.qp;
}

static struct unacked *add_unacked(const void *object, const struct ibv_context *context)
{
	struct unacked *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return NULL;
	entry->object = object;
	entry->context = context;
	SLIST_INSERT_HEAD(&unacked, entry, link);
	return entry;
}

/* If there is no memory to note it, the provider waits for this acknowledgement, and so do readers of the device. */
static void note_read(const struct ibv_context *context, const struct ibv_async_event *event)
{
	const void *object = object_of(event);
	struct unacked *entry;

	if (!object)
		return;
	lists_lock();
	entry = find_unacked(object);
	if (!entry)
		entry = add_unacked(object, context);
	if (entry)
		entry->count++;
	lists_unlock();
}

static void note_acked(const void *object)
{
	struct unacked *entry;

	lists_lock();
	entry = object ? find_unacked(object) : NULL;
	if (entry && !--entry->count) {
		SLIST_REMOVE(&unacked, entry, unacked, link);
		free(entry);
		pthread_cond_broadcast(&acked);
	}
	lists_unlock();
}

static void unlock(void *arg)
{
	(void)arg;
	lists_unlock();
}

/* Cancellation is off, and of the deferred type: in between only the wait itself can end the thread. */
void modern_await_acks(const void *object, int cancel_state)
{
	int off;

	lists_lock();
	pthread_cleanup_push(unlock, NULL);
	while (find_unacked(object)) {
		pthread_setcancelstate(cancel_state, &off);
		pthread_cond_wait(&acked, &lock);
		pthread_setcancelstate(off, NULL);
	}
	pthread_cleanup_pop(1);
}

static bool is_acked(const void *object)
{
	bool yes;

	lists_lock();
	yes = !find_unacked(object);
	lists_unlock();
	return yes;
}

/* The device's objects end with it. An object of another device may get the address of one that was never acknowledged. */
static void forget_unacked(const struct ibv_context *context)
{
	struct unacked *entry = SLIST_FIRST(&unacked);

	while (entry) {
		struct unacked *next = SLIST_NEXT(entry, link);

		if (entry->context == context) {
			SLIST_REMOVE(&unacked, entry, unacked, link);
			free(entry);
		}
		entry = next;
	}
}

/* ---- reading, and what must not come between "there is one" and "read it" ---- */

struct event_source *event_hold_reading(const struct ibv_context *context)
{
	struct event_source *source = modern_event_source(context);

	if (!forking)
		pthread_rwlock_rdlock(&source->reading);
	return source;
}

struct event_source *event_hold_reading_of(const struct ibv_context *context, const void *object)
{
	struct event_source *source;

	for (;;) {
		modern_await_acks(object, PTHREAD_CANCEL_DISABLE);
		source = event_hold_reading(context);
		if (is_acked(object))
			return source;
		event_let_read(source);
	}
}

void event_let_read(struct event_source *source)
{
	if (!forking)
		pthread_rwlock_unlock(&source->reading);
}

/* Nothing of the device is read, made or ended meanwhile. */
static void hold_alone(struct event_source *source)
{
	if (!forking)
		pthread_rwlock_wrlock(&source->reading);
}

/* A thread that is reading is done first; one that comes later finds that the device is gone. */
void event_forget(const struct ibv_context *context)
{
	struct event_source *source = modern_event_source(context);

	hold_alone(source);
	lists_lock();
	source->context = NULL;
	forget_unacked(context);
	lists_unlock();
	event_let_read(source);
}

/* select() minds no limit. Of descriptors that it has no bit for, the limit stays an error. */
static int await_by_select(int fd, bool block)
{
	struct timeval at_once = { 0, 0 };
	fd_set fds;

	if (fd >= FD_SETSIZE)
		return -EINVAL;
	FD_ZERO(&fds);
	FD_SET(fd, &fds);
	return select(fd + 1, &fds, NULL, NULL, block ? NULL : &at_once) < 0 ? -errno : FD_ISSET(fd, &fds) != 0;
}

int modern_await_async_event(int fd, bool block)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int ready;

	/* A signal interrupts poll() also where it does not wait; one that cancels comes even while that is off (glibc 2.41). */
	do
		ready = poll(&pollfd, 1, block ? -1 : 0);
	while (ready < 0 && errno == EINTR && !block);
	if (ready >= 0)
		return ready;
	/* A program that forbids itself to open anything more (RLIMIT_NOFILE 0) forbids poll() too. */
	return errno == EINVAL ? await_by_select(fd, block) : -errno;
}

/* Reading held. Of the shared one it cannot be told. */
static bool is_open(const struct event_source *source, const struct ibv_context *context)
{
	bool yes;

	lists_lock();
	yes = source == &shared_source || source->context == context;
	lists_unlock();
	return yes;
}

static int read_event(struct ibv_context *context, struct ibv_async_event *event)
{
	int err = modern_await_async_event(context->async_fd, false);

	if (!err)
		err = -EAGAIN;
	else if (err > 0)
		err = modern_status(modern_table.get_async_event(context, event));
	if (!err)
		note_read(context, event);
	return err;
}

int modern_get_async_event(struct event_source *source, struct ibv_context *context, struct ibv_async_event *event)
{
	int err;

	hold_alone(source);
	err = is_open(source, context) ? read_event(context, event) : -EIO;
	event_let_read(source);
	return err;
}

void modern_ack_async_event(struct ibv_async_event *event)
{
	const void *object = object_of(event);

	/* First the provider: as soon as it is noted here, the object may be destroyed. */
	modern_table.ack_async_event(event);
	note_acked(object);
}

/* ---- fork ---- */

static struct event_source *stopped;	/* and all behind it: those that there were before the fork */

/* The lock of the lists is not taken: who holds a device may be waiting for it. Devices are only added, at the front. */
static void stop_all(void)
{
	pthread_mutex_lock(&lock);
	stopped = SLIST_FIRST(&sources);
	pthread_mutex_unlock(&lock);
	pthread_rwlock_wrlock(&shared_source.reading);
	for (struct event_source *source = stopped; source; source = SLIST_NEXT(source, link))
		pthread_rwlock_wrlock(&source->reading);
}

static void go_on(void)
{
	for (struct event_source *source = stopped; source; source = SLIST_NEXT(source, link))
		pthread_rwlock_unlock(&source->reading);
	pthread_rwlock_unlock(&shared_source.reading);
}

void modern_events_forking(bool take)
{
	if (take) {
		stop_all();
		pthread_mutex_lock(&lock);
	}
	forking = true;
}

void modern_events_forked(bool child, bool taken)
{
	struct event_source *source;
	struct unacked *entry;

	forking = false;
	if (!child && taken) {
		pthread_mutex_unlock(&lock);
		go_on();
	}
	if (!child)
		return;
	pthread_mutex_init(&lock, NULL);
	pthread_cond_init(&acked, NULL);
	init_reading(&shared_source.reading);
	SLIST_FOREACH(source, &sources, link)
		init_reading(&source->reading);
	/* The threads that were to acknowledge these are in the parent. */
	while ((entry = SLIST_FIRST(&unacked))) {
		SLIST_REMOVE_HEAD(&unacked, link);
		free(entry);
	}
}
