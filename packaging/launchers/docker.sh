# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The lines of docs/containers.md for Docker, with the emulated adapter and an image made here.
. "$(dirname "$0")/common.sh"
needed docker.io docker-cli
control_groups

group=$(mktemp -d /sys/fs/cgroup/xrc-compat.XXXXXX)
trap 'docker ps -q | xargs -r docker kill >/dev/null; rmdir "$group"' EXIT
dockerd --storage-driver vfs --iptables=false --ip6tables=false --bridge=none \
	--exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "${group#/sys/fs/cgroup}" >/tmp/dockerd.log 2>&1 &
wait_for "dockerd does not start" /tmp/dockerd.log docker info
tar -C "$image" -c . | docker import - old >/tmp/log 2>&1 || failed /tmp/log

# Split into words.
# shellcheck disable=SC2086
{
	run="docker run --rm --network none --volume $X:$X:ro $(memlock)"
	demo_runs docker $run
}
