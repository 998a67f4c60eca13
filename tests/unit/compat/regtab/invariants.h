/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What must hold of a table when nobody is in the middle of a change and dead members have been found. */
#ifndef TESTS_REGTAB_INVARIANTS_H
#define TESTS_REGTAB_INVARIANTS_H

#include <compat/regtab/tab.h>

/** invariants_broken - NULL, or what is wrong (a static text). */
const char *invariants_broken(struct regtab *tab);

#endif
