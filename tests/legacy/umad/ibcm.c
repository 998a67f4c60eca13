/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Status 0: ib_cm_open_device fails with ENOSYS, after which Open MPI tries another way to connect,
 * and so does ib_cm_listen. 1: one of them does not.
 */
#include <errno.h>
#include <stddef.h>

void *ib_cm_open_device(void *context);
int ib_cm_listen(void);

int main(void)
{
	if (ib_cm_open_device(NULL) || errno != ENOSYS)
		return 1;
	errno = 0;
	return ib_cm_listen() != -1 || errno != ENOSYS;
}
