/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The program's host, an adapter that SOFTHCA_HOST names, or that the rank in an MPI job gives. */
#include "lookup.h"

#include <own/own.h>
#include <own/real.h>
#include <dir.h>
#include <proto.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ADAPTER SOFTHCA_SYSFS "/" SYSFS_VERBS "/" SOFTHCA_VERBS_NODE "0/ibdev"

/* The value of SOFTHCA_HOST; NULL if it is not set, or empty. */
static const char *chosen_host(void)
{
	const char *name = getenv("SOFTHCA_HOST");

	return name && name[0] ? name : NULL;
}

/* The name of the first adapter, or "" when there is none. */
static void first_adapter(char *name, size_t size)
{
	char path[PATH_MAX];
	FILE *file = NULL;

	name[0] = '\0';
	if (place_dir() && !dir_join(path, sizeof(path), place_dir(), FIRST_ADAPTER))
		file = real()->fopen(path, "re");
	if (!file)
		return;
	if (fgets(name, (int)size, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

int host_index(uint32_t *host)
{
	const char *name = chosen_host();
	char adapter[DIR_ADAPTER];
	int index;

	*host = SOFTHCA_EVERY_HOST;
	if (!name)
		return 0;
	index = place_dir() ? dir_adapter(place_dir(), name, adapter) : -ENOENT;
	if (index >= 0) {
		*host = (uint32_t)index;
		return 0;
	}
	first_adapter(adapter, sizeof(adapter));
	TELL_ONCE("SOFTHCA_HOST is the name of an adapter, as %s, not '%s'\n", adapter, name);
	return -EINVAL;
}

bool host_has(const char *entry)
{
	const size_t length = strlen(SOFTHCA_VERBS_NODE);
	char *end;
	unsigned long index;
	uint32_t host;

	if (strncmp(entry, SOFTHCA_VERBS_NODE, length))
		return true;
	index = strtoul(entry + length, &end, 10);
	if (*end || host_index(&host))
		return false;
	return host == SOFTHCA_EVERY_HOST || index == host;
}

/*
 * The rank of this process in an MPI job, -1 if there is none. Slurm comes last: in a batch job it
 * sets its variable for the ranks of other launchers, too.
 */
static int own_rank(void)
{
	static const char *const variables[] = {
		"OMPI_COMM_WORLD_RANK",
		"MV2_COMM_WORLD_RANK",
		"MPIRUN_RANK",	/* mpirun_rsh of MVAPICH 1 */
		"PMI_RANK",	/* MPICH, Intel MPI */
		"MPI_RANKID",	/* HP-MPI, Platform MPI */
		"PMI_ID",	/* mpirun_rsh of MVAPICH2 1.7, as mpispawn sets it */
		"PMIX_RANK",	/* prterun; srun --mpi=pmix */
		"SLURM_PROCID",
	};

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *text = getenv(variables[i]);

		if (text && text[0] >= '0' && text[0] <= '9')
			return atoi(text);
	}
	return -1;
}

char *host_by_rank(void)
{
	const char *hosts = getenv("SOFTHCA_HOSTS");
	static char entry[sizeof("SOFTHCA_HOST=") + DIR_ADAPTER + 10]; /* room for any number */
	char *name = stpcpy(entry, "SOFTHCA_HOST=");
	long count = hosts ? strtol(hosts, NULL, 10) : 0;
	int rank = own_rank();

	if (count < 1 || count > SOFTHCA_MAX_DEVICES || rank < 0 || chosen_host())
		return NULL;
	first_adapter(name, DIR_ADAPTER);
	if (!strrchr(name, '_'))
		return NULL;
	sprintf(strrchr(name, '_') + 1, "%ld", rank % count);
	return entry;
}
