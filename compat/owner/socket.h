/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The sockets of owners: where they are, and whose is at the other end. */
#ifndef COMPAT_OWNER_SOCKET_H
#define COMPAT_OWNER_SOCKET_H

#include <compat/regtab/file.h>

#include "owner.h"

enum question_kind {
	QUESTION_ASK,
	QUESTION_UNUSED,
};

struct question {
	uint32_t kind;
	uint32_t qp_num;
	uint8_t request[OWNER_MESSAGE_MAX];
};

struct reply {
	int32_t result;
	uint8_t answer[OWNER_MESSAGE_MAX];
};

/** socket_now_ms - milliseconds of CLOCK_MONOTONIC, for deadlines. */
int64_t socket_now_ms(void);

/** socket_connect, socket_bind - with the name of that owner's socket. 0 or -errno. */
int socket_connect(const struct own_fd *own, const struct regtab_member *member, unsigned owner);
int socket_bind(const struct own_fd *own, const struct regtab_member *member);

/** socket_unlink - remove the name of the member's own. */
void socket_unlink(const struct regtab_member *member);

/** socket_peer_is_user - whether the other end is this user, as the kernel knows. */
bool socket_peer_is_user(int fd);

#endif
