/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a process has used, for `xrc-compat run --summary`. Old MPIs use TCP without a word if they
 * find no adapter, so a process that has opened none says that, too.
 */
#ifndef BASE_SUMMARY_H
#define BASE_SUMMARY_H

enum summary_count {
	SUMMARY_DOMAINS,	/* opened */
	SUMMARY_CREATED,	/* receive QPs */
	SUMMARY_REGISTERED,	/* with receive QPs of others */
	SUMMARY_XRC_QPS,
	SUMMARY_COUNTS
};

/* The program has opened a device. */
void summary_note_device(const char *name);

/* One more. Takes no lock. */
void summary_add(enum summary_count what);

/* Prints the line if XRC_COMPAT_SUMMARY asks for it. The process ends. */
void summary_print(void);

#endif
