/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The machines on one wire: their list, and what the daemon does for them at its birth and end. */
#include "server.h"

#include <cm/cm.h>
#include <fabric/fabric.h>
#include <wire/wire.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static struct fabric_list machines = { .count = 1 };

int machines_read(const struct settings *settings, char *why, size_t size)
{
	int err;

	if (!settings->machines[0])
		return 0;
	err = fabric_read_list(settings->machines, &machines, why, size);
	if (err || machines.count == 1)
		return err;
	if (machines.count * settings->devices > SETTINGS_WIRE_DEVICES) {
		snprintf(why, size, "%d machines with %d devices each are more than %d on a wire",
			 machines.count, settings->devices, SETTINGS_WIRE_DEVICES);
		return -E2BIG;
	}
	if (!settings_addresses_fit(settings->address, machines.count * settings->devices)) {
		snprintf(why, size, "--address: %d adapters of all machines have no room behind it",
			 machines.count * settings->devices);
		return -EINVAL;
	}
	return fabric_read_key(settings->key, why, size);
}

int machines_count(int *own)
{
	*own = machines.own;
	return machines.count;
}

int machines_open(struct hca_machine *machine, char *why, size_t size)
{
	const struct fabric_plan plan = {
		.settings = &machine->settings,
		.handler = { far_take_request, far_take_answer, cm_far_take },
		.room = far_has_room,
	};

	if (machines.count == 1)
		return 0;
	far_init(machine);
	cm_far_init(machine);
	return fabric_open(&plan, &machines, &machine->timers, why, size);
}

void machines_send_last_words(void)
{
	for (int tries = 0; tries < 1000 && fabric_sends(); tries++)
		usleep(100);
}
