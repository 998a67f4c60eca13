/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A row is a function that tests one sentence of the contract. It runs in a process of its own, so
 * a crash or a hang fails this row only. The first failed expectation ends the row.
 */
#ifndef TESTS_E2E_SHIM_ROW_H
#define TESTS_E2E_SHIM_ROW_H

#include <errno.h>
#include <fcntl.h>

#include "../row.h"
#include "actor.h"
#include "calls.h"

enum needs {
	NEEDS_NOTHING,
	NEEDS_OPENED_EVENTS,	/* Linux 5.8 and later deliver none to handles from ibv_open_qp */
	NEEDS_PROCESSES,	/* the row ends an actor's process */
};

/*
 * ROW("5.3", "a fact") { ... } adds a row to the group that the file names in GROUP. Rows run in
 * the order of their file.
 */
#undef ROW
#define ROW(section, title) ROW_NEEDING(section, title, NEEDS_NOTHING)
#define ROW_NEEDING(section_, title, needs_) \
	ROW_NUMBERED(__COUNTER__, .section = section_, .name = title, .needs = needs_)

/*
 * ROW_CALL("5.3", "title", check(argument)) defines a row that makes one call. ROW_OF_PROCESSES()
 * does so between processes only.
 */
#define ROW_CALL(section, title, call) ROW_CALL_NEEDING(section, title, NEEDS_NOTHING, call)
#define ROW_OF_PROCESSES(section, title, call) \
	ROW_CALL_NEEDING(section, title, NEEDS_PROCESSES, call)
#define ROW_CALL_NEEDING(section, title, needs, call) \
	ROW_NEEDING(section, title, needs) \
	{ \
		call; \
	}

/**
 * row_file - path for a file of this row, n from 0 to 3. Does not create it; the file is removed
 * after the row.
 */
const char *row_file(int n);

void row_expect(const char *file, int line, const char *call, struct result result, int want,
		bool errno_too);

/** error_name - "EINVAL" for 22. The text is overwritten by the fourth call after this. */
const char *error_name(int err);

/* An XRC verb: 0 and errno left alone, or the error both returned and in errno. */
#define expect(call, want) row_expect(__FILE__, __LINE__, #call, call, want, true)
#define expect_ok(call) expect(call, 0)

/* A verb that libibverbs itself carries out may leave anything in errno when it succeeds. */
#define expect_ret(call, want) row_expect(__FILE__, __LINE__, #call, call, want, false)

#define expect_eq(got, want) \
	do { \
		long long got_ = (long long)(got), want_ = (long long)(want); \
		if (got_ != want_) \
			row_fail(__FILE__, __LINE__, #got ": got %lld, want %lld", got_, want_); \
	} while (0)

#define expect_that(condition) must(condition)

#define expect_facts(result, want) expect_eq((result).facts & (unsigned)(want), want)

/* The state of a receive QP, as this actor queries it. */
#define expect_rcv_state(actor, qpn, want) \
	do { \
		struct result queried_ = query_rcv_qp(actor, D, qpn, IBV_QP_STATE); \
		expect_ok(queried_); \
		expect_eq(queried_.attr.qp_state, want); \
	} while (0)

/* Retries, because the kernel cleans up behind an ended process some time later. */
#define expect_soon(call, want) \
	do { \
		struct result soon_ = call; \
		for (int left_ms_ = 20000; soon_.ret != (want) && left_ms_ > 0; left_ms_ -= 10) { \
			usleep(10000); \
			soon_ = call; \
		} \
		row_expect(__FILE__, __LINE__, #call, soon_, want, true); \
	} while (0)

#endif
