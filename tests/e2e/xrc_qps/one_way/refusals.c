/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands that the kernel refuses: once, and all of them when a device has gone. */

#include <errno.h>
#include <stdlib.h>

#include "receiver.h"

ROW("an unreg that the kernel refuses returns its error, and the next one succeeds")
{
	uint32_t qp_num = receive_qp(self.domain);

	softhca_ctl("fault", 0, "command", "DESTROY_QP", "EBUSY", "1", NULL);
	must_eq(ibv_unreg_xrc_rcv_qp(self.domain, qp_num), EBUSY);
	must_eq(query_receive_qp(self.domain, qp_num), 0);
	must_eq(ibv_reg_xrc_rcv_qp(self.domain, qp_num), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(self.domain, qp_num), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(self.domain, qp_num), EINVAL);
}

/* Every command of the close fails. */
ROW("after a device that has gone is closed, reg and unreg of its receive QPs are EINVAL")
{
	uint32_t qp_num[3];
	struct side gone;

	side_open(&gone, 0, domain_fd, false);
	for (int i = 0; i < 3; i++)
		qp_num[i] = receive_qp(gone.domain);
	softhca_ctl("fault", 0, "command", "any", "EIO", "1000", NULL);
	ibv_close_device(gone.context);
	softhca_ctl("fault", 0, "off", NULL);
	free(gone.memory);
	for (int i = 0; i < 3; i++) {
		must_eq(ibv_reg_xrc_rcv_qp(self.domain, qp_num[i]), EINVAL);
		must_eq(ibv_unreg_xrc_rcv_qp(self.domain, qp_num[i]), EINVAL);
	}
}
