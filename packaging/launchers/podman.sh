# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The line of docs/bundle.md for Podman, with the emulated adapter and an image made here.
. "$(dirname "$0")/common.sh"
needed podman crun
control_groups

export PODMAN_IGNORE_CGROUPSV1_WARNING=yes
engine="podman --storage-driver vfs --cgroup-manager cgroupfs"
# shellcheck disable=SC2086
tar -C "$image" -c . | $engine import - old >/tmp/log 2>&1 || failed /tmp/log

# Split into words.
# shellcheck disable=SC2086
{
	run="$engine run --rm --network none --cgroups disabled --volume $X:$X:ro $(memlock) --ipc host old"
	tried "podman run" 1 $run $X/bin/xrc-compat run --softhca=2 -- $X/libexec/xrc-compat/xrc-cluster -n 2
	shares_memory $run
}
