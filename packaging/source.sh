# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Copies and packs the source tree with its uncommitted changes. To be sourced; POSIX sh.

# source_version TOP: prints the version in meson.build.
source_version() {
	sed -n "s/^  version: '\(.*\)',$/\1/p" "$1/meson.build"
}

# source_copy TOP DIRECTORY: copies everything but .git and the build directories.
source_copy() {
	mkdir -p "$2" || return
	# Not by a pipe, which has the status of its last command only.
	tar -C "$1" --exclude=./.git --exclude=./build --exclude='./build-*' --exclude=./subprojects/softhca/build \
		--exclude=__pycache__ -cf "$2.tar" . && tar -C "$2" -xf "$2.tar" && source_status=0 || source_status=$?
	rm -f "$2.tar"
	return $source_status
}

# source_tar PARENT NAME FILE: packs the directory PARENT/NAME as FILE (.tar.xz). The same sources
# give the same bytes.
source_tar() {
	tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
		--mtime="@${SOURCE_DATE_EPOCH:-0}" -cJf "$3" "$2"
}
