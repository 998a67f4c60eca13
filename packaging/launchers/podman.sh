# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The lines of docs/containers.md for Podman, with the emulated adapter and an image made here.
. "$(dirname "$0")/common.sh"
needed podman crun uidmap
control_groups

export PODMAN_IGNORE_CGROUPSV1_WARNING=yes
engine="podman --storage-driver vfs --cgroup-manager cgroupfs"
runtime=/tmp/of-user
install -d -m 700 -o user "$runtime"
rootless_user="$user USER=user XDG_RUNTIME_DIR=$runtime"
# shellcheck disable=SC2086
for as in "" "$rootless_user"; do
	tar -C "$image" -c . | $as $engine import - old >/tmp/log 2>&1 || failed /tmp/log
done

# Split into words.
# shellcheck disable=SC2086
{
	run="$engine run --rm --network none --cgroups disabled --volume $X:$X:ro $(memlock)"
	demo_runs podman $run
	rootless="$rootless_user $engine run --rm --network none --cgroups disabled --volume $X:$X:ro"
	tried "podman run as a user" 1 $rootless old $X/bin/xrc-compat run --softhca=2 -- $demo -n 2
	seen_by_ps "$user" $rootless old $X/bin/xrc-compat run --softhca=2 -- $demo
	libraries=/usr/lib/x86_64-linux-gnu/libibverbs
	refused "the host's providers in an image" '^PROBLEM *\(libibverbs\|devices\)' $run \
		--volume /etc/libibverbs.d:/etc/libibverbs.d:ro --volume $libraries:$libraries:ro \
		old $X/bin/softhca run -- $X/bin/xrc-compat doctor
}
