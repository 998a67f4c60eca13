/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A library for test_loaded.c: it refers to another library's functions, and one of its names
 * begins like another.
 */

#include <search.h>
#include <stdlib.h>

#include "sample.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* A relocation of data, resolved when the library is loaded. */
int (*volatile sample_at_once)(size_t) = hcreate;

/* hdestroy is a relocation of the procedure linkage table, resolved at the first call. */
int JOIN(PREFIX, _name)(int number)
{
	if (number < 0)
		hdestroy();
	return number + 1;
}

int JOIN(PREFIX, _name_longer)(int number)
{
	return number + 2;
}

/* The name of a symbol begins as a verb's does. No string has it. */
void ibv_sample_symbol(void);
void ibv_sample_symbol(void)
{
}

/* A string names this verb. No symbol does. */
const char *JOIN(PREFIX, _says)(void);
const char *JOIN(PREFIX, _says)(void)
{
	return "it calls ibv_create_xrc_rcv_qp";
}
