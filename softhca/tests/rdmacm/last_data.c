/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * After a peer has closed its rsocket, what it sent before can be read. Polling returns POLLIN and
 * POLLHUP together. A reader has to look at POLLIN first, which rstream -T async does not.
 */
#define GROUP "last_data"

#include "ground.h"

#include <poll.h>
#include <rdma/rsocket.h>

#define BLOCK	 64
#define BLOCKS	 100
#define PATIENCE 30000 /* milliseconds */

static unsigned char byte_at(int at)
{
	return (unsigned char)(at % 251);
}

/* Accepts one connection, sends all of the data, and closes at once. */
static void *speak(void *file)
{
	unsigned char block[BLOCK];
	int fd = raccept(*(int *)file, NULL, NULL);

	NEED(fd >= 0);
	for (int i = 0; i < BLOCKS; i++) {
		for (int j = 0; j < BLOCK; j++)
			block[j] = byte_at(i * BLOCK + j);
		NEED(rsend(fd, block, BLOCK, 0) == BLOCK);
	}
	NEED(!rshutdown(fd, SHUT_RDWR));
	rclose(fd);
	return NULL;
}

/* Waits until the peer has closed, and only then reads. */
static void listen_late(int fd)
{
	struct pollfd gone = { .fd = fd }, both = { .fd = fd, .events = POLLIN };
	unsigned char some[1000];
	ssize_t bytes;
	int got = 0;

	NEED(rpoll(&gone, 1, PATIENCE) == 1 && gone.revents == POLLHUP);
	NEED(rpoll(&both, 1, PATIENCE) == 1 && both.revents == (POLLIN | POLLHUP));
	while ((bytes = rrecv(fd, some, sizeof(some), 0)) > 0) {
		for (ssize_t i = 0; i < bytes; i++)
			must_eq(some[i], byte_at(got + (int)i));
		got += (int)bytes;
	}
	must_eq(bytes, 0);
	must_eq(got, BLOCK * BLOCKS);
}

ROW("what a peer sent before it closed can be read")
{
	const struct sockaddr *there = address(THERE, PORT + 1);
	int server = rsocket(AF_INET, SOCK_STREAM, 0), client = rsocket(AF_INET, SOCK_STREAM, 0);
	pthread_t speaker;

	NEED(!rbind(server, there, sizeof(struct sockaddr_in)) && !rlisten(server, 1));
	NEED(!pthread_create(&speaker, NULL, speak, &server));
	NEED(!rconnect(client, there, sizeof(struct sockaddr_in)));
	listen_late(client);
	NEED(!pthread_join(speaker, NULL));
}
