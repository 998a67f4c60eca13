/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Files of rdma_cm: how they begin, and what they give their programs. */
#include "event.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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

	if (hello->host != SOFTHCA_EVERY_HOST && hello->host >= (uint32_t)machine->settings.devices)
		return -ENODEV;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->machine = machine;
	file->client.cm = true;
	file->host = hello->host == SOFTHCA_EVERY_HOST ? -1 : (int)hello->host;
	list_init(&file->ids);
	list_init(&file->events);
	err = make_wake_pair(file);
	if (err)
		goto out_free;
	err = client_open(&file->client, &machine->clients, sock, pid, hello->probe);
	if (err)
		goto out_close;
	list_add(&machine->cm->files, &file->link);
	*result = file;
	return 0;

out_close:
	close(file->wake_fd);
	close(file->wake_peer_fd);
out_free:
	free(file);
	return err;
}

struct cm_file *cm_file_behind(const struct hca_machine *machine, int fd)
{
	struct stat st, ours;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	list_for_each(struct cm_file, file, &machine->cm->files, link) {
		if (!fstat(file->wake_peer_fd, &ours) && ours.st_ino == st.st_ino &&
		    ours.st_dev == st.st_dev)
			return file;
	}
	return NULL;
}

int cm_file_write(const struct cm_file *file, uint64_t to, const void *from, size_t length)
{
	if (client_write(&file->client, to, from, length))
		return refuse(-EFAULT, "answer that cannot be written");
	return 0;
}

/* A byte for each event, so that each is an edge for epoll; as far as there is room. */
void cm_file_ring(struct cm_file *file)
{
	char byte = 0;

	while (file->rung < file->waiting &&
	       send(file->wake_fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		file->rung++;
	while (file->rung > file->waiting) {
		/* If the program read the bytes itself, only its own wait fails. */
		if (recv(file->wake_peer_fd, &byte, 1, MSG_DONTWAIT) != 1 && errno == EINTR)
			continue;
		file->rung--;
	}
}
