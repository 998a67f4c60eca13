/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The place of this process in an MPI job. */
#ifndef TOOLS_JOB_H
#define TOOLS_JOB_H

/* The MPI rank of this process, -1 where there is none; *ranks: how many there are, -1 unknown. */
int job_rank(int *ranks);

#endif
