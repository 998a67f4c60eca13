# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# `mpirun -np 2 xrc-compat run` of Debian's Open MPI.
. "$(dirname "$0")/common.sh"
needed openmpi-bin

# Split into words.
# shellcheck disable=SC2086,SC2016
{
	tried "mpirun, the command in front of the program" 2 $user mpirun --oversubscribe -np 2 \
		$X/bin/xrc-compat run --softhca=2 -- $demo -n 2
	tried "mpirun -x LD_PRELOAD" 2 $user $X/bin/softhca run --devices=2 -- sh -c '
		exec mpirun --oversubscribe -np 2 -x LD_PRELOAD="$X/\$LIB/xrc-compat/libxrc-compat.so.1:$LD_PRELOAD" \
			$demo -n 2'
}
