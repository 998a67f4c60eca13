/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Connections to the daemon, and the greeting on that of a context. */
#include "dev.h"

#include <lookup/lookup.h>
#include <own/real.h>
#include <rings/arena.h>
#include <rings/bypass.h>
#include <message.h>
#include <proto.h>

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

int daemon_connect(const char *directory)
{
	int sock = message_connect(directory, 0);

	return sock < 0 ? sock : fd_move_high(sock);
}

void daemon_tell_end(void)
{
	TELL_ONCE("the daemon has ended, and with it the adapters of this program: commands fail with EIO, "
		  "and so does polling for completions\n");
}

int daemon_receive(int sock, void *data, size_t length, int *fd)
{
	ssize_t got = message_receive(sock, data, length, fd, 0);

	if (got >= 0 && (size_t)got == length)
		return 0;
	if (*fd >= 0)
		real()->close(*fd);
	*fd = -1;
	/* The end of the connection means that the daemon has ended. */
	return got < 0 ? (int)got : -EIO;
}

/* ---- the greeting ---- */

/* Yama's ptrace_scope 1 lets only ancestors, and those it admits, read a process. */
static void admit_daemon(int sock)
{
#ifdef PR_SET_PTRACER
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		prctl(PR_SET_PTRACER, (unsigned long)peer.pid, 0, 0, 0);
#endif
}

/* The daemon reads this word to find out whether it may read this process. */
static const uint32_t probe = SOFTHCA_MAGIC;

/* errno alone does not tell why a device that is listed cannot be opened. */
static void explain_refusal(int status)
{
	if (status == -EACCES)
		TELL_ONCE("the daemon may not read this process' memory; see /proc/sys/kernel/yama/ptrace_scope, and "
			  "whether the process gave up being dumpable\n");
	else if (status == -EOVERFLOW)
		TELL_ONCE("a daemon of 32 bits cannot serve a 64-bit program; start the softhca command of 64 bits, which "
			  "serves both\n");
}

/* If the program has no number left for the page, everything works, but slowly. */
static int receive_wake_page(int sock)
{
	struct softhca_wake_message words;
	int fd;
	int err = daemon_receive(sock, &words, sizeof(words), &fd);

	wake_map(fd);
	return err;
}

static int greet(struct dev *dev)
{
	struct arena_info arena = { .fd = -1 };
	struct softhca_hello hello = {
		.magic = SOFTHCA_MAGIC,
		.version = SOFTHCA_VERSION,
		.kind = dev->cm ? SOFTHCA_CM : SOFTHCA_CONTEXT,
		.device = dev->index, /* or .host, which is at the same place */
		.probe = (uint64_t)(uintptr_t)&probe,
	};
	struct softhca_welcome welcome = { 0 };
	int err;

	if (!dev->cm && !bypass_detect())
		arena = arena_info();
	hello.arena_pages = arena.pages;
	err = message_send(dev->sock, &hello, sizeof(hello), arena.fd, 0);
	if (!err)
		err = daemon_receive(dev->sock, &welcome, sizeof(welcome), &dev->original);
	if (!err)
		err = welcome.status;
	explain_refusal(err);
	if (!err && !dev->cm)
		err = receive_wake_page(dev->sock);
	/* The program has no number left for the doorbell page. */
	if (!err && dev->original < 0)
		err = -EMFILE;
	if (!err && !dev->cm)
		arena_enable(welcome.arena);
	dev->mmap_commands = welcome.mmap_commands;
	return err;
}

int daemon_open(struct dev *dev)
{
	dev->sock = daemon_connect(place_dir());
	if (dev->sock == -ENOENT || dev->sock == -ECONNREFUSED) {
		TELL_ONCE("the daemon in %s has ended without a word; 'softhca start' starts another one\n",
			  place_dir());
		return -ENODEV;
	}
	if (dev->sock < 0)
		return dev->sock;
	admit_daemon(dev->sock);
	return greet(dev);
}
