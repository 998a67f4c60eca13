/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events: pipes, so that everything on the client's side is the kernel's own. */
#include "objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- channels ---- */

static void free_if_useless(struct hca_channel *channel)
{
	if (channel->reader_closed && !channel->cqs && channel != channel->ctx->async)
		channel_free(channel);
}

/* Whether epoll reports room in the pipe. It reports the loss of the last reader anyway. */
static void await_room(struct hca_channel *channel, bool wanted)
{
	loop_change(channel->fd, wanted ? EPOLLOUT : 0, &channel->watch);
}

/* Adds a record to those that wait for room. False if there is no memory. */
static bool keep_back(struct hca_channel *channel, const void *record)
{
	uint8_t *bytes = realloc(channel->backlog, channel->waiting + channel->record);

	if (!bytes)
		return false;
	memcpy(bytes + channel->waiting, record, channel->record);
	if (!channel->waiting)
		await_room(channel, true);
	channel->backlog = bytes;
	channel->waiting += channel->record;
	return true;
}

/* Drops the waiting records that begin with the 8 bytes of @element. Returns how many. */
static uint32_t drop_waiting(struct hca_channel *channel, uint64_t element)
{
	uint32_t dropped = 0;
	size_t kept = 0;

	for (size_t at = 0; at < channel->waiting; at += channel->record) {
		if (!memcmp(channel->backlog + at, &element, sizeof(element))) {
			dropped++;
			continue;
		}
		memmove(channel->backlog + kept, channel->backlog + at, channel->record);
		kept += channel->record;
	}
	channel->waiting = kept;
	return dropped;
}

/* Moves the waiting records to the pipe, as far as there is room. */
static void flush(struct hca_channel *channel)
{
	size_t at = 0;

	while (at < channel->waiting && write(channel->fd, channel->backlog + at,
					      channel->record) == (ssize_t)channel->record)
		at += channel->record;
	channel->waiting -= at;
	await_room(channel, channel->waiting);
	if (channel->waiting) {
		memmove(channel->backlog, channel->backlog + at, channel->waiting);
		return;
	}
	free(channel->backlog);
	channel->backlog = NULL;
}

/* There is room, or the last reader has closed its end: then the events are dropped. */
static void pipe_changed(struct watch *watch, uint32_t events)
{
	struct hca_channel *channel = container_of(watch, struct hca_channel, watch);

	if (!(events & (uint32_t)~EPOLLOUT)) {
		flush(channel);
		return;
	}
	loop_forget(channel->fd);
	channel->reader_closed = true;
	free_if_useless(channel);
}

static int make_pipe(struct hca_channel *channel, int *reader)
{
	struct stat st;
	int ends[2];
	int err;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	/* Only our end: the client decides about its own blocking. */
	err = fstat(ends[1], &st) || fcntl(ends[1], F_SETFL, O_NONBLOCK)
		      ? -errno
		      : loop_watch(ends[1], 0, &channel->watch);
	if (err) {
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	channel->dev = st.st_dev;
	channel->ino = st.st_ino;
	channel->fd = ends[1];
	*reader = ends[0];
	return 0;
}

struct hca_channel *channel_new(struct hca_context *ctx, int *reader, int *err)
{
	struct hca_channel *channel = calloc(1, sizeof(*channel));

	*reader = -1;
	*err = -ENOMEM;
	if (!channel)
		return NULL;
	channel->ctx = ctx;
	channel->watch.ready = pipe_changed;
	*err = make_pipe(channel, reader);
	if (*err) {
		free(channel);
		return NULL;
	}
	list_add(&ctx->channels, &channel->link);
	return channel;
}

void channel_free(struct hca_channel *channel)
{
	if (!channel->reader_closed)
		loop_forget(channel->fd);
	close(channel->fd);
	list_del(&channel->link);
	free(channel->backlog);
	free(channel);
}

/* By the pipe's inode: the client may have duplicated its descriptor to any number. */
struct hca_channel *channel_find(struct hca_context *ctx, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	list_for_each(struct hca_channel, channel, &ctx->channels, link) {
		if (channel->ino == st.st_ino && channel->dev == st.st_dev && channel != ctx->async)
			return channel;
	}
	return NULL;
}

void channel_release(struct hca_channel *channel)
{
	channel->cqs--;
	free_if_useless(channel);
}

/* Whole records: they are far shorter than PIPE_BUF. Those that find no room wait in line. */
static bool channel_write(struct hca_channel *channel, const void *record, size_t length)
{
	if (!channel || channel->reader_closed)
		return false;
	channel->record = length;
	return (!channel->waiting && write(channel->fd, record, length) == (ssize_t)length) ||
	       keep_back(channel, record);
}

/* ---- raising ---- */

void event_completion(struct hca_cq *cq)
{
	struct ib_uverbs_comp_event_desc desc = { .cq_handle = cq->user_handle };

	if (!channel_write(cq->channel, &desc, sizeof(desc)))
		return;
	cq->comp_events++;
	cq->obj.ctx->device->machine->raised = true;
}

uint32_t event_async(struct hca_context *ctx, uint64_t element, enum ibv_event_type type)
{
	struct ib_uverbs_async_event_desc desc = { .element = element,
						   .event_type = (uint32_t)type };

	return channel_write(ctx->async, &desc, sizeof(desc));
}

void event_cq(struct hca_cq *cq, enum ibv_event_type type)
{
	cq->async_events += event_async(cq->obj.ctx, cq->user_handle, type);
}

void event_srq(struct hca_srq *srq, enum ibv_event_type type)
{
	srq->async_events += event_async(srq->obj.ctx, srq->user_handle, type);
}

void event_device(struct hca_device *device, enum ibv_event_type type, uint8_t port)
{
	list_for_each(struct hca_context, ctx, &device->contexts, link)
		event_async(ctx, port, type);
}

/* ---- settling ---- */

/* A second read end: its file flags are the daemon's own, not those of the client's end. */
static int open_reader(const struct hca_channel *channel)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", channel->fd);
	return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* Moves the @length unread bytes of the pipe to the front of the backlog. */
static void take_back(struct hca_channel *channel, size_t length)
{
	uint8_t *bytes = malloc(length + channel->waiting);
	int reader;
	ssize_t got;

	if (!bytes)
		return;
	loop_lend_spare();
	reader = open_reader(channel);
	got = read(reader, bytes, length);
	close(reader);
	loop_take_spare();
	/* The client may write to the pipe as well. */
	length = got > 0 ? (size_t)got / channel->record * channel->record : 0;
	if (channel->waiting)
		memcpy(bytes + length, channel->backlog, channel->waiting);
	free(channel->backlog);
	channel->backlog = bytes;
	channel->waiting += length;
}

/* Drops the unread records that begin with the 8 bytes of @element. Returns how many. */
static uint32_t drop_records(struct hca_channel *channel, uint64_t element)
{
	uint32_t dropped = 0;
	int unread;

	if (channel->reader_closed)
		return 0;
	if (!ioctl(channel->fd, FIONREAD, &unread) && unread)
		take_back(channel, (size_t)unread);
	if (channel->backlog) {
		dropped = drop_waiting(channel, element);
		flush(channel);
	}
	return dropped;
}

uint32_t event_settle_async(struct hca_context *ctx, uint64_t element, uint32_t written)
{
	if (!written || !ctx->async)
		return 0;
	return written - drop_records(ctx->async, element);
}

uint32_t event_settle_completions(struct hca_cq *cq)
{
	if (!cq->comp_events || !cq->channel)
		return 0;
	return cq->comp_events - drop_records(cq->channel, cq->user_handle);
}

/* ---- the command that makes a channel ---- */

int cmd_create_comp_channel(struct cmd *cmd)
{
	/* The preload puts the descriptor's number here, which the kernel would know. */
	struct ib_uverbs_create_comp_channel_resp resp = { 0 };
	int err;
	int reader;
	struct hca_channel *channel = channel_new(cmd->ctx, &reader, &err);

	if (!channel)
		return err;
	err = cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
	if (err) {
		close(reader);
		channel_free(channel);
		return err;
	}
	cmd->give = reader;
	return 0;
}
