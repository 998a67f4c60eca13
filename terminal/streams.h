/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Standard input, output and error of a command: closed ones stay out of the way, and lost output is noticed. */
#ifndef TERMINAL_STREAMS_H
#define TERMINAL_STREAMS_H

/*
 * To be called first. Gives every closed standard descriptor a number that is taken, so that no file, lock or socket gets it.
 * Reading and writing there still fail, and a program that is executed finds it closed.
 */
void streams_fill(void);

/* To be called last. NULL when all of standard output has been written, else the reason why not: a full disk is no success. */
const char *streams_flush(void);

#endif
