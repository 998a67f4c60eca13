/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl capture FILE`: creates the file, and a process in the background that writes it. */
#include "cli.h"

#include <capture/capture.h>
#include <capture/ring.h>
#include <dir.h>
#include <message.h>
#include <proto.h>
#include <server/server.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVERY 10 /* milliseconds between two looks at the ring */

/* Goes on after the daemon's end, until all records are in the file. */
static void __attribute__((noreturn)) write_file(int sock, int file, struct capture_ring *ring)
{
	struct pollfd daemon = { .fd = sock, .events = POLLIN };
	int32_t err = daemon_detach(sock, file);
	bool last = false;

	signal(SIGXFSZ, SIG_IGN); /* a limit of the file's size is an error of write() */
	while (!err && !last) {
		/* The daemon sends nothing: the socket is ready when the daemon has ended. */
		last = poll(&daemon, 1, EVERY) > 0 || ring->ended;
		err = ring_write(ring, file);
	}
	if (close(file) && !err)
		err = -errno;
	message_send(sock, &err, sizeof(err), -1, MSG_DONTWAIT);
	_exit(EXIT_SUCCESS);
}

/* 0 or -errno. The exit after an error closes the socket, by which the daemon ends the capture. */
static int start_writer(int sock, int file, int ring_fd)
{
	struct capture_ring *ring = ring_map(ring_fd);
	pid_t child;

	if (!ring)
		return -ENOMEM;
	/* Before fork(): the writer has its own name from its beginning. */
	prctl(PR_SET_NAME, "softhca-capture");
	child = fork();
	if (child < 0)
		return -errno;
	if (!child)
		write_file(sock, file, ring);
	return 0;
}

/* 0, the exit status after a message, or -errno. */
static int begin(int file, uint32_t snap)
{
	const struct softhca_hello hello = { SOFTHCA_MAGIC, SOFTHCA_VERSION,
					     .kind = SOFTHCA_CAPTURE, .snap = snap };
	struct softhca_welcome reply = { 0 };
	char directory[DIR_MAX + 1];
	int ring = -1, sock = cli_connect(directory), err;

	if (sock < 0)
		return sock;
	err = message_send(sock, &hello, sizeof(hello), file, 0);
	if (!err)
		err = cli_receive(sock, &reply, &ring);
	if (!err && reply.status == -EBUSY)
		err = cli_refuse(CLI_FAILED, "a capture runs already; 'softhca ctl capture --stop' ends it");
	else if (!err && reply.status)
		err = cli_daemon_refuses(directory, reply.status);
	return err ? err : start_writer(sock, file, ring);
}

/* Takes the words, in any order. CLI_GO_ON, CLI_HELP or the exit status. */
static int take_words(int argc, char **argv, int *snap, const char **file)
{
	static const struct option known[] = { { "snap", required_argument, NULL, 's' }, { 0 } };
	int kind, files = 0;
	char text[512];

	*snap = CAPTURE_MOST;
	while (argv[optind]) {
		kind = cli_next_option(argc, argv, known);
		if (kind == 'h')
			return CLI_HELP;
		if (kind == '?') {
			snprintf(text, sizeof(text), "capture: %s: unknown option",
				 argv[optind - 1]);
			return cli_refuse_usage("ctl", text);
		}
		if (kind == ':' ||
		    (kind == 's' && !settings_number(optarg, CAPTURE_LEAST, CAPTURE_MOST, snap)))
			return cli_refuse_usage("ctl", "capture takes --snap=BYTES, 128 to 8192");
		if (kind == -1 && argv[optind]) {
			*file = argv[optind++];
			files++;
		}
	}
	return files == 1 ? CLI_GO_ON : cli_refuse_usage("ctl", "capture takes one file");
}

_Static_assert(CAPTURE_LEAST == 128 && CAPTURE_MOST == 8192, "as the message says");

int cli_capture(int argc, char **argv)
{
	const char *name;
	int snap, file, err, status = take_words(argc, argv, &snap, &name);

	if (status != CLI_GO_ON)
		return status;
	/* O_EXCL: in a shared directory another user may have left a link or a FIFO there. */
	file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return cli_refuse(CLI_REFUSED, "%s: %s", name, strerror(errno));
	err = begin(file, (uint32_t)snap);
	if (err)
		unlink(name);
	return err > 0 ? err : cli_report(err);
}
