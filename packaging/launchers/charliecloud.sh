# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The lines of docs/containers.md for Charliecloud, as an ordinary user. The image is a directory.
. "$(dirname "$0")/common.sh"
needed charliecloud

# Split into words.
# shellcheck disable=SC2086
{
	user="$user USER=user"
	tried "ch-run, the command in front of the program" 1 $user ch-run --bind $X:/mnt $image -- \
		/mnt/bin/xrc-compat run --softhca=2 -- /mnt/libexec/xrc-compat/xrc-cluster -n 2
	tried "ch-run --set-env=LD_PRELOAD" 1 $user ch-run --bind $X:/mnt \
		--set-env=LD_PRELOAD=/mnt/lib64/xrc-compat/libxrc-compat.so.1 $image -- \
		/mnt/bin/softhca run --devices=2 -- /mnt/libexec/xrc-compat/xrc-cluster -n 2
	seen_by_ps "$user" $user ch-run --bind $X:/mnt $image -- \
		/mnt/bin/xrc-compat run --softhca=2 -- /mnt/libexec/xrc-compat/xrc-cluster
}
