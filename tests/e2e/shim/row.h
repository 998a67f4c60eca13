/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A row is a function that tests one sentence of the contract. It runs in a process of its own, so
 * a crash or a hang fails this row only. The first failed expectation ends the row.
 */
#ifndef TESTS_E2E_SHIM_ROW_H
#define TESTS_E2E_SHIM_ROW_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <harness/row.h>
#include "actor.h"

/*
 * ROW("5.3", "a fact") { ... } adds a row to the group that the file names in GROUP. Rows run in
 * the order of their file.
 */
#undef ROW
#define ROW(section_, title, ...) \
	ROW_NUMBERED(__COUNTER__, .section = section_, .name = title, ##__VA_ARGS__)

/* ROW_CALL("5.3", "title", check(argument)) defines a row that makes one call. */
#define ROW_CALL(section, title, call) \
	ROW(section, title) \
	{ \
		call; \
	}

/* A row that is run for each way in which an actor can end in this mode, which is row_end. */
enum { ONE_END, ALL_ENDS };
#define EACH_END .needs = ALL_ENDS
extern enum end row_end;

/*
 * ROW_JOB("5.6", "a fact") { ... } has the actors a, b and c with the domain of FILE_A in D, and
 * a's receive QP qpn. ROW_WIRE("3", "a fact") { ... } has a wire and its receiver.
 */
#define ROW_JOB(...) ROW_JOB_NUMBERED(__COUNTER__, __VA_ARGS__)
#define ROW_JOB_NUMBERED(number, ...) \
	ROW_WITH(number, \
		 (MAYBE_UNUSED struct actor *a, MAYBE_UNUSED struct actor *b, \
		  MAYBE_UNUSED struct actor *c, MAYBE_UNUSED uint32_t qpn), \
		 (first, with_domain(), with_domain(), new_rcv_qp(first)), \
		 struct actor *first = with_domain(), __VA_ARGS__)
#define ROW_WIRE(...) ROW_WIRE_NUMBERED(__COUNTER__, __VA_ARGS__)
#define ROW_WIRE_NUMBERED(number, ...) \
	ROW_WITH(number, (struct wire wire, MAYBE_UNUSED struct actor *receiver), \
		 (connected, connected.receiver), struct wire connected = wire_new(FILE_A), \
		 __VA_ARGS__)
#define ROW_WITH(number, parameters, arguments, prepare, section_, title, ...) \
	static void row_with_##number parameters; \
	ROW_DEFINED(number, .section = section_, .name = title, ##__VA_ARGS__) \
	{ \
		prepare; \
 \
		row_with_##number arguments; \
	} \
	static void row_with_##number parameters
#define MAYBE_UNUSED __attribute__((unused))

/* Returns the path of a file of this row. Does not create it; the file is removed after the row. */
const char *row_file(enum file file);

void row_expect(const char *file, int line, const char *call, struct result result, int want,
		bool errno_too);

/* An XRC verb: 0 and errno left alone, or the error both returned and in errno. */
#define expect(call, want) row_expect(__FILE__, __LINE__, #call, call, want, true)
#define expect_ok(call) expect(call, 0)

/* A verb that libibverbs itself carries out may leave anything in errno when it succeeds. */
#define expect_ret(call, want) row_expect(__FILE__, __LINE__, #call, call, want, false)

/* The state of a receive QP, as this actor queries it. */
#define expect_rcv_state(actor, qpn, want) \
	do { \
		struct result queried_ = query_rcv_qp(actor, D, qpn, IBV_QP_STATE); \
		expect_ok(queried_); \
		must_eq(queried_.attr.qp_state, want); \
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
