# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Sourced by each launcher of packaging/try-launchers, on a fresh system of Debian. POSIX sh.
# shellcheck disable=SC2034 # read by the launchers
. /opt/inside.sh

export X=/srv/shared/xrc
export demo="$X/libexec/xrc-compat/xrc-cluster"
export image=/srv/image
# As as_user, but with the user's groups, which rootless containers need.
user="setpriv --reuid user --regid user --init-groups env HOME=/srv/user"
cd /tmp

skip() {
	echo "$1"
	exit 77
}

# needed PACKAGE...: installs the packages. Skips the launcher if the release lacks one of them.
needed() {
	for package in "$@"; do
		apt-cache show "$package" >/dev/null 2>&1 ||
			skip "$(. /etc/os-release && echo "$PRETTY_NAME") has no package $package"
	done
	install_packages "$@"
}

# wait_for PROBLEM FILE COMMAND...: waits until COMMAND succeeds. FILE is shown if it does not.
wait_for() {
	problem=$1 messages=$2 left=120
	shift 2
	until "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || { echo "$problem"; failed "$messages"; }
		sleep 0.5
	done
}

# tried WHAT COUNT COMMAND...: COMMAND must run the demo COUNT times with success.
tried() {
	what=$1 count=$2
	shift 2
	timeout 300 "$@" >/tmp/out 2>&1 && [ "$(grep -c '^QPs used: 2' /tmp/out)" = "$count" ] || {
		echo "try-launchers: $what: does not run"
		failed /tmp/out
	}
	echo "try-launchers: $what: runs"
}

# demo_runs ENGINE COMMAND...: the lines that the container engines share. COMMAND, a `run` without
# the image's name, starts a container.
demo_runs() {
	engine_name=$1
	shift
	tried "$engine_name run" 1 "$@" old $X/bin/xrc-compat run --softhca=2 -- $demo -n 2
	tried "$engine_name run --env LD_PRELOAD" 1 "$@" \
		--env LD_PRELOAD=$X/lib64/xrc-compat/libxrc-compat.so.1 \
		old $X/bin/softhca run --devices=2 -- $demo -n 2
	tried "$engine_name run with fewer rights" 1 "$@" --read-only --tmpfs /tmp --cap-drop all \
		--security-opt no-new-privileges old $X/bin/xrc-compat run --softhca=2 -- $demo -n 2
	seen_by_ps "" "$@" old $X/bin/xrc-compat run --softhca=2 -- $demo
}

# seen_by_ps USER COMMAND...: COMMAND runs the demo in a container. `xrc-compat ps` on the host, which
# USER starts (empty: root), must list a process of it.
seen_by_ps() {
	as=$1
	shift
	timeout 300 "$@" -i 1000 >/tmp/out 2>&1 &
	# Split into words.
	# shellcheck disable=SC2086
	wait_for "ps on the host does not list the demo" /tmp/out \
		sh -c '"$@" ps --noheadings 2>/dev/null | grep -q "xrc-cluster"' sh $as $X/bin/xrc-compat
	wait $! || failed /tmp/out
	echo "try-launchers: ps on the host lists the container's processes"
}

# refused WHAT PATTERN COMMAND...: COMMAND must fail, and print a line that matches PATTERN.
refused() {
	what=$1 pattern=$2
	shift 2
	if timeout 300 "$@" >/tmp/out 2>&1 || ! grep -q "$pattern" /tmp/out; then
		echo "try-launchers: $what: not refused"
		failed /tmp/out
	fi
	echo "try-launchers: $what: refused"
}

# control_groups: mounts the file system of control groups, which container engines need.
control_groups() {
	mount -t cgroup2 cgroup2 /sys/fs/cgroup || skip "there are no control groups of version 2"
}

# memlock: prints the option that lifts the limit on registered memory, if root may lift it here.
memlock() {
	# shellcheck disable=SC3045 # every shell of these systems has -H
	if (ulimit -H -l unlimited) 2>/dev/null; then
		echo "--ulimit memlock=-1"
	fi
}
