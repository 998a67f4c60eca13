/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl top`: what devices and QPs do, shown again and again. */
#include "cli.h"

#include <softhca/machine/settings.h>
#include <terminal/screen.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 3600 /* seconds between two screens */

struct counts {
	unsigned long long sent, sent_bytes, received, received_bytes, errors;
};

struct device {
	char name[16];
	unsigned int qps;
	struct counts counts;
};

struct top {
	struct device before[SETTINGS_MAX_DEVICES], now[SETTINGS_MAX_DEVICES];
	int count;
	struct timespec asked, asked_before;
	bool again; /* there is a screen before */
};

/* In five columns: "12345", "123k", "1.2M", ... */
static void print_scaled(FILE *out, double value)
{
	static const char units[] = " kMGTPE";
	int unit = 0;

	for (; value >= (unit ? 999.5 : 99999.5) && units[unit + 1]; unit++)
		value /= 1000;
	if (unit && value < 9.95)
		fprintf(out, " %4.1f%c", value, units[unit]);
	else
		fprintf(out, unit ? " %4.0f%c" : " %5.0f", value, units[unit]);
}

static double seconds_between(const struct top *top)
{
	return (double)(top->asked.tv_sec - top->asked_before.tv_sec) +
	       (double)(top->asked.tv_nsec - top->asked_before.tv_nsec) / 1e9;
}

static void print_rate(const struct top *top, FILE *out, unsigned long long before,
		       unsigned long long now)
{
	if (top->again && now >= before)
		print_scaled(out, (double)(now - before) / seconds_between(top));
	else
		fputs("     -", out);
}

static void print_devices(const struct top *top, FILE *out)
{
	fprintf(out, "%-7s %5s %5s %5s %5s %5s %6s\n", "DEVICE", "OUT/s", "B/s", "IN/s", "B/s",
		"QPs", "ERRORS");
	for (int i = 0; i < top->count; i++) {
		const struct counts *before = &top->before[i].counts, *now = &top->now[i].counts;

		fprintf(out, "%-7s", top->now[i].name);
		print_rate(top, out, before->sent, now->sent);
		print_rate(top, out, before->sent_bytes, now->sent_bytes);
		print_rate(top, out, before->received, now->received);
		print_rate(top, out, before->received_bytes, now->received_bytes);
		fprintf(out, " %5u %6llu\n", top->now[i].qps, now->errors);
	}
}

/* 80 columns, of which the last are what the QP waits for: "buffer 800240", of its peer. */
static void print_qp(const char *line, FILE *out)
{
	char device[16], type[16], state[8], waits[8];
	unsigned int qpn, peer;
	struct counts counts;
	int pid;

	if (sscanf(line, "qp %15s %d %u %15s %7s %llu %llu %llu %llu %llu %7s %u", device, &pid,
		   &qpn, type, state, &counts.sent, &counts.sent_bytes, &counts.received,
		   &counts.received_bytes, &counts.errors, waits, &peer) != 12)
		return;
	fprintf(out, "%7d %-7s %06x %-8s %-5s", pid, device, qpn, type, state);
	print_scaled(out, (double)counts.sent);
	print_scaled(out, (double)counts.sent_bytes);
	print_scaled(out, (double)counts.received);
	print_scaled(out, (double)counts.received_bytes);
	fprintf(out, " %4llu %s", counts.errors < 9999 ? counts.errors : 9999, waits);
	if (waits[0] != '-')
		fprintf(out, " %06x", peer);
	fputc('\n', out);
}

static void take_device(struct top *top, const char *line)
{
	struct device *device = &top->now[top->count];
	struct counts *counts = &device->counts;

	if (top->count < SETTINGS_MAX_DEVICES &&
	    sscanf(line, "device %15s %u %llu %llu %llu %llu %llu", device->name, &device->qps,
		   &counts->sent, &counts->sent_bytes, &counts->received, &counts->received_bytes,
		   &counts->errors) == 7)
		top->count++;
}

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

static void print_screen(struct top *top, const char *answer, FILE *out)
{
	memcpy(top->before, top->now, sizeof(top->before));
	top->count = 0;
	for (const char *line = answer; *line; line = next_line(line))
		take_device(top, line);
	print_devices(top, out);
	fprintf(out, "\n%7s %-7s %6s %-8s %-5s %5s %5s %5s %5s %4s %s\n", "PID", "DEVICE", "QP",
		"TYPE", "STATE", "OUT", "BYTES", "IN", "BYTES", "ERR", "WAITS FOR");
	for (const char *line = answer; *line; line = next_line(line))
		print_qp(line, out);
	top->again = true;
}

/* The text is the caller's to free. 0 or -errno. */
static int ask(char **answer)
{
	static char counters[] = "counters";
	char *words[] = { counters };
	size_t size;
	FILE *out = open_memstream(answer, &size);
	int err;

	if (!out)
		return -ENOMEM;
	err = ask_daemon_for(1, words, out);
	return fclose(out) ? -ENOMEM : err;
}

static int show(struct top *top)
{
	char *answer = NULL, *text = NULL;
	int err = ask(&answer);
	size_t size;
	FILE *out = err ? NULL : open_memstream(&text, &size);

	top->asked_before = top->asked;
	clock_gettime(CLOCK_MONOTONIC, &top->asked);
	if (out) {
		print_screen(top, answer, out);
		err = fclose(out) ? -ENOMEM : 0;
	}
	if (!err && isatty(STDOUT_FILENO))
		screen_show(text);
	else if (!err)
		fputs(text, stdout);
	free(answer);
	free(text);
	return err;
}

int cli_top(int argc, char **argv)
{
	struct top top = { 0 };
	char *end = "";
	long seconds = argc == 2 ? strtol(argv[1], &end, 10) : 1;
	int err;

	if (argc > 2 || *end || seconds < 1 || seconds > LONGEST)
		return cli_refuse(CLI_USAGE, "top takes the seconds between two screens, 1 to %d",
				  LONGEST);
	screen_begin();
	while (!(err = show(&top))) {
		if (fflush(stdout))
			return CLI_FAILED;
		screen_wait((unsigned int)seconds);
		if (!isatty(STDOUT_FILENO))
			putchar('\n');
	}
	return cli_report(err);
}
