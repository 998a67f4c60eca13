/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A library that is looked at: one function calls another library's, one name begins as another. */

#include <search.h>
#include <stdlib.h>

#include "sample.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* Asked for when the library is loaded, by a relocation of data. */
int (*volatile sample_at_once)(size_t) = hcreate;

/* Asked for at the first call, by one of the procedure linkage table. */
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

/* Its name stands among those of the symbols only. */
void ibv_sample_symbol(void);
void ibv_sample_symbol(void)
{
}

/* A string of a verb that is no symbol. */
const char *JOIN(PREFIX, _says)(void);
const char *JOIN(PREFIX, _says)(void)
{
	return "it calls ibv_create_xrc_rcv_qp";
}
