/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A library for test_loaded.c. It refers to functions of the C library. */

#include <search.h>
#include <stdlib.h>

/* A relocation of data, resolved when the library is loaded. */
int (*volatile sample_at_once)(size_t) = hcreate;

int sample_name(int number);
int sample_name_longer(int number);

/* hdestroy is a relocation of the procedure linkage table, resolved at the first call. */
int sample_name(int number)
{
	if (number < 0)
		hdestroy();
	return number + 1;
}

int sample_name_longer(int number)
{
	return number + 2;
}

/* This name begins like a verb's. It is a symbol, but in no string. */
void ibv_sample_symbol(void);
void ibv_sample_symbol(void)
{
}

/* This verb's name is in a string, but no symbol has it. */
const char *sample_says(void);
const char *sample_says(void)
{
	return "it calls ibv_create_xrc_rcv_qp";
}
