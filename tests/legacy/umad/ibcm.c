/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Calls functions of libibcm. Prints a line for each: its name and its result. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

void *ib_cm_open_device(void *context);
int ib_cm_listen(void);

int main(void)
{
	int result;

	if (!ib_cm_open_device(NULL))
		printf("ib_cm_open_device: %s\n", strerror(errno));
	errno = 0;
	result = ib_cm_listen();
	printf("ib_cm_listen: %d %s\n", result, strerror(errno));
	return 0;
}
