# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# A container without an engine. The bundle is at another path and read-only. Processes, shared
# memory and network are the container's own.
. "$(dirname "$0")/common.sh"

inside=/mnt/elsewhere
mkdir -p "$image$inside"
mount --bind "$image" "$image"
mount --bind "$X" "$image$inside"
mount -o remount,bind,ro "$image$inside"
for directory in dev/shm tmp; do
	mount -t tmpfs -o mode=1777 tmpfs "$image/$directory"
done
# shellcheck disable=SC2016
tried "unshare and chroot, the bundle bound in" 1 \
	unshare --propagation unchanged --mount --pid --ipc --net --fork \
	sh -c 'mount -t proc proc $1/proc && exec chroot "$@"' sh "$image" \
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/tmp \
	$inside/bin/xrc-compat run --softhca=2 -- $inside/libexec/xrc-compat/xrc-cluster -n 2
