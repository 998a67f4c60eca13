/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl capture`, and what the daemon knows of the process that writes the file. */
#include "control.h"
#include "request.h"

#include <capture/capture.h>
#include <message.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct writer {
	struct watch watch;
	int sock, file;
	bool runs;
	bool ended; /* and the rest tells how */
	int err;
	struct capture_counts counts;
} writer;

/* A writer that was killed may have left a part of a record at the end of the file. */
static void writer_ended(int err)
{
	struct capture_counts counts = capture_counted();
	struct stat st = { 0 };
	uint64_t whole, lost;

	fstat(writer.file, &st);
	whole = capture_close((uint64_t)st.st_size, &lost);
	counts.dropped += lost;
	if (ftruncate(writer.file, (off_t)whole) && !err)
		err = -errno;
	loop_forget(writer.sock);
	close(writer.sock);
	close(writer.file);
	writer = (struct writer){ .ended = true, .err = err, .counts = counts };
}

/* A writer's only message is the error, or 0, with which it ends. */
static void writer_ready(struct watch *watch, uint32_t events)
{
	int32_t err;
	int fd;
	ssize_t got = message_receive(writer.sock, &err, sizeof(err), &fd, MSG_DONTWAIT);
	const bool good = got == sizeof(err) && err <= 0 && err > -ERRNO_END;

	(void)watch;
	(void)events;
	if (fd >= 0)
		close(fd);
	if (got != -EAGAIN)
		writer_ended(good ? err : -EOWNERDEAD);
}

int control_capture_begin(const struct hca_machine *machine, uint32_t snap, int sock, int file,
			  int *ring)
{
	struct stat st;
	int err;

	if (writer.runs)
		return -EBUSY;
	if (fstat(file, &st) || !S_ISREG(st.st_mode))
		return -EINVAL;
	/* The caller forgets a socket that does not become the writer's. */
	loop_forget(sock);
	err = loop_watch(sock, EPOLLIN | EPOLLRDHUP, &writer.watch);
	if (err)
		return err;
	file = fcntl(file, F_DUPFD_CLOEXEC, 0);
	if (file < 0)
		return -errno;
	err = capture_start(machine, snap, ring);
	if (err) {
		close(file);
		return err;
	}
	writer = (struct writer){ .watch.ready = writer_ready, .sock = sock, .file = file,
				  .runs = true };
	return 0;
}

static int print_end(struct request *request)
{
	if (!writer.ended) {
		fputs("no capture has begun\n", request->out);
		return -ENOENT;
	}
	if (writer.err)
		fprintf(request->out, "the capture has ended early: %s; ",
			writer.err == -EOWNERDEAD ? "the process that wrote the file was killed"
						  : strerror(-writer.err));
	fprintf(request->out, "%llu packets captured, %llu more dropped\n",
		(unsigned long long)(writer.counts.sent - writer.counts.dropped),
		(unsigned long long)writer.counts.dropped);
	return writer.err;
}

/* Without a word it says how far the capture is. -EINPROGRESS: the file is not complete yet. */
int control_capture(struct request *request)
{
	const bool stop = request->count == 2 && !strcmp(request->word[1], "--stop");
	const struct capture_counts counts = capture_counted();

	if (request->count > 1 && !stop)
		return request_usage(request);
	if (stop && writer.runs) {
		capture_end();
		return -EINPROGRESS;
	}
	if (writer.runs) {
		fprintf(request->out, "capturing, %llu packets so far, %llu more dropped\n",
			(unsigned long long)(counts.sent - counts.dropped),
			(unsigned long long)counts.dropped);
		return 0;
	}
	return print_end(request);
}
