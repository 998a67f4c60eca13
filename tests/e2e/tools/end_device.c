/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program that opens a private domain with a receive QP on each of two opened devices. Then
 * it closes the second device, and opens another domain on the first. The rest ends with it.
 */
#include <fcntl.h>

#include "../xrc_qps/one_way/receiver.h"

int main(void)
{
	struct side kept, closed;

	side_open_without_srq(&kept, 0, -1, false);
	receive_qp(kept.domain);
	side_open_without_srq(&closed, 0, -1, false);
	receive_qp(closed.domain);
	must_eq(ibv_close_device(closed.context), 0);
	must(ibv_open_xrc_domain(kept.context, -1, O_CREAT));
	return 0;
}
