/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The list of machines: its names, their addresses, and which of them is this one. */
#include "fabric.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool has_name(const struct fabric_list *list, const char *name)
{
	for (int i = 0; i < list->count; i++) {
		if (!strcmp(list->host[i].name, name))
			return true;
	}
	return false;
}

/* The name that a line begins with. */
static int take_line(struct fabric_list *list, char *line, char *why, size_t size)
{
	char *name = line + strspn(line, " \t");

	name[strcspn(name, " \t\r\n")] = '\0';
	/* An IPv6 address has colons itself, and no count of processes. */
	if (strchr(name, ':') == strrchr(name, ':'))
		name[strcspn(name, ":")] = '\0';
	if (!name[0] || name[0] == '#' || has_name(list, name))
		return 0;
	if (strlen(name) >= FABRIC_NAME || list->count == FABRIC_MAX_MACHINES) {
		snprintf(why, size,
			 "'%.60s' is too long a name, or more than %d machines are listed", name,
			 FABRIC_MAX_MACHINES);
		return -E2BIG;
	}
	strcpy(list->host[list->count++].name, name);
	return 0;
}

static bool is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	return address->sa_family == AF_INET ? ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET
					     : IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* A system's own name is often one of 127.0.1.1, where no other machine reaches it. */
static int find_address(struct fabric_host *host, bool alone, char *why, size_t size)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found, *at;
	int err = getaddrinfo(host->name, NULL, &hints, &found);

	if (err) {
		snprintf(why, size, "%.200s: %s", host->name, gai_strerror(err));
		return -ENOENT;
	}
	for (at = found; at && !alone && is_loopback(at->ai_addr); at = at->ai_next)
		continue;
	if (at) {
		memcpy(&host->address, at->ai_addr, at->ai_addrlen);
		host->length = at->ai_addrlen;
	} else {
		snprintf(
			why, size,
			"%.200s has only loopback addresses here (/etc/hosts?), where no other machine reaches it",
			host->name);
		err = -EADDRNOTAVAIL;
	}
	freeaddrinfo(found);
	return err;
}

/* Only a machine that has an address can bind a socket to it. */
static bool is_here(const struct fabric_host *host)
{
	int sock = socket(host->address.sin6_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool here = sock >= 0 && !bind(sock, (const struct sockaddr *)&host->address, host->length);

	if (sock >= 0)
		close(sock);
	return here;
}

static int read_names(FILE *file, struct fabric_list *list, char *why, size_t size)
{
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, file) >= 0)
		err = take_line(list, line, why, size);
	free(line);
	return err;
}

int fabric_read_list(const char *path, struct fabric_list *list, char *why, size_t size)
{
	FILE *file = fopen(path, "re");
	int err;

	list->count = 0;
	list->own = -1;
	if (!file) {
		err = -errno;
		snprintf(why, size, "%.400s: %s", path, strerror(errno));
		return err;
	}
	err = read_names(file, list, why, size);
	fclose(file);
	for (int i = 0; !err && i < list->count; i++) {
		err = find_address(&list->host[i], list->count == 1, why, size);
		if (!err && list->own < 0 && is_here(&list->host[i]))
			list->own = i;
	}
	if (err || list->own >= 0)
		return err;
	snprintf(why, size, "%.400s: names %d machines, and this one has the address of none", path,
		 list->count);
	return -ENOENT;
}
