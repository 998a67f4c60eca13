# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Functions for the steps of packaging/try-launchers. Each step sources them, in a fresh system of
# Debian; POSIX sh.
# shellcheck disable=SC2034 # read by the steps
set -eu

export X=/srv/shared/xrc
image=/srv/image
user="setpriv --reuid someone --regid someone --init-groups env HOME=$(getent passwd someone | cut -d: -f6)"
cd /tmp

skip() {
	echo "$1"
	exit 77
}

failed() {
	cat "$1"
	exit 1
}

# needed PACKAGE...: installs them. A release that lacks one is no failure.
needed() {
	for package in "$@"; do
		apt-cache show "$package" >/dev/null 2>&1 || skip "$(. /etc/os-release && echo "$PRETTY_NAME") has no package $package"
	done
	apt-get -q -y --no-install-recommends install "$@" >/tmp/log 2>&1 || { tail -n 20 /tmp/log; exit 1; }
}

# until_it WHAT FILE COMMAND...: waits for a service, whose messages are in FILE.
until_it() {
	what=$1 messages=$2 left=120
	shift 2
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "$what does not start"; failed "$messages"; }
		sleep 0.5
	done
}

# tried WHAT COUNT COMMAND...: the demo program must end well COUNT times.
tried() {
	what=$1 count=$2
	shift 2
	timeout 300 "$@" >/tmp/out 2>&1 || failed /tmp/out
	[ "$(grep -c '^QPs used: 2' /tmp/out)" = "$count" ] || failed /tmp/out
	echo "try-launchers: $what: runs"
}

# shares_memory COMMAND...: the processes that it starts see this system's /dev/shm, where the
# registration tables are.
shares_memory() {
	: >/dev/shm/of-the-host
	"$@" test -e /dev/shm/of-the-host || { echo "/dev/shm in there is not the host's"; exit 1; }
}

# Container engines look for this file system; ours is a new view of the machine's.
control_groups() {
	mount -t cgroup2 cgroup2 /sys/fs/cgroup || skip "there are no control groups of version 2"
}

# memlock: the option that lifts the limit on registered memory, if this machine allows that.
memlock() {
	# shellcheck disable=SC3045 # every shell of these systems has -H
	if (ulimit -H -l unlimited) 2>/dev/null; then
		echo "--ulimit memlock=-1"
	fi
}
