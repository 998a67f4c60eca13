/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's socket: greetings, commands, farewells. */
#include "server.h"

#include <base/sleep.h>
#include <capture/capture.h>
#include <cm/cm.h>
#include <control/control.h>
#include <fabric/fabric.h>
#include <dir.h>
#include <message.h>
#include <objects/objects.h>
#include <proto.h>
#include <uverbs/cmd.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A connection without a greeting so far. */
struct pending {
	struct watch watch;
	int sock;
	pid_t pid;
};

static struct server {
	struct hca_machine *machine;
	struct watch watch;
	int sock;
	unsigned int pending; /* connections without a greeting so far */
	char *settings; /* the text of those with which it was started */
	size_t settings_size;
} server;

/* ---- messages ---- */

/* A client that does not fetch its answers must not hold up the others. */
static int send_message(int sock, const void *data, size_t length, int fd)
{
	return message_send(sock, data, length, fd, MSG_DONTWAIT);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Answers with a status alone. Returns @err. */
static int answer_status(const struct pending *pending, int err)
{
	const struct softhca_welcome words = { .status = err };

	send_message(pending->sock, &words, sizeof(words), -1);
	return err;
}

/* ---- clients ---- */

/* The next command, with the descriptor that comes with it. Its size, or 0: there is none. */
static size_t take_command(struct client *client, uint32_t events, const void **bytes, int *fd)
{
	static uint64_t buffer[SOFTHCA_MAX_COMMAND / sizeof(uint64_t)];
	ssize_t got = -EAGAIN;

	*fd = -1;
	*bytes = buffer;
	if (events & client->commands.ends)
		client->dead = true;
	if (!client->dead)
		got = message_receive(client->sock, buffer, sizeof(buffer), fd, MSG_DONTWAIT);
	if (got <= 0 && got != -EAGAIN)
		client->dead = true;
	return got > 0 ? (size_t)got : 0;
}

static void command_ready(struct watch *watch, uint32_t events)
{
	struct client *client = container_of(watch, struct client, commands);
	struct softhca_reply reply = { 0 };
	const void *bytes;
	int fd, give = -1;
	size_t size = take_command(client, events, &bytes, &fd);

	if (size) {
		reply.status =
			client->cm ? cm_execute(container_of(client, struct cm_file, client), bytes,
						size, fd)
				   : cmd_execute(container_of(client, struct hca_context, client),
						 bytes, size, fd, &give, &reply.fd_address);
		if (send_message(client->sock, &reply, sizeof(reply), give))
			client->dead = true;
	}
	close_fd(give);
	close_fd(fd);
}

/* The connection's socket becomes the client's. It ends when the program closes it. */
static void accept_client(struct client *client, const struct softhca_welcome *words, int fd)
{
	client->commands.ready = command_ready;
	client->commands.ends = EPOLLHUP | EPOLLRDHUP;
	loop_forget(client->sock);
	if (loop_watch(client->sock, EPOLLIN | EPOLLRDHUP, &client->commands) ||
	    send_message(client->sock, words, sizeof(*words), fd))
		client->dead = true;
}

static int greet_context(struct pending *pending, const struct softhca_hello *hello, int arena_fd)
{
	const struct softhca_wake_message wake = { 0 };
	struct softhca_welcome words = { 0 };
	struct hca_context *ctx;
	int uar = -1;
	int err = context_create(server.machine, hello, pending->sock, pending->pid, arena_fd, &ctx,
				 &uar);

	if (err)
		return answer_status(pending, err);
	words.arena = ctx->arena.pages != 0;
	words.mmap_commands = ctx->device->model->mmap_commands;
	accept_client(&ctx->client, &words, uar);
	close(uar);
	if (send_message(ctx->client.sock, &wake, sizeof(wake), sleep_page()))
		ctx->client.dead = true;
	return 0;
}

static int greet_cm(struct pending *pending, const struct softhca_hello *hello)
{
	const struct softhca_welcome words = { 0 };
	struct cm_file *file;
	int err = cm_file_create(server.machine, hello, pending->sock, pending->pid, &file);

	if (err)
		return answer_status(pending, err);
	accept_client(&file->client, &words, file->wake_peer_fd);
	return 0;
}

static int greet_capture(struct pending *pending, const struct softhca_hello *hello, int file)
{
	const struct softhca_welcome words = { 0 };
	int ring, err = control_capture_begin(server.machine, hello->snap, pending->sock, file,
					      &ring);

	if (err)
		return answer_status(pending, err);
	send_message(pending->sock, &words, sizeof(words), ring);
	close(ring);
	return 0;
}

/* ---- connections without a greeting ---- */

static void pending_free(struct pending *pending, bool close_socket)
{
	server.pending--;
	if (close_socket) {
		loop_forget(pending->sock);
		close(pending->sock);
	}
	free(pending);
}

static void run_question(struct pending *pending, const struct softhca_hello *hello, size_t size)
{
	struct hca_machine *machine = server.machine;
	const char *words = (const char *)(hello + 1);
	const size_t length = size - sizeof(*hello);
	struct softhca_welcome reply = { 0 };
	int text = memfd_create("softhca-answer", MFD_CLOEXEC);
	FILE *out = text < 0 ? NULL : fdopen(text, "w");

	if (!out) {
		close_fd(text);
		answer_status(pending, -EMFILE);
		return;
	}
	reply.status = hello->kind == SOFTHCA_CONTROL
			       ? control_execute(machine, words, length, out)
			       : nldev_execute(machine, words, length, out);
	if (fflush(out))
		reply.status = -ENOMEM;
	send_message(pending->sock, &reply, sizeof(reply), text);
	fclose(out);
}

/* A run shares the daemon of another one if both want the same. */
static int join_run(const struct pending *pending, const char *words, size_t length)
{
	if (length != server.settings_size || memcmp(words, server.settings, length))
		return -EEXIST;
	return fabric_complete(NULL, 0) ? runs_add(pending->pid) : -EINPROGRESS;
}

/* True when the socket has got an owner. */
static bool handle_greeting(struct pending *pending, const uint8_t *bytes, size_t size, int fd)
{
	const struct softhca_hello *hello = (const void *)bytes;

	if (size < sizeof(*hello) || hello->magic != SOFTHCA_MAGIC ||
	    hello->version != SOFTHCA_VERSION) {
		answer_status(pending, -EPROTO);
		return false;
	}
	if (hello->kind == SOFTHCA_CONTEXT)
		return !greet_context(pending, hello, fd);
	if (hello->kind == SOFTHCA_CM)
		return !greet_cm(pending, hello);
	if (hello->kind == SOFTHCA_CAPTURE)
		return !greet_capture(pending, hello, fd);
	if (hello->kind == SOFTHCA_RUN) {
		answer_status(pending,
			      join_run(pending, (const char *)(hello + 1), size - sizeof(*hello)));
		return false;
	}
	if (hello->kind == SOFTHCA_CONTROL || hello->kind == SOFTHCA_NETLINK)
		run_question(pending, hello, size);
	else
		answer_status(pending, -EPROTO);
	return false;
}

static void greeting_ready(struct watch *watch, uint32_t events)
{
	struct pending *pending = container_of(watch, struct pending, watch);
	uint64_t buffer[SOFTHCA_MAX_COMMAND / sizeof(uint64_t)];
	bool kept = false;
	ssize_t got;
	int fd;

	(void)events;
	got = message_receive(pending->sock, buffer, sizeof(buffer), &fd, MSG_DONTWAIT);
	if (got == -EAGAIN)
		return;
	if (got > 0)
		kept = handle_greeting(pending, (const uint8_t *)buffer, (size_t)got, fd);
	close_fd(fd);
	pending_free(pending, !kept);
}

/* Only the user whose daemon this is: its HCA writes into the memory of its clients. */
static int check_peer(int sock, pid_t *pid)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		return -errno;
	*pid = peer.pid;
	return peer.uid == dir_user() ? 0 : -EPERM;
}

static void connection_ready(struct watch *watch, uint32_t events)
{
	struct pending *pending;
	int sock = loop_accept(server.sock, SOCK_CLOEXEC);

	(void)watch;
	(void)events;
	if (sock < 0)
		return;
	pending = calloc(1, sizeof(*pending));
	if (!pending) {
		close(sock);
		return;
	}
	pending->watch.ready = greeting_ready;
	pending->sock = sock;
	server.pending++;
	if (check_peer(sock, &pending->pid)) {
		answer_status(pending, -EPERM);
		pending_free(pending, true);
	} else if (loop_watch(sock, EPOLLIN, &pending->watch)) {
		pending_free(pending, true);
	}
}

/* ---- the server ---- */

static int keep_settings(const struct settings *settings)
{
	FILE *out = open_memstream(&server.settings, &server.settings_size);

	if (!out)
		return -ENOMEM;
	settings_print(settings, out);
	return fclose(out) ? -ENOMEM : 0;
}

int server_open(struct hca_machine *machine, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int sock, err;

	server.machine = machine;
	server.watch.ready = connection_ready;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	err = keep_settings(&machine->settings);
	if (err)
		return err;
	strcpy(address.sun_path, path);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return -errno;
	if (bind(sock, (struct sockaddr *)&address, sizeof(address)) || chmod(path, 0600) ||
	    listen(sock, 128))
		err = -errno;
	else
		err = loop_watch(sock, EPOLLIN, &server.watch);
	if (err)
		close(sock);
	else
		server.sock = sock;
	return err;
}

static void end(struct client *client)
{
	if (client->cm)
		cm_file_destroy(container_of(client, struct cm_file, client));
	else
		context_destroy(container_of(client, struct hca_context, client));
}

void server_close(void)
{
	capture_end();
	list_for_each_safe(struct client, client, &server.machine->clients, link)
		end(client);
	close(server.sock);
}

void server_reap(void)
{
	list_for_each_safe(struct client, client, &server.machine->clients, link) {
		if (client->dead)
			end(client);
	}
}

bool server_idle(void)
{
	return !server.pending && list_empty(&server.machine->clients);
}
