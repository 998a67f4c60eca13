/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The result of a run, for people. */
#include <stdio.h>

#include "cluster.h"

static struct counts sum(void)
{
	struct counts all = { 0 };

	for (unsigned int i = 0; i < cluster->receivers; i++) {
		const struct counts *counts = &cluster->members[i].counts;

		all.messages += counts->messages;
		all.bytes += counts->bytes;
		all.verified += counts->verified;
		all.named += counts->named;
	}
	return all;
}

static const char *role(unsigned int receiver)
{
	if (cluster->receivers == 1)
		return "created it, was the last";
	if (receiver == 0)
		return "created it, left first";
	return receiver == cluster->receivers - 1 ? "registered, was the last" : "registered";
}

static void print_receiver(unsigned int number)
{
	const struct member *receiver = &cluster->members[number];

	printf("receiver %-3u %8d  0x%06x  0x%06x %9llu %12llu %9llu  %s\n", number,
	       (int)receiver->pid, receiver->address.qp_num, receiver->address.srq_num,
	       (unsigned long long)receiver->counts.messages,
	       (unsigned long long)receiver->counts.bytes,
	       (unsigned long long)receiver->counts.verified, role(number));
}

static void print_summary(bool failed_as_it_should)
{
	printf("\nAll %llu receive completions name the one receive QP, 0x%06x.\n"
	       "RDMA writes have no receive completion.\n",
	       (unsigned long long)sum().named, cluster->members[0].address.qp_num);
	printf("After the last one unregistered, the sender's next message ended with:\n%s%s.\n",
	       ibv_wc_status_str(cluster->last_word),
	       failed_as_it_should ? ", as it should" : " - WRONG");
	printf("QPs used: 2, one on each side.\n"
	       "Plain RC would have needed %u, one on each side for every receiver.\n",
	       2 * cluster->receivers);
}

bool table_print(void)
{
	const struct member *sender = &cluster->members[SENDER];
	bool failed_as_it_should = cluster->last_word == IBV_WC_RETRY_EXC_ERR;
	struct counts all = sum();

	printf("%-12s %8s  %8s  %8s %9s %12s %9s\n", "who", "pid", "QP", "SRQ", "messages", "bytes",
	       "verified");
	printf("%-12s %8d  0x%06x  %8s %9llu %12llu %9s  sent to all of them\n", "sender",
	       (int)sender->pid, sender->address.qp_num, "-",
	       (unsigned long long)sender->counts.messages,
	       (unsigned long long)sender->counts.bytes, "-");
	for (unsigned int i = 0; i < cluster->receivers; i++)
		print_receiver(i);
	print_summary(failed_as_it_should);
	return failed_as_it_should && all.messages == sender->counts.messages &&
	       all.bytes == sender->counts.bytes && all.verified == all.messages;
}
