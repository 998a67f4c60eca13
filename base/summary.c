/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Counts what a process uses, and prints the counts at its end. */
#include "summary.h"
#include "log.h"
#include "settings.h"
#include "state.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const char *const names[SUMMARY_COUNTS] = {
	[SUMMARY_DOMAINS] = "XRC domains",
	[SUMMARY_CREATED] = "receive QPs created",
	[SUMMARY_REGISTERED] = "registered with",
	[SUMMARY_XRC_QPS] = "XRC QPs",
};

static PER_PROCESS atomic_uint counts[SUMMARY_COUNTS];
static PER_PROCESS char devices[256];	/* "mlx4_0 mlx4_1"; more than fit are left out */

static bool is_noted(const char *name)
{
	size_t length = strlen(name);

	for (const char *at = devices; (at = strstr(at, name)); at += length)
		if ((at == devices || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

void summary_note_device(const char *name)
{
	size_t used;

	state_lock();
	used = strlen(devices);
	if (!is_noted(name) && used + strlen(name) + 2 <= sizeof(devices))
		snprintf(devices + used, sizeof(devices) - used, "%s%s", used ? " " : "", name);
	state_unlock();
}

void summary_add(enum summary_count what)
{
	atomic_fetch_add_explicit(&counts[what], 1, memory_order_relaxed);
}

/* Takes no lock: a signal handler may call exit(3) while its own thread has it. */
void summary_print(void)
{
	char text[512];
	size_t used = 0;

	if (!settings_flag("XRC_COMPAT_SUMMARY"))
		return;
	state_begin();
	for (int i = 0; i < SUMMARY_COUNTS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s %u",
					 i ? ", " : "", names[i], atomic_load(&counts[i]));
	if (devices[0])
		log_print("%s opened %s: %s", program_invocation_short_name, devices, text);
	else
		log_print("%s opened no RDMA device", program_invocation_short_name);
}
