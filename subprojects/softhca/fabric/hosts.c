/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The list of machines: its names, their addresses, and which of them is this one. */
#include "fabric.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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
	if (list->count == FABRIC_MAX_MACHINES) {
		snprintf(why, size, "the list has more than %d machines", FABRIC_MAX_MACHINES);
		return -E2BIG;
	}
	if (strlen(name) >= FABRIC_NAME) {
		snprintf(why, size, "'%.60s...' is too long for a name", name);
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

static bool is_reached(const struct sockaddr *address)
{
	const struct sockaddr_in6 *in6 = (const void *)address;

	return !is_loopback(address) &&
	       (address->sa_family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr));
}

static const struct addrinfo *first_of(const struct addrinfo *at, int family, bool alone)
{
	while (at && (at->ai_family != family || !(alone || is_reached(at->ai_addr))))
		at = at->ai_next;
	return at;
}

/*
 * /etc/hosts often gives a system's own name 127.0.1.1, which other machines cannot reach.
 * -EAFNOSUPPORT: the addresses that they reach are not of @family.
 */
static int find_address(struct fabric_host *host, int family, bool alone, char *why, size_t size)
{
	const int other = family == AF_INET ? AF_INET6 : AF_INET;
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const struct addrinfo *best;
	struct addrinfo *found;
	int err = getaddrinfo(host->name, NULL, &hints, &found);

	if (err) {
		snprintf(why, size, "%.200s: %s", host->name, gai_strerror(err));
		return -ENOENT;
	}
	best = first_of(found, family, alone);
	if (best) {
		memcpy(&host->address, best->ai_addr, best->ai_addrlen);
		host->length = best->ai_addrlen;
	} else if (first_of(found, other, alone)) {
		snprintf(
			why, size,
			"the machines have no addresses of one kind, IPv4 or IPv6: %.200s has no IPv%d address that others reach",
			host->name, family == AF_INET ? 4 : 6);
		err = -EAFNOSUPPORT;
	} else {
		snprintf(
			why, size,
			"%.200s: no other machine reaches the addresses that it has here (/etc/hosts?)",
			host->name);
		err = -EADDRNOTAVAIL;
	}
	freeaddrinfo(found);
	return err;
}

static bool same_address(const void *one, const void *other)
{
	const struct sockaddr_in *in = one, *other_in = other;
	const struct sockaddr_in6 *in6 = one, *other_in6 = other;

	if (in->sin_family != other_in->sin_family)
		return false;
	return in->sin_family == AF_INET
		       ? in->sin_addr.s_addr == other_in->sin_addr.s_addr
		       : IN6_ARE_ADDR_EQUAL(&in6->sin6_addr, &other_in6->sin6_addr);
}

/* To bind a socket to the address would not tell: see ip(7), ip_nonlocal_bind. */
static bool is_here(const struct fabric_host *host, const struct ifaddrs *own)
{
	while (own && !(own->ifa_addr && same_address(own->ifa_addr, &host->address)))
		own = own->ifa_next;
	return own || is_loopback((const void *)&host->address);
}

/* A machine with two names would wait for itself. */
static int check_among(const struct fabric_list *list, int machine, char *why, size_t size)
{
	const struct fabric_host *host = &list->host[machine];

	for (int i = 0; i < machine; i++) {
		if (!same_address(&list->host[i].address, &host->address))
			continue;
		snprintf(why, size, "%.200s and %.200s have the same address", list->host[i].name,
			 host->name);
		return -EEXIST;
	}
	return 0;
}

static int read_names(FILE *file, struct fabric_list *list, char *why, size_t size)
{
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, file) >= 0)
		err = take_line(list, line, why, size);
	if (!err && ferror(file)) {
		err = -errno;
		snprintf(why, size, "the list of machines: %s", strerror(errno));
	}
	free(line);
	return err;
}

static int find_family(struct fabric_list *list, int family, const struct ifaddrs *own, char *why,
		       size_t size)
{
	int err = 0;

	list->own = -1;
	for (int i = 0; !err && i < list->count; i++) {
		err = find_address(&list->host[i], family, list->count == 1, why, size);
		if (!err)
			err = check_among(list, i, why, size);
		if (!err && list->own < 0 && is_here(&list->host[i], own))
			list->own = i;
	}
	return err;
}

/* libfabric has addresses of one kind. Resolvers order those of a name differently. */
static int find_hosts(struct fabric_list *list, char *why, size_t size)
{
	struct ifaddrs *own;
	int err;

	if (getifaddrs(&own)) {
		err = -errno;
		snprintf(why, size, "addresses of this machine: %s", strerror(-err));
		return err;
	}
	err = find_family(list, AF_INET, own, why, size);
	if (err == -EAFNOSUPPORT) {
		why[0] = '\0'; /* a sentence would be a failure */
		err = find_family(list, AF_INET6, own, why, size);
	}
	freeifaddrs(own);
	return err;
}

int fabric_read_list(const char *path, struct fabric_list *list, char *why, size_t size)
{
	FILE *file = fopen(path, "re");
	int err;

	list->count = 0;
	if (!file) {
		err = -errno;
		snprintf(why, size, "%.400s: %s", path, strerror(errno));
		return err;
	}
	err = read_names(file, list, why, size);
	fclose(file);
	if (!err)
		err = find_hosts(list, why, size);
	if (err || list->own >= 0)
		return err;
	snprintf(why, size, "%.400s: names %d machines, and this one has the address of none", path,
		 list->count);
	return -ENOENT;
}
