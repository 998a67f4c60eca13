/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A library that is looked at. */
#ifndef TESTS_UNIT_ELF_SAMPLE_H
#define TESTS_UNIT_ELF_SAMPLE_H

int gnu_name(int number);
int gnu_name_longer(int number);
int sysv_name(int number);
int sysv_name_longer(int number);

#endif
