// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading, and what can be set then. */

#include <linux/module.h>

#include "lab.h"

static char *model = "mlx4";
module_param(model, charp, 0444);
MODULE_PARM_DESC(model, "whose user ABI the devices have: mlx4 or mlx5");

static int devices = 2;
module_param(devices, int, 0444);
MODULE_PARM_DESC(devices, "how many");

bool lab_open_qp = true;
module_param_named(open_qp, lab_open_qp, bool, 0444);
MODULE_PARM_DESC(open_qp, "whether target QPs can be opened by others");

bool lab_xrc = true;
module_param_named(xrc, lab_xrc, bool, 0444);
MODULE_PARM_DESC(xrc, "whether the devices have XRC");

/* Those of a ConnectX-3 in its usual configuration, so far as they are not the provider's own. */
struct lab_limits lab_limits = {
	.qp = 131000, .qp_wr = 16351, .sge = 32, .srq = 65472, .srq_wr = 16383, .srq_sge = 31, .cq = 65408, .cqe = 4194303,
	.mr = 1 << 19, .mr_pages = 1 << 19, .pd = 32764, .rd_atom = 16, .init_rd_atom = 128, .pkeys = 1, .gids = 1, .ports = 1,
};

#define LIMIT(name)                                                                                                    \
	module_param_named(max_##name, lab_limits.name, int, 0444);                                                    \
	MODULE_PARM_DESC(max_##name, "limit")

LIMIT(qp);
LIMIT(qp_wr);
LIMIT(sge);
LIMIT(srq);
LIMIT(srq_wr);
LIMIT(srq_sge);
LIMIT(cq);
LIMIT(cqe);
LIMIT(mr);
LIMIT(mr_pages);
LIMIT(pd);
module_param_named(max_qp_rd_atom, lab_limits.rd_atom, int, 0444);
MODULE_PARM_DESC(max_qp_rd_atom, "limit");
module_param_named(max_qp_init_rd_atom, lab_limits.init_rd_atom, int, 0444);
MODULE_PARM_DESC(max_qp_init_rd_atom, "limit");
LIMIT(pkeys);
LIMIT(gids);
LIMIT(ports);

static struct lab_device *lab[LAB_DEVICES_MAX];

static void free_all(void)
{
	int i;

	for (i = 0; i < LAB_DEVICES_MAX; i++)
		if (lab[i])
			lab_device_free(lab[i]);
	lab_control_stop();
}

static int __init lab_init(void)
{
	const struct lab_model *chosen = !strcmp(model, "mlx5") ? &lab_mlx5 : &lab_mlx4;
	int i, error;

	if (strcmp(model, chosen->name) || devices < 1 || devices > LAB_DEVICES_MAX)
		return -EINVAL;
	error = lab_control_start();
	for (i = 0; i < devices && !error; i++) {
		lab[i] = lab_device_new(chosen, i);
		if (IS_ERR(lab[i])) {
			error = PTR_ERR(lab[i]);
			lab[i] = NULL;
		}
	}
	if (error)
		free_all();
	return error;
}

static void __exit lab_exit(void)
{
	free_all();
}

module_init(lab_init);
module_exit(lab_exit);
MODULE_DESCRIPTION("The control path of an HCA, to ask ib_core and ib_uverbs about XRC");
MODULE_LICENSE("GPL");
