/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Asks an ordinary SRQ for its XRC number, which it has not.
 *
 * Status 0: refused, and the object shows 0. 1: there is a number. 2: there was no SRQ.
 */
#include <softhca/tests/e2e/rig.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_OF_MLNX_OFED 152	/* docs/contract.md 2.6 */

int main(void)
{
	struct host *host = rig_host(0);
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(host->pd, &attr);
	uint32_t shown, answered = 0;
	int err;

	if (!srq)
		return 2;
	memcpy(&shown, (const char *)srq + NUMBER_OF_MLNX_OFED, sizeof(shown));
	err = ibv_get_srq_num(srq, &answered);
	printf("shown %#x, ibv_get_srq_num %d with %#x\n", shown, err, answered);
	return err != EOPNOTSUPP || shown;
}
