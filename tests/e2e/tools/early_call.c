/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Makes a legacy call in a constructor that the loader runs before those of preloaded libraries. */
#include <infiniband/verbs.h>
#include <stdlib.h>

/* The program calls it, so that the linker keeps the library. */
void early_call(void);
void early_call(void)
{
}

__attribute__((constructor)) static void in_constructor(void)
{
	if (getenv("EARLY_CALL"))
		ibv_unreg_xrc_rcv_qp(NULL, 1);
	__asm__ volatile("" ::: "memory");	/* no tail call */
}
