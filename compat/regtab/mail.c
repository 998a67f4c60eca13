/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages to the owner of a QP: one mailbox per owner, one letter at a time.
 *
 *   IDLE -> CLAIMED (asker writes the request) -> POSTED -> TAKEN (owner works) -> ANSWERED (asker reads) -> IDLE
 *                                                   |         `-> ABANDONED (asker gave up) -> IDLE, by the owner
 *                                                   `-> IDLE (asker gave up)
 *
 * State, asker and a sequence number are one word, so each step is one compare-and-swap and fails if anything else
 * happened. In CLAIMED, POSTED and ANSWERED the letter belongs to the asker: when that is dead, the next asker frees the
 * box. In TAKEN and ABANDONED it belongs to the owner: when that dies, its askers notice by its lock, and the next owner
 * of the box frees it. An asker that is stopped between CLAIMED and POSTED, or an owner that is stopped, costs the others
 * their timeout and no more.
 *
 * Waiting is by futex on the word (askers) and on the bell (the owner), in slices, since death rings no bell.
 */

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mail.h"
#include "member.h"
#include "slot.h"

#define SLICE_MS 10	/* how soon an asker notices that the owner died */
#define LOOK_EVERY_MS 1000	/* how soon an owner that is kept busy notices that a registrant died */

enum mail_state {
	MAIL_IDLE,
	MAIL_CLAIMED,
	MAIL_POSTED,
	MAIL_TAKEN,
	MAIL_ANSWERED,
	MAIL_ABANDONED,
};

/* ---- the word ---- */

static enum mail_state word_state(uint32_t word)
{
	return (enum mail_state)(word & 7);
}

static int word_asker(uint32_t word)
{
	unsigned asker = word >> 3 & 0x7ff;

	return asker <= REGTAB_MEMBERS_MAX ? (int)asker - 1 : -1;
}

static uint32_t word_with(uint32_t word, enum mail_state state)
{
	return (word & ~7u) | state;
}

static uint32_t word_idle(uint32_t word)
{
	return ((word >> 14) + 1) << 14 | MAIL_IDLE;
}

static uint32_t word_claimed(uint32_t word, unsigned asker)
{
	return ((word >> 14) + 1) << 14 | (asker + 1) << 3 | MAIL_CLAIMED;
}

/* ---- waiting ---- */

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The futex call of 32-bit machines takes the old struct timespec, whatever time_t the program is built with. */
struct kernel_timespec {
	long tv_sec;
	long tv_nsec;
};

static void futex_wait(uint32_t *word, uint32_t value, int64_t ms)
{
	struct kernel_timespec wait = { (long)(ms / 1000), (long)(ms % 1000) * 1000000 };

	if (ms > 0)
		syscall(SYS_futex, word, FUTEX_WAIT, value, &wait, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void ring(struct mailbox *box)
{
	mem_add32(&box->bell, 1);	/* crash: unheard until the owner's wait times out */
	futex_wake(&box->bell);
}

static int64_t slice_of(int64_t remaining)
{
	return remaining < SLICE_MS ? remaining : SLICE_MS;
}

/* ---- the owner's box ---- */

static struct mailbox *mailbox_of(struct regtab *tab, unsigned member)
{
	return mem_load32(&tab->records[member].has_mailbox) ? &tab->mailboxes[member] : NULL;
}

int regtab_mail_prepare(struct regtab_member *member)
{
	struct regtab *tab = member->tab;
	struct mailbox *box = &tab->mailboxes[member->index];
	uint32_t offset = MAILBOXES_OFFSET + member->index * (uint32_t)sizeof(*box), word;
	int error;

	if (member->serving)
		return 0;
	if (!tab->private) {
		error = regtab_file_reserve(tab->file.fd, offset, sizeof(*box));
		if (error)
			return error;
	}
	/* What an owner of this number that died was working at, nobody finishes. */
	word = mem_load32(&box->word);
	if (word_state(word) == MAIL_TAKEN || word_state(word) == MAIL_ABANDONED || word_state(word) > MAIL_ABANDONED)
		mem_cas32(&box->word, word, word_idle(word));
	mem_store32(&tab->records[member->index].has_mailbox, 1);	/* crash: a reserved box of a dead member */
	__atomic_store_n(&member->serving, true, __ATOMIC_RELEASE);
	return 0;
}

void regtab_mail_retired(struct regtab *tab, unsigned owner)
{
	struct mailbox *box = mailbox_of(tab, owner);

	if (!box)
		return;
	mem_add32(&box->retirements, 1);
	ring(box);
}

/* ---- asking ---- */

struct ask {
	struct regtab *tab;
	unsigned asker;
	unsigned owner;
	uint32_t epoch;		/* of the owner: its number may get another member meanwhile */
	struct mailbox *box;
	int64_t deadline;
};

static bool owner_gone(const struct ask *ask)
{
	struct regtab *tab = ask->tab;

	if (!member_is_alive(tab, ask->owner) || mem_load32(&tab->records[ask->owner].epoch) != ask->epoch)
		return true;
	if (regtab_member_lives(tab, ask->owner))
		return false;
	regtab_member_reap(tab, ask->owner);
	return true;
}

static bool asker_gone(struct regtab *tab, uint32_t word)
{
	int asker = word_asker(word);

	return asker < 0 || !member_is_alive(tab, (unsigned)asker) || !regtab_member_lives(tab, (unsigned)asker);
}

/* Wait while the word stays: 0 it changed or a slice passed; -EOWNERDEAD, -ETIMEDOUT. */
static int wait_slice(const struct ask *ask, uint32_t word)
{
	int64_t remaining = ask->deadline - now_ms();

	if (owner_gone(ask))
		return -EOWNERDEAD;
	if (remaining <= 0)
		return -ETIMEDOUT;
	futex_wait(&ask->box->word, word, slice_of(remaining));
	return 0;
}

static int claim_box(const struct ask *ask, uint32_t *claimed)
{
	for (;;) {
		uint32_t word = mem_load32(&ask->box->word);
		enum mail_state state = word_state(word);
		bool askers = state == MAIL_CLAIMED || state == MAIL_POSTED || state == MAIL_ANSWERED;
		int error;

		*claimed = word_claimed(word, ask->asker);
		if (state == MAIL_IDLE && mem_cas32(&ask->box->word, word, *claimed))
			return 0;	/* crash: the next asker finds us dead */
		if (askers && asker_gone(ask->tab, word))
			mem_cas32(&ask->box->word, word, word_idle(word));
		error = wait_slice(ask, word);
		if (error)
			return error;
	}
}

/* Step from a state that is ours; false: somebody took us for dead, or the owner went on. */
static bool step(struct mailbox *box, uint32_t word, enum mail_state from, uint32_t next)
{
	bool done = mem_cas32(&box->word, word_with(word, from), next);

	if (done)
		futex_wake(&box->word);
	return done;
}

/* Nobody waits for the answer any more. */
static void give_up(struct mailbox *box, uint32_t word)
{
	if (step(box, word, MAIL_POSTED, word_idle(word)) ||
	    step(box, word, MAIL_TAKEN, word_with(word, MAIL_ABANDONED)))
		return;
	step(box, word, MAIL_ANSWERED, word_idle(word));
}

static int await_answer(const struct ask *ask, uint32_t word)
{
	for (;;) {
		uint32_t now = mem_load32(&ask->box->word);
		int error;

		if (now == word_with(word, MAIL_ANSWERED))
			return 0;
		if (now != word_with(word, MAIL_POSTED) && now != word_with(word, MAIL_TAKEN))
			return -EOWNERDEAD;	/* freed by another owner of this number */
		error = wait_slice(ask, now);
		if (error)
			return error;
	}
}

static int read_answer(const struct ask *ask, uint32_t word, void *answer, size_t *answer_len)
{
	uint32_t len = mem_load32(&ask->box->answer_len);
	int result = (int)mem_load32((uint32_t *)&ask->box->result);

	if (len > REGTAB_MESSAGE_MAX || len > *answer_len || result > 0 || result < -4095) {
		step(ask->box, word, MAIL_ANSWERED, word_idle(word));
		return -EMSGSIZE;
	}
	if (!result) {
		memcpy(answer, ask->box->answer, len);
		*answer_len = len;
	}
	step(ask->box, word, MAIL_ANSWERED, word_idle(word));
	return result;
}

static int converse(const struct ask *ask, uint32_t qp_num, const void *request, size_t request_len, void *answer,
		    size_t *answer_len)
{
	uint32_t word;
	int error = claim_box(ask, &word);

	if (error)
		return error;
	mem_copy(ask->box->request, request, request_len);	/* crash: the next asker frees the box */
	mem_store32(&ask->box->request_len, (uint32_t)request_len);
	mem_store32(&ask->box->qp_num, qp_num);
	if (!step(ask->box, word, MAIL_CLAIMED, word_with(word, MAIL_POSTED)))
		return -ESTALE;
	ring(ask->box);					/* crash: the owner answers, the next asker frees the box */
	error = await_answer(ask, word);
	if (!error)
		return read_answer(ask, word, answer, answer_len);
	give_up(ask->box, word);
	return error;
}

/* Who carries the QP: 0 and ask->owner, or -EINVAL, -EOWNERDEAD. */
static int find_owner(struct ask *ask, uint32_t qp_num)
{
	struct slot slot;
	uint64_t key;
	int owner;

	if (!regtab_slot_find(ask->tab, qp_num, &slot, &key))
		return -EINVAL;
	if (key_state(key) == SLOT_LOST)
		return -EOWNERDEAD;
	owner = key_owner(key);
	if (key_state(key) != SLOT_OWNED || owner < 0)
		return -EINVAL;
	ask->owner = (unsigned)owner;
	ask->epoch = mem_load32(&ask->tab->records[owner].epoch);
	ask->box = mailbox_of(ask->tab, ask->owner);
	/* The epoch is this owner's if it still has the entry: the number goes to another member after the sweep only. */
	key = mem_load64(slot.key);
	if (key_owner(key) != owner || key_qp_num(key) != qp_num)
		return -EOWNERDEAD;
	return ask->box ? 0 : -EINVAL;
}

int regtab_ask(struct regtab_member *member, uint32_t qp_num, const void *request, size_t request_len, void *answer,
	       size_t *answer_len, unsigned timeout_ms)
{
	struct ask ask = { .tab = member->tab, .asker = member->index, .deadline = now_ms() + timeout_ms };
	int error = regtab_member_check(member);

	if (error)
		return error;
	if (request_len > REGTAB_MESSAGE_MAX)
		return -EMSGSIZE;
	error = find_owner(&ask, qp_num);
	return error ? error : converse(&ask, qp_num, request, request_len, answer, answer_len);
}

/* ---- serving ---- */

static int answer_letter(struct regtab_member *member, const struct regtab_service *service, void *context,
			 const struct mailbox *box, uint8_t *answer, size_t *answer_len)
{
	uint8_t request[REGTAB_MESSAGE_MAX];
	uint32_t len = mem_load32(&box->request_len), qp_num = mem_load32(&box->qp_num);
	struct slot slot;
	uint64_t key;

	if (len > sizeof(request))
		return -EMSGSIZE;
	/* The letter may be for a QP that went meanwhile, or for an earlier owner of this box. */
	if (!regtab_slot_find(member->tab, qp_num, &slot, &key) || key_state(key) != SLOT_OWNED ||
	    key_owner(key) != (int)member->index)
		return -EOWNERDEAD;
	memcpy(request, box->request, len);	/* a copy: the service need not fear changes under its hands */
	*answer_len = REGTAB_MESSAGE_MAX;
	return service->answer(context, qp_num, request, len, answer, answer_len);
}

static int serve_letter(struct regtab_member *member, const struct regtab_service *service, void *context,
			struct mailbox *box)
{
	uint32_t word = mem_load32(&box->word);
	uint8_t answer[REGTAB_MESSAGE_MAX];
	size_t answer_len = 0;
	int result;

	if (word_state(word) != MAIL_POSTED || !mem_cas32(&box->word, word, word_with(word, MAIL_TAKEN)))
		return 0;
	result = answer_letter(member, service, context, box, answer, &answer_len);
	if (result || answer_len > sizeof(answer))
		answer_len = 0;		/* out-parameters of a failed call say nothing */
	/* Crash anywhere here: the asker finds the owner dead. */
	mem_copy(box->answer, answer, answer_len);
	mem_store32(&box->answer_len, (uint32_t)answer_len);
	mem_store32((uint32_t *)&box->result, (uint32_t)result);
	if (!step(box, word, MAIL_TAKEN, word_with(word, MAIL_ANSWERED)))
		step(box, word, MAIL_ABANDONED, word_idle(word));
	return 1;
}

struct serve_walk {
	struct regtab_member *member;
	const struct regtab_service *service;
	void *context;
	bool look;				/* also for what nobody said */
	int retired;
	uint64_t registrants[PLANES_MAX];	/* of own QPs */
};

static int serve_slot(void *context, struct slot *slot, uint64_t key)
{
	struct serve_walk *walk = context;
	uint64_t words[PLANES_MAX];
	bool ended = false;

	if (key_owner(key) != (int)walk->member->index)
		return 0;
	if (walk->look && key_state(key) == SLOT_OWNED) {
		if (regtab_slot_registrants(walk->member->tab, slot, words))
			for (unsigned p = 0; p < PLANES_MAX; p++)
				walk->registrants[p] |= words[p];
		else	/* the last registrant died before it could end the entry */
			ended = regtab_slot_settle(walk->member->tab, slot, (int)walk->member->index) == SETTLED_ENDED;
	}
	if (!ended && key_state(key) != SLOT_RETIRED)
		return 0;
	/* Crash here or later: the process dies and the kernel destroys the QP. */
	walk->service->retired(walk->context, key_qp_num(key));
	walk->retired++;
	/*
	 * Only now, for whoever unregistered last waits for it (regtab_await_end()). Only the owner, in one thread, moves
	 * an entry on from here; if the number is in use again already, its new entry is not touched.
	 */
	if (!ended)
		mem_cas64(slot->key, key, key_next(key, SLOT_FREE, 0, -1));
	return 0;
}

static void reap_registrants(struct regtab *tab, const uint64_t words[PLANES_MAX])
{
	for (unsigned p = 0; p < PLANES_MAX; p++) {
		for (uint64_t bits = words[p]; bits; bits &= bits - 1) {
			unsigned i = p * PLANE_MEMBERS + (unsigned)__builtin_ctzll(bits);

			if (!regtab_member_lives(tab, i))
				regtab_member_reap(tab, i);
		}
	}
}

/* Destroy what has been retired; with look: first find out who of the registrants died without saying so. */
static int serve_retired(struct regtab_member *member, const struct regtab_service *service, void *context, bool look)
{
	struct serve_walk walk = { .member = member, .service = service, .context = context, .look = look };

	regtab_slot_each(member->tab, serve_slot, &walk);
	if (look) {
		reap_registrants(member->tab, walk.registrants);
		regtab_slot_each(member->tab, serve_slot, &walk);
	}
	return walk.retired;
}

static int serve_once(struct regtab_member *member, const struct regtab_service *service, void *context,
		      struct mailbox *box, bool look)
{
	uint32_t retirements = mem_load32(&box->retirements);
	int done = serve_letter(member, service, context, box);

	if (retirements != member->retirements_seen || look) {
		member->retirements_seen = retirements;
		done += serve_retired(member, service, context, look);
	}
	return done;
}

int regtab_serve(struct regtab_member *member, const struct regtab_service *service, void *context,
		 unsigned timeout_ms)
{
	int64_t deadline = now_ms() + timeout_ms;
	struct mailbox *box = &member->tab->mailboxes[member->index];
	int error = regtab_member_check(member), done;

	if (error)
		return error;
	if (!__atomic_load_n(&member->serving, __ATOMIC_ACQUIRE))
		return -EINVAL;
	for (;;) {
		uint32_t bell = mem_load32(&box->bell);
		int64_t now = now_ms(), remaining = deadline - now;
		bool look = remaining <= 0 || now >= member->next_look;

		if (look)
			member->next_look = now + LOOK_EVERY_MS;
		done = serve_once(member, service, context, box, look);
		if (done || remaining <= 0 || __atomic_exchange_n(&member->woken, 0, __ATOMIC_ACQ_REL))
			return done;
		futex_wait(&box->bell, bell, remaining);
	}
}

void regtab_wake(struct regtab_member *member)
{
	if (regtab_member_check(member) || !__atomic_load_n(&member->serving, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&member->woken, 1, __ATOMIC_RELEASE);
	ring(&member->tab->mailboxes[member->index]);
}

static bool is_retiring(struct regtab_member *member, uint32_t qp_num)
{
	struct slot slot;
	uint64_t key;

	return regtab_slot_find(member->tab, qp_num, &slot, &key) && key_state(key) == SLOT_RETIRED &&
	       regtab_member_lives(member->tab, (unsigned)key_owner(key));
}

int regtab_await_end(struct regtab_member *member, uint32_t qp_num, unsigned timeout_ms)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	int64_t deadline = now_ms() + timeout_ms;
	int error = regtab_member_check(member);

	while (!error && is_retiring(member, qp_num)) {
		if (now_ms() >= deadline)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return error;
}
