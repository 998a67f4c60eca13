/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A capture of the wire: begins, counts and ends it, and puts packets into the ring. */
#include "capture.h"
#include "pcapng.h"
#include "ring.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#define INTERFACES (SOFTHCA_MAX_DEVICES * SETTINGS_MAX_PORTS)
/* for the statistics of all interfaces */
#define RESERVE	   (INTERFACES * 64u)

static struct capture {
	const struct hca_machine *machine;
	uint32_t snap;
	uint64_t put; /* bytes, in all */
	struct capture_ring *ring;
	struct capture_counts counts[INTERFACES];
} capture;

bool capture_runs;

static uint64_t real_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool put(const struct block *block, uint32_t reserve)
{
	bool done = ring_put(capture.ring, block->bytes, block->length, reserve);

	if (done)
		capture.put += block->length;
	return done;
}

/* ---- begin ---- */

static uint32_t interface_of(const struct hca_device *device, int port)
{
	return (uint32_t)(device->index * device->machine->settings.ports + port - 1);
}

/*
 * The port that has sent it; if that is another machine's, the port that gets it. All ports get a
 * packet for a group: the first port stands for them.
 */
static uint32_t interface_of_packet(const struct packet *packet)
{
	struct hca_machine *machine = packet->device->machine;
	const struct hca_device *to;
	uint8_t port;

	if (!device_is_far(packet->device))
		return interface_of(packet->device, packet->port);
	to = machine_route(machine, packet->av.dlid, &port);
	return to ? interface_of(to, port) : 0;
}

static void put_interfaces(const struct hca_machine *machine)
{
	struct block block;
	char name[32];

	pcapng_section(&block);
	put(&block, 0);
	for (int i = 0; i < machine->settings.devices; i++) {
		for (int port = 1; port <= machine->settings.ports; port++) {
			snprintf(name, sizeof(name), "%s/%d", machine->device[i].name, port);
			pcapng_interface(&block, frame_link_type(machine), capture.snap, name);
			put(&block, 0);
		}
	}
}

int capture_start(const struct hca_machine *machine, uint32_t snap, int *ring)
{
	int err;

	if (capture.ring)
		return -EBUSY;
	if (snap < CAPTURE_LEAST || snap > CAPTURE_MOST)
		return -EINVAL;
	capture = (struct capture){ .machine = machine, .snap = snap };
	capture.ring = ring_create(ring, &err);
	if (!capture.ring)
		return err;
	put_interfaces(machine);
	capture_runs = true;
	return 0;
}

/* ---- packets ---- */

uint32_t capture_wants(uint32_t length)
{
	return length < capture.snap ? length : capture.snap;
}

_Static_assert(BLOCK_BYTES >= FRAME_BYTES + 32, "a block has seven fields and its length again");

void capture_packet(const struct packet *packet)
{
	/* one thread serves */
	static struct frame frame;
	static struct block block;
	const uint32_t interface = interface_of_packet(packet);
	struct capture_counts *counts = &capture.counts[interface];

	if (!packet->device->port[packet->port].active)
		return;
	frame_fill(&frame, packet, capture.snap);
	pcapng_packet(&block, interface, real_time(), frame.bytes, frame.captured, frame.on_wire);
	counts->sent++;
	counts->dropped += !put(&block, RESERVE);
}

struct capture_counts capture_counted(void)
{
	struct capture_counts all = { 0 };

	for (unsigned int i = 0; i < INTERFACES; i++) {
		all.sent += capture.counts[i].sent;
		all.dropped += capture.counts[i].dropped;
	}
	return all;
}

/* ---- end ---- */

void capture_end(void)
{
	const struct settings *settings;
	struct block block;

	if (!capture_runs)
		return;
	capture_runs = false;
	settings = &capture.machine->settings;
	for (uint32_t i = 0; i < (uint32_t)(settings->devices * settings->ports); i++) {
		pcapng_statistics(&block, i, real_time(), capture.counts[i].sent,
				  capture.counts[i].dropped);
		put(&block, 0);
	}
	atomic_store_explicit(&capture.ring->ended, 1, memory_order_release);
}

uint64_t capture_close(uint64_t size, uint64_t *lost)
{
	const uint32_t waiting = capture.ring->put - capture.ring->taken;
	const uint64_t whole =
		ring_whole(capture.ring, capture.put - waiting, size, PCAPNG_PACKET, lost);

	capture_runs = false;
	ring_unmap(capture.ring);
	capture.ring = NULL;
	return whole;
}
