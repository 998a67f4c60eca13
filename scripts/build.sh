# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Configures and compiles; what run-demo and run-tests do alike. Sourced after deps.sh; POSIX sh.

# build_in DIRECTORY [MESON SETUP ARGUMENT...]: configures when needed, compiles, and shows output only of what fails.
build_in() {
	build_configure "$@" || return 1
	echo "Compiling in $build_dir"
	build_quietly deps_meson compile -C "$build_dir"
}

# build_only DIRECTORY FILE...: the same of some files in it.
build_only() {
	build_configure "$1" || return 1
	shift
	echo "Compiling in $build_dir"
	build_quietly ninja -C "$build_dir" "$@"
}

build_configure() {
	build_dir=$1
	shift
	[ ! -f "$build_dir/build.ninja" ] || return 0
	echo "Configuring $build_dir"
	build_quietly deps_meson setup "$build_dir" "$@"
}

build_quietly() {
	build_log=$(mktemp) || return 1
	"$@" >"$build_log" 2>&1 </dev/null
	build_status=$?
	[ $build_status -eq 0 ] || cat "$build_log"
	rm -f "$build_log"
	return $build_status
}
