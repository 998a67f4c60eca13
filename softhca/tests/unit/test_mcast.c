/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The limit of a device's multicast groups. A group ends with its last member. */

#include <errno.h>

#include <softhca/qp/qp.h>

#include <tests/unit/unit.h>

TEST(groups_are_limited_to_max_groups)
{
	static struct hca_machine machine;
	static const uint8_t gid[16] = { 0xff, 0x12 };
	struct hca_device *device = &machine.device[0];
	struct hca_qp qp = { .device = device, .type = IBV_QPT_UD };

	assert_int_equal(machine_init(&machine, &settings_default), 0);
	list_init(&qp.groups);
	device->group_count = device->model->max_groups - 1;
	assert_int_equal(mcast_attach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_attach(&qp, gid, 0xc002), -ENOMEM);
	assert_int_equal(mcast_attach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_detach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_attach(&qp, gid, 0xc002), 0);
	mcast_detach_all(&qp);
	assert_int_equal(device->group_count, device->model->max_groups - 1);
	machine_free(&machine);
}

UNIT_MAIN(NULL, NULL)
