/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Multicast groups of a device: their limit, and that a group ends with its last member. */

#define UNIT_SETUP setup
#define UNIT_TEARDOWN teardown

#include <errno.h>

#include <softhca/qp/qp.h>

#include <tests/unit/unit.h>

static struct hca_machine machine;
static struct hca_qp qp;
static const uint8_t gid[16] = { 0xff, 0x12 };

FIXTURE(setup)
{
	assert_int_equal(machine_init(&machine, &settings_default), 0);
	qp = (struct hca_qp){ .device = &machine.device[0], .type = IBV_QPT_UD };
	list_init(&qp.groups);
	return 0;
}

FIXTURE(teardown)
{
	machine_free(&machine);
	return 0;
}

TEST(groups_are_limited_to_max_groups)
{
	struct hca_device *device = qp.device;

	device->group_count = device->model->max_groups - 1;
	assert_int_equal(mcast_attach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_attach(&qp, gid, 0xc002), -ENOMEM);
	assert_int_equal(mcast_attach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_detach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_attach(&qp, gid, 0xc002), 0);
	mcast_detach_all(&qp);
	assert_int_equal(device->group_count, device->model->max_groups - 1);
}

TEST(a_group_ends_with_its_last_member)
{
	struct hca_qp other = qp;

	list_init(&other.groups);
	assert_int_equal(mcast_attach(&qp, gid, 0xc001), 0);
	assert_int_equal(mcast_attach(&other, gid, 0xc001), 0);
	assert_int_equal(machine.device[0].group_count, 1);
	mcast_detach_all(&qp);
	assert_int_equal(machine.device[0].group_count, 1);
	assert_int_equal(mcast_detach(&qp, gid, 0xc001), -EINVAL);
	mcast_detach_all(&other);
	assert_int_equal(machine.device[0].group_count, 0);
	assert_true(list_empty(&machine.device[0].members));
}

UNIT_MAIN(NULL, NULL)
