# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Configures and compiles, for run-demo and run-tests. Sourced after deps.sh; POSIX sh.

# build_refuse_path: fails if the libraries cannot be preloaded from this path. LD_PRELOAD separates
# paths by blanks and colons.
build_refuse_path() {
	case $PWD in
	*[[:space:]:\$]*)
		echo "$PWD: LD_PRELOAD cannot hold a path with a blank, a colon or a '\$': move this directory" >&2
		return 1
		;;
	esac
}

# build_in DIRECTORY [MESON SETUP ARGUMENT...]: configures it with the tests if it is not configured
# so, and compiles everything.
build_in() {
	build_dir=$1
	shift
	build_configure "$@" -Dtests=enabled || return 1
	echo "Compiling in $build_dir"
	deps_quietly deps_meson compile -C "$build_dir"
}

# build_only DIRECTORY FILE...: compiles these files, with the tests configured or not.
build_only() {
	build_dir=$1
	shift
	[ -f "$build_dir/build.ninja" ] || build_configure || return 1
	echo "Compiling in $build_dir"
	deps_quietly ninja -C "$build_dir" "$@"
}

# run-demo may have configured the directory without tests, because their packages were missing.
build_configure() {
	if [ ! -f "$build_dir/build.ninja" ]; then
		echo "Configuring $build_dir"
		deps_quietly deps_meson setup "$build_dir" "$@"
	elif [ ! -d "$build_dir/tests" ]; then
		echo "Configuring $build_dir with the tests"
		deps_quietly deps_meson setup --reconfigure "$build_dir" "$@"
	fi
}
