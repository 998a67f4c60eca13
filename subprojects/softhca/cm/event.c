/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Files of the connection manager, and the events that are fetched through them. */
#include "cm.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct cm_event *cm_event_new(struct cm_id *id, enum cm_event_kind kind, int status)
{
	struct cm_event *event;

	/* The id of a connection request gets no events before the program has accepted it. */
	if (!id->uid)
		return NULL;
	event = calloc(1, sizeof(*event));
	if (!event)
		return NULL;
	event->id = id;
	event->resp.event = kind;
	event->resp.status = (uint32_t)status;
	return event;
}

void cm_event_raise(struct cm_event *event)
{
	struct cm_file *file = event->id->file;

	event->resp.uid = event->join ? event->join->uid : event->id->uid;
	event->resp.id = event->join	? event->join->number
			 : event->child ? event->child->number
					: event->id->number;
	if (event->child)
		event->child->request = event;
	list_add(&file->events, &event->link);
	file->waiting++;
	cm_file_ring(file);
}

void cm_event_plain(struct cm_id *id, enum cm_event_kind kind, int status)
{
	struct cm_event *event = cm_event_new(id, kind, status);

	if (event)
		cm_event_raise(event);
}

/* There is room for another request. */
static void request_done(struct cm_event *event)
{
	if (!event->child)
		return;
	event->child->request = NULL;
	event->id->backlog++;
}

/* Takes the event off its file. */
static void take_off(struct cm_file *file, struct cm_event *event)
{
	list_del(&event->link);
	file->waiting--;
	request_done(event);
}

int cm_cmd_get_event(struct cm_cmd *cmd)
{
	const uint64_t response = ((const struct rdma_ucm_get_event *)cmd->in)->response;
	const size_t room = cmd->out_size;
	struct cm_file *file = cmd->file;
	struct cm_event *event;

	/* ECE came later, and 32 bit programs do not know the padding before it. */
	if (room < offsetof(struct rdma_ucm_event_resp, reserved))
		return refuse(-ENOSPC, "room for the answer");
	if (list_empty(&file->events))
		return -EAGAIN;
	event = container_of(file->events.next, struct cm_event, link);
	if (cm_file_write(file, response, &event->resp,
			  room < sizeof(event->resp) ? room : sizeof(event->resp)))
		return -EFAULT;
	event->id->reported++;
	if (event->join)
		event->join->reported++;
	take_off(file, event);
	cm_file_ring(file);
	free(event);
	return 0;
}

void cm_event_withdraw(struct cm_event *event)
{
	struct cm_file *file = event->id->file;

	take_off(file, event);
	cm_file_ring(file);
	free(event);
}

struct cm_event *cm_event_of(const struct cm_id *id, const struct cm_join *join)
{
	list_for_each(struct cm_event, event, &id->file->events, link) {
		if (event->id == id && (!join || event->join == join))
			return event;
	}
	return NULL;
}

void cm_event_move(struct cm_event *event, struct cm_file *file)
{
	list_del(&event->link);
	event->id->file->waiting--;
	list_add(&file->events, &event->link);
	file->waiting++;
}

/* ---- files ---- */

/* A socket: waiting for it can be resumed after a signal, and its ends have own flags. */
static int make_wake_pair(struct cm_file *file)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	file->wake_fd = ends[0];
	file->wake_peer_fd = ends[1];
	return 0;
}

int cm_file_create(struct hca_machine *machine, const struct softhca_hello *hello, int sock,
		   pid_t pid, struct cm_file **result)
{
	struct cm_file *file;
	int err;

	if (hello->device != SOFTHCA_EVERY_HOST &&
	    hello->device >= (uint32_t)machine->settings.devices)
		return -ENODEV;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->machine = machine;
	file->client.cm = true;
	file->host = hello->device == SOFTHCA_EVERY_HOST ? -1 : (int)hello->device;
	list_init(&file->ids);
	list_init(&file->events);
	err = make_wake_pair(file);
	if (err)
		goto out_free;
	err = client_open(&file->client, &machine->clients, sock, pid, hello->probe);
	if (err)
		goto out_close;
	list_add(&machine->cm.files, &file->link);
	*result = file;
	return 0;

out_close:
	close(file->wake_fd);
	close(file->wake_peer_fd);
out_free:
	free(file);
	return err;
}

int cm_file_write(const struct cm_file *file, uint64_t to, const void *from, size_t length)
{
	if (client_write(&file->client, to, from, length))
		return refuse(-EFAULT, "answer that cannot be written");
	return 0;
}

struct cm_file *cm_file_find(const struct hca_machine *machine, int fd)
{
	struct stat st, ours;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	list_for_each(struct cm_file, file, &machine->cm.files, link) {
		if (!fstat(file->wake_peer_fd, &ours) && ours.st_ino == st.st_ino &&
		    ours.st_dev == st.st_dev)
			return file;
	}
	return NULL;
}

/* A byte for each event, so that each is an edge for epoll; as far as there is room. */
void cm_file_ring(struct cm_file *file)
{
	char byte = 0;

	while (file->rung < file->waiting &&
	       send(file->wake_fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		file->rung++;
	while (file->rung > file->waiting) {
		/* A program that read them itself has spoilt only its own waiting. */
		if (recv(file->wake_peer_fd, &byte, 1, MSG_DONTWAIT) != 1 && errno == EINTR)
			continue;
		file->rung--;
	}
}

void cm_file_destroy(struct cm_file *file)
{
	/* A listener ends the ids of its unfetched connection requests, too. */
	while (!list_empty(&file->ids))
		cm_id_destroy(container_of(file->ids.next, struct cm_id, member));
	client_close(&file->client);
	close(file->wake_fd);
	close(file->wake_peer_fd);
	list_del(&file->link);
	free(file);
}
