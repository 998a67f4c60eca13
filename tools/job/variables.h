/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one table of this project's own environment variables: of the library, the tools and the
 * emulated HCA. The tools explain them from it. A test fails if such a variable is read and missing
 * here or in xrc-compat(1), or if nothing reads a variable that stands here.
 *
 * X(NAME, IN_PROGRAM, DEFAULT, HELP)
 *   NAME       identifier; the name of the variable is #NAME
 *   IN_PROGRAM true: the library or the emulator reads it in the user's program, so a launcher must
 *              pass it on; false: only the commands read it
 *   DEFAULT    what holds when the variable is unset or empty, as text for people
 *   HELP       one sentence, no full stop
 */
#ifndef TOOLS_VARIABLES_H
#define TOOLS_VARIABLES_H

#define XRC_COMPAT_ENV_TABLE(X) \
	X(XRC_COMPAT_VERBOSE, true, "0 (silent)", \
	  "1: prints one banner line per process, and each warning once, on stderr") \
	X(XRC_COMPAT_TWO_WAY, true, "auto", \
	  "whether an old XRC QP also receives: on, off, or auto (decided by what the program imports)") \
	X(XRC_COMPAT_SUMMARY, true, "0 (nothing)", \
	  "1: each process prints at its end, on stderr, which devices it opened and how much XRC it used") \
	X(XRC_COMPAT_LIBRARY, false, "found next to the xrc-compat command, then in the installed library directory", \
	  "path of the libxrc-compat.so.1 that the tools use instead of searching for one") \
	X(XRC_COMPAT_TRACE, true, "not traced", \
	  "set by xrc-compat trace: the socket to which every legacy call is reported") \
	X(SOFTHCA_DIR, true, "$XDG_RUNTIME_DIR/softhca, else /tmp/softhca-UID; softhca run makes a private one", \
	  "directory in which the emulated HCA has its socket and its device tree") \
	X(SOFTHCA_HOST, true, "all of them", \
	  "name of an adapter, as mlx4_1: the program sees only this one") \
	X(SOFTHCA_HOSTS, true, "not by rank", \
	  "number of hosts of an MPI job, set by softhca run --hosts: the rank chooses SOFTHCA_HOST") \
	X(SOFTHCA_LINK, false, "infiniband", \
	  "link layer of the emulated ports if no --link says so: infiniband or ethernet (RoCE)") \
	X(SOFTHCA_MODEL, false, "connectx3", \
	  "which adapter is emulated if no --model says so: connectx3 (mlx4) or connectx5 (mlx5)")

#endif
