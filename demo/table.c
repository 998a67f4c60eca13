/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The result of a run, for people. */
#include <stdio.h>

#include "table.h"

static struct counts sum(const struct member *receivers, unsigned int number)
{
	struct counts all = { 0 };

	for (unsigned int i = 0; i < number; i++) {
		all.messages += receivers[i].counts.messages;
		all.bytes += receivers[i].counts.bytes;
		all.verified += receivers[i].counts.verified;
		all.named += receivers[i].counts.named;
	}
	return all;
}

bool table_complete(const struct member *receivers, unsigned int number,
		    const struct member *sender, enum ibv_wc_status last_word)
{
	struct counts all = sum(receivers, number);

	return last_word == IBV_WC_RETRY_EXC_ERR && all.messages == sender->counts.messages &&
	       all.bytes == sender->counts.bytes && all.verified == all.messages;
}

static const char *role(unsigned int receiver, unsigned int number)
{
	if (number == 1)
		return "created it, was the last";
	if (receiver == 0)
		return "created it, left first";
	return receiver == number - 1 ? "registered, was the last" : "registered";
}

static void print_receiver(const struct member *receiver, unsigned int number,
			   unsigned int receivers)
{
	printf("receiver %-3u %8d  0x%06x  0x%06x %9llu %12llu %9llu  %s\n", number,
	       (int)receiver->shown_pid, receiver->address.qp_num, receiver->address.srq_num,
	       (unsigned long long)receiver->counts.messages,
	       (unsigned long long)receiver->counts.bytes,
	       (unsigned long long)receiver->counts.verified, role(number, receivers));
}

static void print_summary(const struct member *receivers, unsigned int number,
			  enum ibv_wc_status last_word)
{
	printf("\nAll %llu receive completions name the one receive QP, 0x%06x.\n"
	       "RDMA writes have no receive completion.\n",
	       (unsigned long long)sum(receivers, number).named, receivers[0].address.qp_num);
	printf("After the last one unregistered, the sender's next message ended with:\n%s%s.\n",
	       ibv_wc_status_str(last_word),
	       last_word == IBV_WC_RETRY_EXC_ERR ? ", as it should" : " - WRONG");
	printf("QPs used: 2, one on each side.\n"
	       "Plain RC would have needed %u, one on each side for every receiver.\n",
	       2 * number);
}

void table_print(const struct member *receivers, unsigned int number, const struct member *sender,
		 enum ibv_wc_status last_word)
{
	printf("%-12s %8s  %8s  %8s %9s %12s %9s\n", "who", "pid", "QP", "SRQ", "messages", "bytes",
	       "verified");
	printf("%-12s %8d  0x%06x  %8s %9llu %12llu %9s  sent to all of them\n", "sender",
	       (int)sender->shown_pid, sender->address.qp_num, "-",
	       (unsigned long long)sender->counts.messages,
	       (unsigned long long)sender->counts.bytes, "-");
	for (unsigned int i = 0; i < number; i++)
		print_receiver(&receivers[i], i, number);
	print_summary(receivers, number, last_word);
}
