/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program with two libraries that use XRC: one is linked with libibverbs, the other looks the
 * verbs up. The exchange takes its verbs from the two by turns, so both work on the same objects.
 */

#include <stdio.h>
#include <string.h>

#include "exchange.h"

#define VERBS (sizeof(struct verbs) / sizeof(void *))

union table {
	struct verbs verbs;
	void *function[VERBS];
};

static void mixed_exchange(const union table *one, const union table *other)
{
	union table mixed;

	for (size_t i = 0; i < VERBS; i++)
		mixed.function[i] = (i & 1 ? one : other)->function[i];
	exchange(&mixed.verbs);
}

/* One library opens a domain, the other uses it. */
static int pass_domain(const struct verbs *opener, const struct verbs *user)
{
	struct ibv_device **list = opener->get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? opener->open_device(list[0]) : NULL;
	struct ibv_xrc_domain *domain = context ? opener->open_xrc_domain(context, -1, 0) : NULL;
	struct ibv_qp_init_attr attr = { .xrc_domain = domain };
	uint32_t qpn;

	if (!domain || user->create_xrc_rcv_qp(&attr, &qpn))
		return 1;
	printf("both: busy %s\n", strerror(opener->close_xrc_domain(domain)));
	if (opener->unreg_xrc_rcv_qp(domain, qpn) || user->close_xrc_domain(domain))
		return 1;
	user->free_device_list(list);
	return opener->close_device(context);
}

int main(void)
{
	union table linked, lookup;

	table_linked(&linked.verbs);
	table_lookup(&lookup.verbs, "dlsym");
	if (pass_domain(&linked.verbs, &lookup.verbs) || pass_domain(&lookup.verbs, &linked.verbs))
		return 1;
	mixed_exchange(&linked, &lookup);
	mixed_exchange(&lookup, &linked);
	return 0;
}
