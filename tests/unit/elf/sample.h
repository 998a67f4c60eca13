/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The library for test_loaded.c, once for each kind of symbol table. */
#ifndef TESTS_UNIT_ELF_SAMPLE_H
#define TESTS_UNIT_ELF_SAMPLE_H

int gnu_name(int number);
int gnu_name_longer(int number);
int sysv_name(int number);
int sysv_name_longer(int number);

#endif
