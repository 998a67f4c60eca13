/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The clock by which the library looks for its table file once a second. Tests advance it. */
#ifndef TESTS_COMPAT_CLOCK_H
#define TESTS_COMPAT_CLOCK_H

void advance_a_second(void);

#endif
