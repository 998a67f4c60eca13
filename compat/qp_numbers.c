/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Counts, for each QP number, the QPs of this process that the program knows by it. */

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "qp_numbers.h"

/* One byte for each number is fastest for poll_cq. A job touches one or two of these pages. */
static atomic_uchar *_Atomic all_counts;

static atomic_uchar *make_counts(void)
{
	/* Not malloc: free() in place of munmap() makes malloc stop mapping blocks of that size. */
	atomic_uchar *none = NULL, *made = mmap(NULL, QP_NUMBERS, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (made == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(&all_counts, &none, made))
		return made;
	munmap(made, QP_NUMBERS);	/* another thread was faster */
	return none;
}

static atomic_uchar *get_counts(void)
{
	atomic_uchar *counts = atomic_load_explicit(&all_counts, memory_order_acquire);

	return counts ? counts : make_counts();
}

/*
 * Devices share the bytes, each from another offset: adapters give their QPs the same numbers.
 *
 * Two numbers of two devices may still share a byte. Then a hidden target's completions show its
 * own number, or an ordinary QP's completions show its neighbour's number. With n consecutive
 * numbers on each of two devices the chance is about 2n in 16 million. Separate bytes for each
 * device would cost 16 MB of address space each, which count for ulimit -v.
 */
static uint32_t offset_of(const struct ibv_context *context)
{
	return (uint32_t)((uintptr_t)context->device >> 4) * 0x9e3779b1u;
}

static atomic_uchar *count_of(const struct ibv_context *context, uint32_t qp_num)
{
	atomic_uchar *counts = get_counts();

	return counts ? &counts[(qp_num + offset_of(context)) % QP_NUMBERS] : NULL;
}

/* Without memory, receive completions of the QP may show its neighbour's number. */
void qp_number_add(const struct ibv_context *context, uint32_t qp_num)
{
	atomic_uchar *count = count_of(context, qp_num);
	unsigned char known = count ? atomic_load_explicit(count, memory_order_relaxed) : UCHAR_MAX;

	/* It stops at the maximum: a close of the device leaves the counts of its ordinary QPs. */
	while (known < UCHAR_MAX && !atomic_compare_exchange_weak(count, &known, known + 1))
		;
}

void qp_number_remove(const struct ibv_context *context, uint32_t qp_num)
{
	atomic_uchar *count = count_of(context, qp_num);
	unsigned char known = count ? atomic_load_explicit(count, memory_order_relaxed) : 0;

	/* Not a plain subtraction: another thread may hide the number meanwhile. */
	while (known && !atomic_compare_exchange_weak(count, &known, known - 1))
		;
}

void qp_number_hide(const struct ibv_context *context, uint32_t qp_num)
{
	atomic_uchar *count = count_of(context, qp_num);

	if (count)
		atomic_store_explicit(count, 0, memory_order_relaxed);
}

int qp_numbers_of(const struct ibv_context *context, struct qp_numbers *numbers)
{
	const atomic_uchar *counts = get_counts();

	if (!counts)
		return -ENOMEM;
	*numbers = (struct qp_numbers){ (const unsigned char *)counts, offset_of(context) };
	return 0;
}
