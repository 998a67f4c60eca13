/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Between the owner of a QP and the processes that only know its number, on devices whose kernel does not share QPs.
 *
 * The owner listens on a Unix seqpacket socket beside the table. Each question is a connection of its own: one packet
 * there, one back. So the kernel tells each side when the other is gone, and who it is; and who is stopped, or connects
 * and says nothing, keeps nobody else waiting.
 */
#ifndef COMPAT_OWNER_OWNER_H
#define COMPAT_OWNER_OWNER_H

#include <compat/regtab/regtab.h>

#define OWNER_MESSAGE_MAX	512	/* bytes of a request or an answer */

/**
 * owner_ask - have the owner of a QP do something with it.
 * @answer_len: in: size of answer; out: bytes used. Sizes up to OWNER_MESSAGE_MAX.
 * Returns what the owner's service returned (0 or -errno), or: -EINVAL no such QP, or nobody keeps it but the kernel;
 * -EOWNERDEAD the owner died, or the QP went; -ETIMEDOUT the owner did not answer in time (stopped, or not serving; if it
 * had begun, it will finish unheard); -EMSGSIZE; -EMFILE and the like.
 */
int owner_ask(struct regtab_member *member, uint32_t qp_num, const void *request, size_t request_len, void *answer,
	      size_t *answer_len, unsigned timeout_ms);

/**
 * owner_tell_unused - after being told "last" for a QP that another member keeps: have its owner destroy it and wait for
 * that, so that no message is taken any more once unregistering has returned, as it was with the old kernel.
 * 0: destroyed, or its owner died; -ETIMEDOUT: the owner is stopped or busy, and will do it later.
 */
int owner_tell_unused(struct regtab_member *member, uint32_t qp_num, unsigned timeout_ms);

/** struct owner_service - what an owner does. Called from owner_serve() in its caller's thread. */
struct owner_service {
	/* Returns 0 or -errno for the asker. *answer_len: in: OWNER_MESSAGE_MAX, out: bytes used. */
	int (*answer)(void *context, uint32_t qp_num, const void *request, size_t request_len, void *answer,
		      size_t *answer_len);
	/* Nobody is registered any more and the QP is out of the table: destroy it. Exactly once per QP. */
	void (*unused)(void *context, uint32_t qp_num);
};

struct owner;

/** owner_open - listen; before the member's first regtab_add(REGTAB_BY_OWNER). */
int owner_open(struct regtab_member *member, struct owner **owner);

/**
 * owner_serve - wait for questions, and for QPs that nobody is registered with any more; handle them. Run it in a loop,
 * with a timeout of about a second, in one thread: what a killed process left is looked for once a second.
 * Returns the number of things done, 0 at the timeout, -ECANCELED after owner_stop().
 */
int owner_serve(struct owner *owner, const struct owner_service *service, void *context, unsigned timeout_ms);

/** owner_stop - from any thread: owner_serve() returns, now and from now on. */
void owner_stop(struct owner *owner);

/** owner_is_ours - false in a forked child, which has no serving thread. */
bool owner_is_ours(const struct owner *owner);

/** owner_close - before regtab_leave(); owner_serve() has returned. */
void owner_close(struct owner *owner);

#endif
