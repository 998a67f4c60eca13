# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# For the scripts that run in a fresh system: fresh_copy puts this file there as /opt/inside.sh.
# Sourced; POSIX sh. A script that sources it stops at the first command that fails.
set -eu

# failed FILE: shows the end of the file, and ends the script.
failed() {
	tail -n 60 "$1"
	exit 1
}

# quietly COMMAND...: its output goes to /tmp/log, and is shown only if the command fails.
quietly() {
	"$@" >/tmp/log 2>&1 </dev/null || failed /tmp/log
}

# install_packages PACKAGE...
install_packages() {
	quietly apt-get -q -y --no-install-recommends install "$@"
}

# make_user: makes the ordinary user of as_user, whose home is /srv/user.
make_user() {
	quietly useradd -m -d /srv/user user
}

# misses_machine SOFTHCA: the program must look for another machine by libfabric, and miss it.
misses_machine() {
	printf '%s\n' "$(hostname -I | cut -d' ' -f1)" 198.51.100.1 >/tmp/machines
	if as_user env HOME=/tmp "$1" run --machines=/tmp/machines --machines_wait=1 -- true >/tmp/log 2>&1
	then failed /tmp/log; fi
	grep -q 'machine 198.51.100.1 is missing' /tmp/log || failed /tmp/log
}

# as_user COMMAND...
as_user() {
	setpriv --reuid user --regid user --clear-groups env HOME=/srv/user "$@"
}
