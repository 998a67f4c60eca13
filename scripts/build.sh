# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# Configures and compiles, for run-demo and run-tests. Sourced after deps.sh; POSIX sh.

# The libraries are preloaded from where they are built, and LD_PRELOAD separates paths by blanks
# and colons.
build_refuse_path() {
	case $PWD in
	*[[:space:]:\$]*)
		echo "$PWD: LD_PRELOAD cannot hold a path with a blank, a colon or a '\$': move this folder to another place" >&2
		return 1
		;;
	esac
}

# build_in DIRECTORY [MESON SETUP ARGUMENT...]: configures it with the tests when needed, and
# compiles all of it.
build_in() {
	build_dir=$1
	shift
	build_configure "$@" -Dtests=enabled || return 1
	echo "Compiling in $build_dir"
	deps_quietly deps_meson compile -C "$build_dir"
}

# build_only DIRECTORY FILE...: some files of it, whether it has the tests or not.
build_only() {
	build_dir=$1
	shift
	[ -f "$build_dir/build.ninja" ] || build_configure || return 1
	echo "Compiling in $build_dir"
	deps_quietly ninja -C "$build_dir" "$@"
}

# A folder that was configured where no tests could be made, as run-demo does it, is configured once
# more.
build_configure() {
	if [ ! -f "$build_dir/build.ninja" ]; then
		echo "Configuring $build_dir"
		deps_quietly deps_meson setup "$build_dir" "$@"
	elif [ ! -d "$build_dir/tests" ]; then
		echo "Configuring $build_dir with the tests"
		deps_quietly deps_meson setup --reconfigure "$build_dir" "$@"
	fi
}
