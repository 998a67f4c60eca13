/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The system calls on an opened context: commands and mappings. */
#include "dev.h"

#include <own/real.h>
#include <rings/arena.h>
#include <rings/bypass.h>
#include <message.h>
#include <proto.h>

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- descriptors that commands name by number: the daemon needs the files themselves ---- */

static int fd_at(const void *data, size_t length, size_t offset)
{
	int fd;

	if (length < offset + sizeof(fd))
		return -1;
	memcpy(&fd, (const char *)data + offset, sizeof(fd));
	return fd >= 0 && fcntl(fd, F_GETFD) >= 0 ? fd : -1;
}

/* The descriptor that a command of uverbs names; -1 if it names no open descriptor. */
static int named_fd(const void *data, size_t length)
{
	const struct ib_uverbs_cmd_hdr *hdr = data;
	size_t offset;

	switch (hdr->command) {
	case IB_USER_VERBS_CMD_CREATE_CQ:
		offset = sizeof(*hdr) + offsetof(struct ib_uverbs_create_cq, comp_channel);
		break;
	case IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_CQ:
		offset = sizeof(*hdr) + sizeof(struct ib_uverbs_ex_cmd_hdr) +
			 offsetof(struct ib_uverbs_ex_create_cq, comp_channel);
		break;
	case IB_USER_VERBS_CMD_OPEN_XRCD:
		offset = sizeof(*hdr) + offsetof(struct ib_uverbs_open_xrcd, fd);
		break;
	default:
		return -1;
	}
	return fd_at(data, length, offset);
}

/* The same for a command of the connection manager. */
static int named_fd_cm(const void *data, size_t length)
{
	const struct rdma_ucm_cmd_hdr *hdr = data;

	if (hdr->cmd != RDMA_USER_CM_CMD_MIGRATE_ID)
		return -1;
	return fd_at(data, length, sizeof(*hdr) + offsetof(struct rdma_ucm_migrate_id, fd));
}

/* ---- write ---- */

/* Sends a command and receives its answer. Returns the command's own result, or -errno. */
static int exchange(struct dev *dev, const void *data, size_t length)
{
	struct softhca_reply reply;
	const int sock = dev_socket(dev);
	int fd;
	int err = message_send(sock, data, length,
			       dev->cm ? named_fd_cm(data, length) : named_fd(data, length), 0);

	if (!err)
		err = daemon_receive(sock, &reply, sizeof(reply), &fd);
	/* If the daemon has ended, the device has gone for the program. */
	if (err == -EPIPE || err == -ECONNRESET)
		err = -EIO;
	if (err == -EIO)
		daemon_tell_end();
	if (err)
		return err;
	if (reply.status || !reply.fd_address)
		return reply.status;
	/* The program has no number left, so the system dropped the descriptor. */
	if (fd < 0)
		return -EMFILE;
	memcpy((void *)(uintptr_t)reply.fd_address, &fd, sizeof(fd));
	return 0;
}

/* The result of a command if another thread has begun to close the file. */
static int closing_error(const struct dev *dev, const void *data)
{
	const struct rdma_ucm_cmd_hdr *header = data;

	return dev->cm && header->cmd == RDMA_USER_CM_CMD_GET_EVENT ? -EAGAIN : -EBADF;
}

/* No thread is cancelled between a command and its answer: the next one would read that answer. */
static int locked_command(struct dev *dev, const uint64_t *data, size_t length)
{
	int err = 0, cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&dev->command_lock);
	/* Only libmlx5, whose mmap() offsets hold commands, has doorbell records in the heap. */
	if (dev->mmap_commands)
		err = records_before(&dev->records, data, length);
	if (!err)
		err = atomic_load(&dev->closing) ? closing_error(dev, data)
						 : exchange(dev, data, length);
	if (dev->mmap_commands)
		records_after(&dev->records, data, length, err);
	if (!err && !dev->cm) {
		cqs_note(dev, data, length);
		wake_note(dev, data, length);
	}
	pthread_mutex_unlock(&dev->command_lock);
	pthread_setcancelstate(cancel, NULL);
	return err;
}

static void put_when_cancelled(void *dev)
{
	dev_put(dev);
}

/* As in the kernel, where a thread that asked just before the close goes on waiting. */
static int wait_for_ever(void)
{
	pause();
	return -EINTR;
}

/* recv() and not poll(): as the kernel's write() it goes on after a signal with SA_RESTART. */
static int wait_readable(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, 1, MSG_PEEK);

	if (got < 0)
		return -errno;
	/* The device has gone with the daemon. */
	return got ? 0 : -EIO;
}

/* Without the lock: other threads cause the event. The thread may be cancelled here. */
static int wait_for_event(struct dev *dev)
{
	int err;

	pthread_cleanup_push(put_when_cancelled, dev);
	err = atomic_load(&dev->closing) ? 0 : wait_readable(dev->original);
	/* A close() in another thread may have ended the wait. */
	if (atomic_load(&dev->closing))
		err = wait_for_ever();
	pthread_cleanup_pop(0);
	return err;
}

/*
 * rdma-core 18 and 19 write only 16 of the 24 bytes of DESTROY_CQ. As the kernel does, this reads
 * the other 8 behind them, with the handle. Returns the whole length, or 0 if it cannot read them.
 */
static size_t whole_length(const struct dev *dev, uint64_t *copy, const void *data, size_t length)
{
	struct ib_uverbs_cmd_hdr *hdr = (void *)copy;

	if (dev->cm || hdr->command != IB_USER_VERBS_CMD_DESTROY_CQ || length != 16 ||
	    hdr->in_words != 4)
		return length;
	hdr->in_words = 6;
	return peek(copy + 2, (const char *)data + length, 8) ? length + 8 : 0;
}

ssize_t dev_write(struct dev *dev, const void *data, size_t length)
{
	uint64_t copy[SOFTHCA_MAX_COMMAND / sizeof(uint64_t)];
	size_t whole = 0;
	int saved = errno;
	int err;

	/* Before the lock is taken: in a forked child it may be held for ever. */
	if (dev->pid != getpid()) {
		errno = EIO;
		return -1;
	}
	if (length < SOFTHCA_MIN_COMMAND || length > SOFTHCA_MAX_COMMAND) {
		errno = EINVAL;
		return -1;
	}
	/* The program may overwrite mmap() at any time, so each command looks. */
	bypass_detect();
	if (peek(copy, data, length))
		whole = whole_length(dev, copy, data, length);
	err = whole ? 0 : -EFAULT;
	while (!err) {
		err = locked_command(dev, copy, whole);
		if (err != -EAGAIN || !dev->cm)
			break;
		err = wait_for_event(dev);
	}
	errno = err ? -err : saved;
	return err ? -1 : (ssize_t)length;
}

/* ---- mmap ---- */

/* libmlx5 puts a page index into the lowest 8 bits of the page number, and a command above it. */
enum { MMAP_DOORBELLS = 0, MMAP_CONTIGUOUS = 1 };

/* The command in the offset, or -1. */
static int mmap_command(const struct dev *dev, off64_t offset)
{
	uint64_t page = (uint64_t)offset / SOFTHCA_UAR_LEN;

	if ((uint64_t)offset % SOFTHCA_UAR_LEN || (!dev->mmap_commands && page))
		return -1;
	return page >> 8 > INT8_MAX ? -1 : (int)(page >> 8);
}

void *dev_mmap(struct dev *dev, size_t length, int prot, int flags, off64_t offset)
{
	int command = dev->cm || dev->pid != getpid() ? -1 : mmap_command(dev, offset);

	/* BlueFlame and the clock, which have pages of their own, are not offered. */
	if (command == MMAP_DOORBELLS && length == SOFTHCA_UAR_LEN)
		return real()->mmap64(NULL, length, prot, flags, dev->fd, 0);
	if (command == MMAP_CONTIGUOUS)
		return arena_alloc(length);
	errno = EINVAL;
	return MAP_FAILED;
}
