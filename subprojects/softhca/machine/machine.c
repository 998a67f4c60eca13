/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The HCAs and the wire between them. */
#include "hca.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_GUID 0x0002c90300112200ull
#define QP_NUMBERS_MIN (1u << 11)
#define QP_NUMBERS_MAX (1u << 18)

uint64_t hca_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A power of two, as in the device; a number is given out again only when all others have been. */
static uint32_t qp_numbers(const struct settings *settings)
{
	const struct limits *limits = &settings->limits;
	const int most = limits->max_qp + (settings->model->one_sequence ? limits->max_srq : 0);
	uint32_t numbers = QP_NUMBERS_MIN;

	while (numbers < QP_NUMBERS_MAX && numbers < 4 * (uint32_t)most)
		numbers *= 2;
	return numbers;
}

/* Each device begins with other numbers, which are not by chance valid on another. */
static int init_numbers(struct hca_device *device, const struct settings *settings)
{
	uint32_t numbers = qp_numbers(settings), apart = numbers < 1u << 14 ? numbers / 32 : 0x200;
	const uint32_t nth = (uint32_t)device->wire_index % SOFTHCA_MAX_DEVICES;
	uint32_t start = 0x40 + nth * 0x200, qp_start = 0x40 + (nth + 1) * apart;
	struct numtab *of = device->numbers;
	const struct limits *limits = &settings->limits;
	bool together = device->model->one_sequence;

	if (numtab_init(&of[HCA_PD], 1, 1u << 16, start, (uint32_t)limits->max_pd) ||
	    numtab_init(&of[HCA_MR], 2, 1u << 20, start, (uint32_t)limits->max_mr) ||
	    numtab_init(&of[HCA_CQ], 0x40, 1u << 17, 0x80 + start, (uint32_t)limits->max_cq) ||
	    numtab_init(&of[HCA_SRQ], 0x40, together ? numbers : 1u << 17,
			together ? qp_start : start, (uint32_t)limits->max_srq) ||
	    numtab_init(&device->qps, 0x40, numbers, qp_start, (uint32_t)limits->max_qp))
		return -ENOMEM;
	if (together)
		numtab_pair(&of[HCA_SRQ], &device->qps);
	return 0;
}

/* What programs on the wire see of a device. */
static void name_device(struct hca_device *device, struct hca_machine *machine, int wire_index)
{
	device->machine = machine;
	device->model = machine->settings.model;
	device->wire_index = wire_index;
	device->machine_number = wire_index / machine->settings.devices;
	device->index = wire_index % machine->settings.devices;
	snprintf(device->name, sizeof(device->name), "%s%d", device->model->device, device->index);
	device->guid = FIRST_GUID + (uint64_t)wire_index * 0x10;
	for (int port = 1; port <= SETTINGS_MAX_PORTS; port++) {
		device->port[port].lid = (uint16_t)(1 + wire_index * SETTINGS_MAX_PORTS + port - 1);
		device->port[port].active = port <= machine->settings.ports;
	}
}

static int init_device(struct hca_device *device, struct hca_machine *machine, int wire_index)
{
	name_device(device, machine, wire_index);
	list_init(&device->contexts);
	list_init(&device->xrcds);
	list_init(&device->members);
	fault_seed(&device->faults, (uint64_t)device->index);
	return init_numbers(device, &machine->settings);
}

static int init_wire(struct hca_machine *machine)
{
	const int count = machine_wire_devices(machine);

	machine->wire = calloc((size_t)count, sizeof(*machine->wire));
	if (!machine->wire)
		return -ENOMEM;
	for (int i = 0; i < count; i++)
		name_device(&machine->wire[i], machine, i);
	return 0;
}

int machine_init(struct hca_machine *machine, const struct settings *settings, int machines,
		 int number)
{
	memset(machine, 0, sizeof(*machine));
	machine->settings = *settings;
	machine->machines = machines;
	machine->number = number;
	if (settings_complete(&machine->settings, NULL, 0))
		return -EINVAL;
	list_init(&machine->clients);
	list_init(&machine->timers);
	list_init(&machine->ready);
	list_init(&machine->failed);
	list_init(&machine->unanswered);
	list_init(&machine->held);
	if (machines > 1 && init_wire(machine))
		return -ENOMEM;
	for (int i = 0; i < settings->devices; i++) {
		int err = init_device(&machine->device[i], machine, number * settings->devices + i);

		if (err)
			return err;
	}
	return 0;
}

void machine_free(struct hca_machine *machine)
{
	for (int i = 0; i < machine->settings.devices; i++) {
		for (int type = 0; type < HCA_TYPES; type++)
			numtab_free(&machine->device[i].numbers[type]);
		numtab_free(&machine->device[i].qps);
	}
	free(machine->wire);
	machine->wire = NULL;
	if (machine->trace)
		fclose(machine->trace);
	machine->trace = NULL;
}

int machine_wire_devices(const struct hca_machine *machine)
{
	return machine->machines * machine->settings.devices;
}

struct hca_device *machine_wire_device(struct hca_machine *machine, int wire_index)
{
	const int devices = machine->settings.devices;

	if (wire_index / devices != machine->number)
		return &machine->wire[wire_index];
	return &machine->device[wire_index % devices];
}

static struct hca_device *device_of(struct hca_machine *machine, uint16_t lid, uint8_t *port)
{
	const int wire_index = lid ? (lid - 1) / SETTINGS_MAX_PORTS : machine_wire_devices(machine);

	if (wire_index >= machine_wire_devices(machine))
		return NULL;
	*port = (uint8_t)(1 + (lid - 1) % SETTINGS_MAX_PORTS);
	return *port <= machine->settings.ports ? machine_wire_device(machine, wire_index) : NULL;
}

struct hca_device *machine_route(struct hca_machine *machine, uint16_t lid, uint8_t *port)
{
	struct hca_device *device = device_of(machine, lid, port);

	return device && !device_is_far(device) ? device : NULL;
}

struct hca_device *machine_far(struct hca_machine *machine, uint16_t lid, uint8_t *port)
{
	struct hca_device *device = machine->machines > 1 ? device_of(machine, lid, port) : NULL;

	return device && device_is_far(device) ? device : NULL;
}

bool device_is_far(const struct hca_device *device)
{
	return device->machine_number != device->machine->number;
}

uint64_t device_system_guid(const struct hca_device *device)
{
	return device->guid + 3;
}
