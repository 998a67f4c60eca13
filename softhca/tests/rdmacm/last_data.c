/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * After a peer has closed its rsocket, what it sent before can be read. Polling returns POLLIN and
 * POLLHUP together. A reader has to look at POLLIN first, which rstream -T async does not.
 */
#include "ground.h"

#include <poll.h>
#include <rdma/rsocket.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCK	 64
#define BLOCKS	 100
#define PATIENCE 30000 /* milliseconds */

static unsigned char byte_at(int at)
{
	return (unsigned char)(at % 251);
}

/* Sends all of the data, and closes at once. */
static void speak(int fd)
{
	unsigned char block[BLOCK];

	for (int i = 0; i < BLOCKS; i++) {
		for (int j = 0; j < BLOCK; j++)
			block[j] = byte_at(i * BLOCK + j);
		NEED(rsend(fd, block, BLOCK, 0) == BLOCK);
	}
	NEED(!rshutdown(fd, SHUT_RDWR));
	rclose(fd);
}

/* Waits until the peer has closed, and only then reads. */
static void listen_late(int fd)
{
	struct pollfd gone = { .fd = fd }, both = { .fd = fd, .events = POLLIN };
	int got = 0;

	NEED(rpoll(&gone, 1, PATIENCE) == 1 && gone.revents == POLLHUP);
	NEED(rpoll(&both, 1, PATIENCE) == 1 && both.revents == (POLLIN | POLLHUP));
	for (;;) {
		unsigned char some[1000];
		ssize_t bytes = rrecv(fd, some, sizeof(some), 0);

		NEED(bytes >= 0);
		if (!bytes)
			break;
		for (ssize_t i = 0; i < bytes; i++)
			NEED(some[i] == byte_at(got + (int)i));
		got += (int)bytes;
	}
	NEED(got == BLOCK * BLOCKS);
	rclose(fd);
}

int main(void)
{
	int ready[2], status, fd;
	char byte = 0;
	pid_t child;

	NEED(!pipe(ready));
	child = fork();
	NEED(child >= 0);
	if (!child) {
		int listener = rsocket(AF_INET, SOCK_STREAM, 0);

		NEED(listener >= 0 &&
		     !rbind(listener, address(THERE, PORT), sizeof(struct sockaddr_in)) &&
		     !rlisten(listener, 1));
		NEED(write(ready[1], &byte, 1) == 1);
		fd = raccept(listener, NULL, NULL);
		NEED(fd >= 0);
		speak(fd);
		exit(EXIT_SUCCESS);
	}
	NEED(read(ready[0], &byte, 1) == 1);
	fd = rsocket(AF_INET, SOCK_STREAM, 0);
	NEED(fd >= 0 && !rconnect(fd, address(THERE, PORT), sizeof(struct sockaddr_in)));
	listen_late(fd);
	NEED(waitpid(child, &status, 0) == child && !status);
	return EXIT_SUCCESS;
}
