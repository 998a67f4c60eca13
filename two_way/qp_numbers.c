/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Counts, for each device and QP number, the QPs of this process that the program knows by it. If
 * mmap() fails, no pair is created, and no QP is counted. QPs before the first domain of a plugin
 * are not counted either. If there are pairs, such an ordinary QP is taken for a hidden target.
 */
#include "qp_numbers.h"
#include "program.h"

#include <limits.h>
#include <sys/mman.h>

/* An entry is never freed: the data path reads it without a lock, also in a forked child. */
static struct qp_numbers *_Atomic all;

static struct qp_numbers *find(struct qp_numbers *numbers, const struct ibv_device *device)
{
	while (numbers && numbers->device != device)
		numbers = numbers->next;
	return numbers;
}

/*
 * calloc() would map the memory, too, but not once the program has freed a block of this size: then
 * glibc takes it from the heap and writes all of it.
 */
static struct qp_numbers *make(const struct ibv_device *device)
{
	struct qp_numbers *made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (made == MAP_FAILED)
		return NULL;
	made->device = device;
	return made;
}

/* An exchanged head is the head that was searched, so no other thread added the device. */
struct qp_numbers *qp_numbers_of(const struct ibv_context *context)
{
	const struct ibv_device *device = context->device;
	struct qp_numbers *head = atomic_load_explicit(&all, memory_order_acquire);
	struct qp_numbers *found = find(head, device), *made = found ? NULL : make(device);

	while (made && !found) {
		made->next = head;
		if (atomic_compare_exchange_weak(&all, &head, made))
			return made;
		found = find(head, device);
	}
	if (made)
		munmap(made, sizeof(*made));	/* another thread was faster */
	return found;
}

/* Where completions are translated, numbers count even if the program is one-way after all. */
static atomic_uchar *count_of(const struct ibv_context *context, uint32_t qp_num)
{
	struct qp_numbers *numbers =
		program_is_two_way() ? qp_numbers_of(context)
				     : find(atomic_load(&all), context->device);

	return numbers ? &numbers->count[qp_num % QP_NUMBERS] : NULL;
}

void qp_number_add(const struct ibv_context *context, uint32_t qp_num)
{
	atomic_uchar *count = count_of(context, qp_num);
	unsigned char known = count ? atomic_load_explicit(count, memory_order_relaxed) : UCHAR_MAX;

	/* A count stops at its maximum: a close of the device leaves those of ordinary QPs. */
	while (known < UCHAR_MAX && !atomic_compare_exchange_weak(count, &known, known + 1))
		;
}

void qp_number_remove(const struct ibv_context *context, uint32_t qp_num)
{
	atomic_uchar *count = count_of(context, qp_num);
	unsigned char known = count ? atomic_load_explicit(count, memory_order_relaxed) : 0;

	/* A plain subtraction could wrap: another thread may hide the number meanwhile. */
	while (known && !atomic_compare_exchange_weak(count, &known, known - 1))
		;
}

void qp_number_hide(const struct ibv_context *context, uint32_t qp_num)
{
	atomic_uchar *count = count_of(context, qp_num);

	if (count)
		atomic_store_explicit(count, 0, memory_order_relaxed);
}
