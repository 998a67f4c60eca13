/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A plugin that uses XRC without receive QPs. The test calls no function of it. */

void ibv_open_xrc_domain(void);
void use_xrc(void);

/* LTO removes a function that is not exported, together with its reference to the verb. */
__attribute__((visibility("default"))) void use_xrc(void)
{
	ibv_open_xrc_domain();
}
