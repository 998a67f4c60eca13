/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca run --net`: a network namespace whose loopback interface has the addresses. */
#include "cli.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int set_ipv4(int fd, unsigned long request, const char *name, uint32_t address)
{
	struct ifreq asked = { 0 };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };

	strcpy(asked.ifr_name, name);
	memcpy(&asked.ifr_addr, &in, sizeof(in));
	return ioctl(fd, request, &asked) ? -errno : 0;
}

/* Each address has its own label. A shorter prefix gives the loopback interface the whole net. */
static int add_ipv4(int fd, int number, uint32_t address)
{
	char label[IFNAMSIZ];
	int err;

	snprintf(label, sizeof(label), "lo:%d", number);
	err = set_ipv4(fd, SIOCSIFADDR, label, address);
	return err ? err : set_ipv4(fd, SIOCSIFNETMASK, label, UINT32_MAX);
}

/* fd00::198.18.N.1, as the connection manager has it. */
static int add_ipv6(int fd, uint32_t address)
{
	struct in6_ifreq asked = { .ifr6_addr.s6_addr[0] = 0xfd,
				   .ifr6_prefixlen = 128,
				   .ifr6_ifindex = (int)if_nametoindex("lo") };

	address = htonl(address);
	memcpy(&asked.ifr6_addr.s6_addr[12], &address, sizeof(address));
	return ioctl(fd, SIOCSIFADDR, &asked) ? -errno : 0;
}

static int set_up(int fd)
{
	struct ifreq asked = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	return ioctl(fd, SIOCSIFFLAGS, &asked) ? -errno : 0;
}

/* @fd6 is -1 where the kernel has no IPv6. */
static int add_all(int fd, int fd6, const struct settings *settings)
{
	int err = set_up(fd);

	for (int i = 0; !err && i < settings->devices * settings->ports; i++) {
		uint32_t address =
			settings_address(settings, i / settings->ports, i % settings->ports + 1);

		err = add_ipv4(fd, i, address);
		if (!err && fd6 >= 0)
			err = add_ipv6(fd6, address);
	}
	return err;
}

int cli_net(const struct settings *settings)
{
	int err = cli_unshare(CLONE_NEWNET);
	int fd, fd6;

	if (err)
		return cli_refuse(CLI_REFUSED,
				  "--net: this system allows you no network namespace of your own: %s; user.max_user_namespaces, "
				  "user.max_net_namespaces or a container's rules forbid it",
				  strerror(-err));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	fd6 = access("/proc/sys/net/ipv6/conf/lo", F_OK)
		      ? -1
		      : socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	err = fd < 0 ? -errno : add_all(fd, fd6, settings);
	close(fd);
	if (fd6 >= 0)
		close(fd6);
	return err ? cli_refuse(CLI_REFUSED, "--net: the adapters' addresses: %s",
				strerror(-err))
		   : CLI_OK;
}
