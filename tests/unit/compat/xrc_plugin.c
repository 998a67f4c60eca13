/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A plugin that uses XRC with receive QPs. Nothing calls it. */

void ibv_open_xrc_domain(void);
void ibv_reg_xrc_rcv_qp(void);
void use_xrc(void);

void use_xrc(void)
{
	ibv_open_xrc_domain();
	ibv_reg_xrc_rcv_qp();
}
