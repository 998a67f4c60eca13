# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The source tree as it is, its version, its tarball. To be sourced; POSIX sh.

# source_version TOP: the version that meson.build gives.
source_version() {
	sed -n "s/^  version: '\(.*\)',$/\1/p" "$1/meson.build"
}

# source_copy TOP FOLDER: copies everything but build folders and the history.
source_copy() {
	mkdir -p "$2" &&
		tar -C "$1" --exclude=./.git --exclude=./build --exclude='./build-*' --exclude=__pycache__ -cf - . | tar -C "$2" -xf -
}

# source_tar PARENT NAME FILE: the folder NAME as FILE (.tar.xz), the same bytes whenever and
# wherever it is packed.
source_tar() {
	tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime="@${SOURCE_DATE_EPOCH:-0}" -cJf "$3" "$2"
}
