# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Fresh systems of releases of Debian, made by debootstrap from the mirror of this machine's apt.
# Sourced after deps.sh. fresh_copy takes the path of the top directory from $top. POSIX sh.

fresh_home=${XDG_CACHE_HOME:-${HOME-}/.cache}/xrc-compat
# The file of a copied system that names the directory of its cached packages.
fresh_note=/var/cache/apt/fresh-archives

# fresh_mirror: where apt gets packages of Debian.
fresh_mirror() {
	apt-get indextargets --format '$(CREATED_BY) $(COMPONENT) $(ORIGIN) $(REPO_URI)' 2>/dev/null |
		awk '$1 $2 $3 == "PackagesmainDebian" && $4 !~ /security/ { print $4; exit }'
}

# fresh_own_suite: the release of this machine; bookworm if it is not Debian.
fresh_own_suite() {
	(
		. /etc/os-release
		[ "$ID" = debian ] || VERSION_CODENAME=bookworm
		echo "${VERSION_CODENAME:-sid}"
	)
}

# fresh_why_not: prints why no fresh system can be made here. Fails if one can be made.
fresh_why_not() {
	if [ "$(id -u)" != 0 ]; then
		echo "debootstrap and chroot need root"
	elif ! command -v apt-get >/dev/null || [ -z "$(fresh_mirror)" ]; then
		echo "apt knows no source of Debian packages on this machine"
	elif ! deps_ensure fresh >&2; then
		echo "debootstrap cannot be installed here"
	elif ! unshare --mount --pid --fork true 2>/dev/null; then
		echo "no new namespaces can be made here"
	else
		return 1
	fi
}

# fresh_need NAME: ends the script NAME with status 77 if no fresh system can be made here.
fresh_need() {
	if fresh_reason=$(fresh_why_not); then
		echo "$1: $fresh_reason" >&2
		exit 77
	fi
}

# fresh_work: makes the directory $work, which is removed when the script ends.
fresh_work() {
	work=$(mktemp -d) || exit 1
	trap 'rm -rf --one-file-system "$work"' EXIT
	trap 'exit 130' INT TERM
}

# fresh_expire: removes systems and packages that are older than 30 days.
fresh_expire() {
	find "$fresh_home" -mindepth 1 -maxdepth 1 -type d ! -name '*.archives' -mtime +30 \
		-exec rm -rf --one-file-system {} +
	find "$fresh_home" -mindepth 2 -maxdepth 2 -path '*.archives/*.deb' -mtime +30 -delete
}

# fresh_make SUITE: makes that system in the cache, unless it is there.
fresh_make() {
	case $1 in
	'' | *[!a-z]*)
		echo "$1: no release of Debian" >&2
		return 1
		;;
	esac
	[ ! -e "$fresh_home/$1/etc/debian_version" ] || return 0
	rm -rf --one-file-system "$fresh_home/$1.new"
	echo "Making a fresh system of $1 in $fresh_home" >&2
	debootstrap --variant=minbase "$1" "$fresh_home/$1.new" "$(fresh_mirror)" >"$fresh_home/$1.log" 2>&1 || {
		tail -n 20 "$fresh_home/$1.log" >&2
		return 1
	}
	rm -f "$fresh_home/$1.new/var/cache/apt/archives/"*.deb
	mv "$fresh_home/$1.new" "$fresh_home/$1"
}

# fresh_base SUITE ROOT: copies that system, which has nothing added, to ROOT. The lock makes a second
# script wait while the first one makes or copies a system.
fresh_base() {
	mkdir -p "$fresh_home" || return 1
	(
		flock 9
		fresh_expire
		fresh_make "$1" && cp -a --one-file-system "$fresh_home/$1" "$2"
	) 9>"$fresh_home/lock"
}

# fresh_copy SUITE ROOT: copies the system to ROOT, with this machine's name servers, the cached
# packages, and what scripts in it may source.
fresh_copy() {
	fresh_archives=$fresh_home/$1.archives
	fresh_base "$1" "$2" || return 1
	mkdir -p "$fresh_archives" || return 1
	cp "$top/scripts/inside.sh" "$2/opt" || return 1
	cp "$fresh_archives"/*.deb "$2/var/cache/apt/archives/" 2>/dev/null || :
	echo "$fresh_archives" >"$2$fresh_note" || return 1
	# A mirror may be out of date.
	mkdir -p "$2/etc/apt/apt.conf.d" || return 1
	echo 'Acquire::Check-Valid-Until "false";' >"$2/etc/apt/apt.conf.d/90fresh" || return 1
	for fresh_file in /etc/resolv.conf /etc/hosts; do
		[ ! -e "$fresh_file" ] || cp -L "$fresh_file" "$2$fresh_file" || return 1
	done
}

# fresh_run ROOT [NAME=VALUE...] COMMAND...: runs the command in the system at ROOT. The environment
# has nothing of the caller's. The command's processes and mounts end with it. The packages that it
# downloads are copied to the cache: with a shared directory, one apt would lock out the others.
# With fresh_pivots=yes the root is a mount with nothing above it, as container engines need it: the
# kernel gives no user namespaces below a plain chroot.
fresh_run() {
	fresh_root=$1
	shift
	# The inner shell expands these variables.
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child sh -c '
		set -e
		root=$1
		pivots=$2
		shift 2
		[ -z "$pivots" ] || mount --bind "$root" "$root"
		mount -t proc proc "$root/proc"
		mount -t sysfs sysfs "$root/sys"
		mkdir -p "$root/dev/shm" "$root/dev/pts"
		mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
		mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
		if [ -n "$pivots" ]; then
			cd "$root"
			pivot_root . mnt
			umount -l mnt
			root=.
		fi
		exec chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			DEBIAN_FRONTEND=noninteractive "$@"' sh "$fresh_root" "${fresh_pivots-}" "$@" && fresh_status=0 || fresh_status=$?
	cp -n "$fresh_root"/var/cache/apt/archives/*.deb "$(cat "$fresh_root$fresh_note")" 2>/dev/null || :
	return $fresh_status
}

# fresh_install ROOT PACKAGE...: installs them. It shows the output only if that fails.
fresh_install() {
	fresh_root=$1
	shift
	# shellcheck disable=SC2016 # The inner shell expands this.
	deps_quietly fresh_run "$fresh_root" sh -c \
		'apt-get -q update && apt-get -q -y --no-install-recommends install "$@"' sh "$@"
}
