/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The network interfaces and addresses of the ports, in the namespace of `softhca run --net`. */
#include "server.h"

#include <base/nl.h>
#include <machine/port.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Sockets for ioctl(2). @ipv6 is -1 where the kernel has no IPv6. */
struct sockets {
	int ipv4, ipv6;
};

/* ---- interfaces ---- */

/* Sends the message, and reads the kernel's answer. 0 or -errno. */
static int ask_kernel(const char *message, size_t length)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr told;
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (send(fd, message, length, 0) < 0 || recv(fd, &answer, sizeof(answer), 0) < 0)
		err = -errno;
	close(fd);
	return err ? err : answer.told.error;
}

/* An interface of the kind that `ip link add type KIND` makes. -EOPNOTSUPP: there is no such. */
static int make_interface(const char *kind, const char *name, const uint8_t mac[6])
{
	const struct ifinfomsg none = { .ifi_family = AF_UNSPEC };
	char *message = NULL;
	size_t length = 0;
	struct nl nl = { .out = open_memstream(&message, &length) };
	int err;

	if (!nl.out)
		return -ENOMEM;
	nl_message(&nl, RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, 1);
	nl_raw(&nl, &none, sizeof(none));
	nl_text(&nl, IFLA_IFNAME, name);
	nl_attribute(&nl, IFLA_ADDRESS, mac, 6);
	nl_nest(&nl, IFLA_LINKINFO);
	nl_text(&nl, IFLA_INFO_KIND, kind);
	nl_end_message(&nl);
	fclose(nl.out);
	err = nl.failed ? -EMSGSIZE : ask_kernel(message, length);
	free(message);
	return err;
}

/* Ports are counted over all devices. */
static int place_of(const struct hca_device *device, int number)
{
	return device->index * device->machine->settings.ports + number - 1;
}

/* For RoCE only. A kernel that makes no interface of these kinds leaves the port without one. */
static int give_interface(struct hca_device *device, int number)
{
	static const char *const kinds[] = { "dummy", "ifb" };
	struct hca_port *port = &device->port[number];
	int err = -EOPNOTSUPP;
	char name[IFNAMSIZ];
	uint8_t mac[6];

	if (!device->machine->settings.ethernet)
		return 0;
	snprintf(name, sizeof(name), "eth%d", place_of(device, number));
	port_own_mac(device, (uint8_t)number, mac);
	for (size_t i = 0; err == -EOPNOTSUPP && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		err = make_interface(kinds[i], name, mac);
	if (err)
		return err == -EOPNOTSUPP ? 0 : err;
	strcpy(port->interface, name);
	port->interface_index = if_nametoindex(name);
	return 0;
}

static int set_up(int fd, const char *name)
{
	struct ifreq asked = { 0 };

	strcpy(asked.ifr_name, name);
	if (ioctl(fd, SIOCGIFFLAGS, &asked))
		return -errno;
	asked.ifr_flags |= IFF_UP;
	return ioctl(fd, SIOCSIFFLAGS, &asked) ? -errno : 0;
}

/* ---- addresses ---- */

static int set_ipv4(int fd, unsigned long request, const char *name, uint32_t address)
{
	struct ifreq asked = { 0 };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };

	strcpy(asked.ifr_name, name);
	memcpy(&asked.ifr_addr, &in, sizeof(in));
	return ioctl(fd, request, &asked) ? -errno : 0;
}

/* fd00::198.18.N.1, as the connection manager has it. */
static int add_ipv6(int fd, const struct hca_device *device, uint8_t port, const char *name,
		    uint32_t prefix)
{
	struct in6_ifreq asked = { .ifr6_prefixlen = prefix,
				   .ifr6_ifindex = (int)if_nametoindex(name) };

	port_ipv6(device, port, asked.ifr6_addr.s6_addr);
	return ioctl(fd, SIOCSIFADDR, &asked) ? -errno : 0;
}

/*
 * The interfaces of all ports are in one network of 16 bits. On the loopback interface each address
 * has a label and a mask of 32 bits: that interface answers for all addresses of its networks.
 */
static int add_addresses(const struct sockets *sockets, const struct hca_device *device, int number)
{
	const struct hca_port *port = &device->port[number];
	const bool own = port->interface_index;
	const char *name = own ? port->interface : "lo";
	char label[IFNAMSIZ];
	const uint32_t address = port_ipv4(device, (uint8_t)number);
	int err = set_up(sockets->ipv4, name);

	if (own)
		strcpy(label, name);
	else
		snprintf(label, sizeof(label), "lo:%d", place_of(device, number));
	if (!err)
		err = set_ipv4(sockets->ipv4, SIOCSIFADDR, label, address);
	if (!err)
		err = set_ipv4(sockets->ipv4, SIOCSIFNETMASK, label,
			       own ? 0xffff0000 : UINT32_MAX);
	if (!err && sockets->ipv6 >= 0)
		err = add_ipv6(sockets->ipv6, device, (uint8_t)number, name, own ? 64 : 128);
	return err;
}

static int create_all(const struct sockets *sockets, struct hca_machine *machine)
{
	const struct settings *settings = &machine->settings;
	int err = set_up(sockets->ipv4, "lo");

	for (int i = 0; !err && i < settings->devices * settings->ports; i++) {
		struct hca_device *device = &machine->device[i / settings->ports];
		int port = i % settings->ports + 1;

		err = give_interface(device, port);
		if (!err)
			err = add_addresses(sockets, device, port);
	}
	return err;
}

int net_create(struct hca_machine *machine)
{
	struct sockets sockets = { socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), -1 };
	int err;

	if (sockets.ipv4 < 0)
		return -errno;
	if (!access("/proc/sys/net/ipv6/conf/lo", F_OK))
		sockets.ipv6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	err = create_all(&sockets, machine);
	close(sockets.ipv4);
	if (sockets.ipv6 >= 0)
		close(sockets.ipv6);
	return err;
}
