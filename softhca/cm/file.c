/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Files of the connection manager. */
#include "cm.h"

#include <softhca/base/refuse.h>
#include <softhca/machine/process.h>
#include <softhca/objects/context.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void process_gone(struct watch *watch, uint32_t events)
{
	(void)events;
	/* Not now: the same turn may have more to say about this file. */
	container_of(watch, struct cm_file, process)->dead = true;
}

/*
 * A socket, because waiting for it can be resumed after a signal as waiting in the kernel's write()
 * can; and the flags of its two ends are independent.
 */
static int make_bell(struct cm_file *file)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	file->bell = ends[0];
	file->ear = ends[1];
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
	if (!context_reachable(pid, hello->probe))
		return -EACCES;
	file = calloc(1, sizeof(*file));
	if (!file)
		return -ENOMEM;
	file->machine = machine;
	file->sock = sock;
	file->pid = pid;
	file->host = hello->device == SOFTHCA_EVERY_HOST ? -1 : (int)hello->device;
	list_init(&file->ids);
	list_init(&file->events);
	err = make_bell(file);
	if (err)
		goto out_free;
	/*
	 * A process that dies takes its files with it, even if a child of it still holds the
	 * socket.
	 */
	file->process.ready = process_gone;
	file->pidfd = loop_watch_process(pid, &file->process);
	err = file->pidfd < 0 ? file->pidfd : 0;
	if (err)
		goto out_bell;
	list_add(&machine->cm.files, &file->link);
	*result = file;
	return 0;

out_bell:
	close(file->bell);
	close(file->ear);
out_free:
	free(file);
	return err;
}

int cm_file_read(const struct cm_file *file, void *to, uint64_t from, size_t length)
{
	struct iovec local = { to, length };
	struct iovec far = { (void *)(uintptr_t)from, length };

	return process_read(file->pid, &local, &far, 1) == (ssize_t)length
		       ? 0
		       : refuse(-EFAULT, "request that cannot be read");
}

int cm_file_write(const struct cm_file *file, uint64_t to, const void *from, size_t length)
{
	struct iovec local = { (void *)from, length };
	struct iovec far = { (void *)(uintptr_t)to, length };

	return process_write(file->pid, &local, &far, 1) == (ssize_t)length
		       ? 0
		       : refuse(-EFAULT, "answer that cannot be written");
}

struct cm_file *cm_file_find(const struct hca_machine *machine, int fd)
{
	struct stat st, ear;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	list_for_each(node, &machine->cm.files) {
		struct cm_file *file = container_of(node, struct cm_file, link);

		if (!fstat(file->ear, &ear) && ear.st_ino == st.st_ino && ear.st_dev == st.st_dev)
			return file;
	}
	return NULL;
}

/*
 * One byte for each event, so that each new one is an edge for epoll, too; as far as the socket has
 * room for them.
 */
void cm_file_ring(struct cm_file *file)
{
	char byte = 0;

	while (file->rung < file->waiting &&
	       send(file->bell, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		file->rung++;
	while (file->rung > file->waiting) {
		/* A program that read them itself has spoilt only its own waiting. */
		if (recv(file->ear, &byte, 1, MSG_DONTWAIT) != 1 && errno == EINTR)
			continue;
		file->rung--;
	}
}

void cm_file_destroy(struct cm_file *file)
{
	/* One takes others along: connection requests that nobody has fetched. */
	while (!list_empty(&file->ids))
		cm_id_destroy(container_of(file->ids.next, struct cm_id, member));
	loop_forget(file->sock);
	close(file->sock);
	loop_forget(file->pidfd);
	close(file->pidfd);
	close(file->bell);
	close(file->ear);
	list_del(&file->link);
	free(file);
}
