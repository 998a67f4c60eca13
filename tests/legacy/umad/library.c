/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Linked with libibumad. The calls come from a library that is linked with none: umad.c. */

int umad_main(void);

int main(void)
{
	return umad_main();
}
