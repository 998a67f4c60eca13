/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the program and the plugin have in common. */
#ifndef TESTS_E2E_SHIM_LIFE_H
#define TESTS_E2E_SHIM_LIFE_H

/** live - 0, or 1 after saying on stdout which verb failed. */
__attribute__((visibility("default"))) int live(void);

#endif
