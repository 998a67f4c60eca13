/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Standard input, output and error: closed ones stay out of the way, lost output is noticed. */
#ifndef SOFTHCA_STREAMS_H
#define SOFTHCA_STREAMS_H

/*
 * What main() does: executes the command and returns its exit status, or CLI_REFUSED after a
 * message if not all of standard output was written: a full disk is no success. While the command
 * executes, the number of every closed standard descriptor is taken, so that no file, lock or
 * socket gets it. Reading and writing there still fail, and a program that is executed finds it
 * closed.
 */
int streams_main(int (*execute)(int argc, char **argv), int argc, char **argv);

#endif
