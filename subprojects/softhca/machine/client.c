/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Clients: how they are known to be alive, and their memory. */
#include "client.h"

#include <base/list.h>
#include <proto.h>

#include <errno.h>
#include <unistd.h>

/* The client is destroyed at the end of the turn: later events of the turn may still be its. */
static void process_gone(struct watch *watch, uint32_t events)
{
	(void)events;
	container_of(watch, struct client, process)->dead = true;
}

int client_open(struct client *client, struct list *clients, int sock, pid_t pid,
		uint64_t probe)
{
	uint32_t word = 0;

	/* A 32-bit daemon could not even name the places in such a program. */
	if ((uintptr_t)probe != probe)
		return -EOVERFLOW;
	client->sock = sock;
	client->pid = pid;
	/* Checked now: later the first command would fail with EFAULT, which tells nothing. */
	if (client_read(client, &word, probe, sizeof(word)) || word != SOFTHCA_MAGIC)
		return -EACCES;
	/* A process that dies ends what it has opened, even if a child still holds the socket. */
	client->process.ready = process_gone;
	client->pidfd = loop_watch_process(pid, &client->process);
	if (client->pidfd < 0)
		return client->pidfd;
	list_add(clients, &client->link);
	return 0;
}

void client_close(struct client *client)
{
	list_del(&client->link);
	loop_forget(client->sock);
	close(client->sock);
	loop_forget(client->pidfd);
	close(client->pidfd);
}

int client_read(const struct client *client, void *to, uint64_t from, size_t length)
{
	struct iovec here = { to, length };
	struct iovec there = { (void *)(uintptr_t)from, length };

	return process_read(client->pid, &here, &there, 1) == (ssize_t)length ? 0 : -EFAULT;
}

int client_write(const struct client *client, uint64_t to, const void *from, size_t length)
{
	struct iovec here = { (void *)from, length };
	struct iovec there = { (void *)(uintptr_t)to, length };

	return process_write(client->pid, &here, &there, 1) == (ssize_t)length ? 0 : -EFAULT;
}
