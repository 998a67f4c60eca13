/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Rows of the table, and the pages that their bits are in. */

#include "tab.h"

struct member_row *regtab_row(struct regtab *tab, unsigned member)
{
	return regtab_page(tab, mem_load(&tab->header->rows[member]));
}

static uint64_t qp_bit(uint32_t qp_num)
{
	return UINT64_C(1) << qp_num % 64;
}

/* The word with the bit of a QP; NULL: that and all of its page are not set. */
static word64 *word_of(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num)
{
	struct member_row *row = regtab_row(tab, member);
	word64 *words = row && qp_num <= QP_NUM_MAX ? regtab_page(tab, mem_load(&row->maps[map][qp_num / RANGE_QPS])) : NULL;

	return words ? words + qp_num % RANGE_QPS / 64 : NULL;
}

bool regtab_row_has(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num)
{
	const word64 *word = word_of(tab, member, map, qp_num);

	return word && mem_load(word) & qp_bit(qp_num);
}

void regtab_row_clear(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num)
{
	word64 *word = word_of(tab, member, map, qp_num);

	if (word && mem_load(word) & qp_bit(qp_num))
		mem_clear(word, qp_bit(qp_num));
}

int regtab_row_set(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num)
{
	word64 *word = word_of(tab, member, map, qp_num);
	struct member_row *row = regtab_row(tab, member);

	if (!word) {
		int page = row ? regtab_page_new(tab) : -ENOMEM;

		if (page < 0)
			return page;
		mem_store(&row->maps[map][qp_num / RANGE_QPS], (uint16_t)page);	/* crash: an empty page of a dead row */
		word = word_of(tab, member, map, qp_num);
	}
	if (!word)
		return -ENOMEM;
	mem_or(word, qp_bit(qp_num));
	return 0;
}

static void empty_page(word64 *words)
{
	for (unsigned i = 0; words && i < REGTAB_PAGE / sizeof(*words); i++)
		if (mem_load(&words[i]))
			mem_store(&words[i], 0);	/* crash: the next who takes the number goes on */
}

/* Pages once given to a row stay with it, for the next member of its number. */
int regtab_row_prepare(struct regtab *tab, unsigned member, struct member_row **row)
{
	int page;

	*row = regtab_row(tab, member);
	if (!*row) {
		page = regtab_page_new(tab);
		*row = page > 0 ? regtab_page(tab, (unsigned)page) : NULL;
		if (!*row)
			return page < 0 ? page : -ENOMEM;
		mem_store(&tab->header->rows[member], (uint16_t)page);	/* crash: an empty row of nobody */
	}
	for (unsigned n = 0; n < ROW_MAPS * RANGES; n++)
		empty_page(regtab_page(tab, mem_load(&(*row)->maps[n / RANGES][n % RANGES])));
	return 0;
}

uint32_t regtab_row_next(struct regtab *tab, unsigned member, enum row_map map, uint32_t qp_num)
{
	for (; qp_num <= QP_NUM_MAX; qp_num = (qp_num | 63) + 1) {
		const word64 *word = word_of(tab, member, map, qp_num);
		uint64_t bits = word ? mem_load(word) & ~UINT64_C(0) << qp_num % 64 : 0;

		if (bits)
			return (qp_num & ~63u) + (unsigned)__builtin_ctzll(bits);
		if (!word)
			qp_num |= RANGE_QPS - 1;
	}
	return 0;
}
