# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Sourced by build-deb and build-rpm: the source tree as it is, and its version. POSIX sh.

# source_version TOP: the version that meson.build gives.
source_version() {
	sed -n "s/^  version: '\(.*\)',$/\1/p" "$1/meson.build"
}

# source_copy TOP FOLDER: everything but what was built, and the history.
source_copy() {
	mkdir -p "$2" &&
		tar -C "$1" --exclude=./.git --exclude=./build --exclude='./build-*' --exclude=__pycache__ -cf - . | tar -C "$2" -xf -
}
