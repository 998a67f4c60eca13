/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Control messages between the coordinator and its children: one packet each, over a socket pair.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "cluster.h"

int control_send(int socket, const struct control *control)
{
	ssize_t sent;

	do
		sent = send(socket, control, sizeof(*control), MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -1 : 0;
}

int control_receive(int socket, struct control *control, int milliseconds)
{
	struct pollfd pollfd = { .fd = socket, .events = POLLIN };
	ssize_t got;
	int ready;

	do
		ready = poll(&pollfd, 1, milliseconds);
	while (ready < 0 && errno == EINTR);
	if (ready == 0)
		errno = ETIMEDOUT;
	if (ready <= 0)
		return -1;
	got = recv(socket, control, sizeof(*control), 0);
	if (got == (ssize_t)sizeof(*control))
		return 0;
	errno = got < 0 && errno != ECONNRESET ? errno : EPIPE;
	return -1;
}

bool control_hung_up(int socket)
{
	struct pollfd pollfd = { .fd = socket, .events = 0 };

	return poll(&pollfd, 1, 0) == 1 && pollfd.revents & (POLLHUP | POLLERR);
}
