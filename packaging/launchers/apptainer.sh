# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The lines of docs/containers.md for Apptainer, as an ordinary user. The image is a directory.
. "$(dirname "$0")/common.sh"
needed apptainer

# Split into words.
# shellcheck disable=SC2086,SC2016
{
	tried "apptainer exec, the command in front of the program" 1 $user apptainer exec --bind $X $image \
		$X/bin/xrc-compat run --softhca=2 -- $demo -n 2
	tried "apptainer exec --env LD_PRELOAD" 1 $user $X/bin/softhca run --devices=2 -- sh -c '
		exec apptainer exec --bind $X \
			--env LD_PRELOAD=$X/lib64/xrc-compat/libxrc-compat.so.1:$LD_PRELOAD $image \
			$demo -n 2'
	seen_by_ps "$user" $user apptainer exec --bind $X $image \
		$X/bin/xrc-compat run --softhca=2 -- $demo
}
