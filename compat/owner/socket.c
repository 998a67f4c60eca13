/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The sockets of owners: where they are, and whose is at the other end. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "socket.h"

int64_t socket_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Through the directory's descriptor, for an address is short and a directory need not be. Returns it, or -errno. That of this
 * thread: once main() has left by pthread_exit(3), the process has none under its own number.
 */
static int address_of(const struct regtab_member *member, unsigned owner, struct sockaddr_un *address)
{
	const char *path = regtab_path(member), *name = strrchr(path, '/');
	struct own_fd dir;
	char folder[PATH_MAX];
	int err;

	snprintf(folder, sizeof(folder), "%.*s/", (int)(name - path), path);
	err = own_fd_note(&dir, open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (err)
		return err;
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path, sizeof(address->sun_path), "/proc/thread-self/fd/%d/.%s.%u", dir.fd, name + 1, owner);
	return dir.fd;
}

static int use_name(int (*use)(int fd, const struct sockaddr *address, socklen_t size), int fd,
		    const struct regtab_member *member, unsigned owner)
{
	struct sockaddr_un address;
	int dir = address_of(member, owner, &address), err;

	if (dir < 0)
		return dir;
	err = use(fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
	close(dir);
	return err;
}

int socket_connect(const struct own_fd *own, const struct regtab_member *member, unsigned owner)
{
	return use_name(connect, own->fd, member, owner);
}

/* For this user's processes, whatever the umask of the program. */
static int bind_private(int fd, const struct sockaddr *address, socklen_t size)
{
	return bind(fd, address, size) || chmod(((const struct sockaddr_un *)(const void *)address)->sun_path, 0600);
}

int socket_bind(const struct own_fd *own, const struct regtab_member *member)
{
	return use_name(bind_private, own->fd, member, regtab_member_number(member));
}

void socket_unlink(const struct regtab_member *member)
{
	const char *path = regtab_path(member), *name = strrchr(path, '/');
	char own[PATH_MAX];

	snprintf(own, sizeof(own), "%.*s/.%s.%u", (int)(name - path), path, name + 1, regtab_member_number(member));
	unlink(own);
}

bool socket_peer_is_user(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
}
