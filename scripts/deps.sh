# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The table of programs and libraries that build, demo and tests need, and functions that install
# them. Sourced by run-demo, run-tests and other scripts. POSIX sh, because a machine may have no
# other shell.

# An ordinary user's PATH on Debian lacks these, which have ibstat, debootstrap and depmod.
PATH=$PATH:/usr/sbin:/sbin
export PATH

# docs/install.md and docs/32-bit.md name the packages of `all` and `i386`; a test compares.
# needed for | check | what it is for | apt | dnf | zypper
#   needed for  all         every build, and the demo
#               test        ./run-tests
#               more        some tests, which are skipped without it
#               i386        32-bit programs
#               test32      ./run-tests --i386, with the former
#               kernel      ./run-tests --kernel
#               fresh       ./run-tests --on
#               release     scripts/release, together with `all`, `test` and `fresh`
#               address, undefined, thread      that sanitizer
#   check       cc                  a program can be compiled
#               meson               it is there and new enough
#               cmd:NAME            it is on PATH
#               pkg:MODULE          pkg-config finds it
#               file:PATH           the file exists
#               lib:NAME            the loader finds libNAME.so.N
#               python:MODULE       Python finds it
#               sanitize:NAME       the compiler can link that sanitizer
#               clang:NAME          clang can
#               link32:LIBRARY      the compiler can link 32-bit programs with it
deps_table() {
	cat <<-'TABLE'
	all|cc|compiles the C sources|gcc libc6-dev|gcc glibc-devel|gcc glibc-devel
	all|cmd:pkg-config|finds the libraries below|pkg-config|pkgconf-pkg-config|pkgconf-pkg-config
	all|meson|configures the build (brings Python 3)|meson|meson|meson
	all|cmd:ninja|runs the build|ninja-build|ninja-build|ninja
	all|pkg:libibverbs|headers of today's libibverbs, which the shim calls|libibverbs-dev|rdma-core-devel|rdma-core-devel
	all|pkg:librdmacm|headers of today's librdmacm, some of whose functions the shim wraps|librdmacm-dev|rdma-core-devel|rdma-core-devel
	all|file:/etc/libibverbs.d/mlx4.driver|libmlx4 and libmlx5, the providers that run on the emulated HCA|ibverbs-providers|libibverbs|libibverbs libmlx4-1
	all|pkg:libelf|reads old programs (xrc-compat run, check)|libelf-dev|elfutils-libelf-devel|libelf-devel
	all|pkg:libdw|walks the stacks of xrc-compat ps|libdw-dev|elfutils-devel|libdw-devel
	all|lib:unwind|walks the stacks of xrc-compat trace|libunwind8|libunwind|libunwind8
	test|pkg:cmocka|unit tests in C|libcmocka-dev|libcmocka-devel|libcmocka-devel
	test|cmd:pytest-3|tests with several processes|python3-pytest|python3-pytest|python3-pytest
	test|cmd:ibv_rc_pingpong|programs of rdma-core that must run on the emulated HCA|ibverbs-utils|libibverbs-utils|libibverbs-utils
	test|cmd:rping|programs over librdmacm that must run on the emulated HCA|rdmacm-utils|librdmacm-utils|librdmacm-utils
	test|cmd:ibstat|reads the emulated ports, and brings libibumad, which the companions call|infiniband-diags|infiniband-diags|infiniband-diags
	test|cmd:lsmod|lists the modules of the emulated machine|kmod|kmod|kmod
	test|cmd:csh|takes the lines of xrc-compat env|csh|tcsh|tcsh
	test|cmd:g++|the legacy headers must compile as C++ too|g++|gcc-c++|gcc-c++
	test|cmd:strace|kills the emulator's daemon at a chosen system call|strace|strace|strace
	test|cmd:xz|packs the sources|xz-utils|xz|xz
	test|cmd:mandoc|checks the manual pages|mandoc|mandoc|mandoc
	more|cmd:clang|builds with another compiler|clang|clang|clang
	more|clang:address|fuzzes with it|libclang-rt-dev|compiler-rt|clang
	more|cmd:clang-format|checks how the C sources are formatted|clang-format|clang-tools-extra|clang-tools
	more|cmd:ld.lld|links with another linker|lld|lld|lld
	more|cmd:abidw|compares the library with the one released|abigail-tools|libabigail|libabigail-tools
	more|cmd:ucx_perftest|UCX over the emulated HCA|ucx-utils|ucx|ucx
	more|cmd:mpicc.mpich|MPICH over UCX on the emulated HCA, and tests that are compiled with it|mpich libmpich-dev|mpich-devel|mpich-devel
	more|cmd:mpicc.openmpi|Open MPI over UCX on the emulated HCA, and tests that are compiled with it|openmpi-bin libopenmpi-dev|openmpi-devel|openmpi-devel
	more|file:/usr/share/doc/rdma-core/tests/run_tests.py|rdma-core's own tests on the emulated HCA|python3-pyverbs|python3-pyverbs|python3-pyverbs
	more|cmd:valgrind|counts the instructions that programs without XRC pay|valgrind|valgrind|valgrind
	more|pkg:libfabric|the emulated HCA between machines|libfabric-dev|libfabric-devel|libfabric-devel
	more|cmd:rdma|asks the emulated HCA by netlink|iproute2|iproute|iproute2
	more|cmd:ib_send_lat|measures the emulated HCA|perftest|perftest|perftest
	more|cmd:tshark|reads what the emulated HCA sends|tshark|wireshark-cli|wireshark
	more|cmd:fi_pingpong|sockets and verbs in one program, in a namespace|libfabric-bin|libfabric|libfabric
	more|lib:tcmalloc_minimal|programs with the allocator tcmalloc on the emulated HCA|libtcmalloc-minimal4|gperftools-libs|libtcmalloc4
	more|lib:jemalloc|programs with the allocator jemalloc on the emulated HCA|libjemalloc2|jemalloc|libjemalloc2
	more|cmd:fakeroot|a preloaded library beside the emulated HCA's|fakeroot|fakeroot|fakeroot
	more|lib:hugetlbfs|a preloaded library beside the emulated HCA's|libhugetlbfs0|libhugetlbfs|libhugetlbfs
	more|file:/usr/lib/libefence.so.0|a preloaded library beside the emulated HCA's|electric-fence|ElectricFence|electric-fence
	more|lib:mimalloc|old programs with the allocator mimalloc|libmimalloc-dev|mimalloc|libmimalloc2
	more|lib:tbbmalloc_proxy|old programs with the allocator tbbmalloc|libtbbmalloc2|tbb|libtbbmalloc2
	more|cmd:faketime|a preloaded library beside the shim|faketime|libfaketime|libfaketime
	more|python:yaml|reads what softhca's page on CI gives in YAML|python3-yaml|python3-pyyaml|python3-PyYAML
	fresh|cmd:debootstrap|makes fresh systems of other releases|debootstrap|debootstrap|debootstrap
	release|cmd:dh|makes the Debian packages|debhelper build-essential|debhelper dpkg-dev|debhelper dpkg
	release|pkg:libfabric|softhca between machines, in the packages|libfabric-dev|libfabric-devel|libfabric-devel
	release|cmd:rpmbuild|makes the RPM packages|rpm|rpm-build|rpm-build
	kernel|cmd:busybox|the first programs in the guest that boots a kernel|busybox-static|busybox|busybox-static
	kernel|cmd:depmod|finds the modules that the guest needs|kmod|kmod|kmod
	kernel|cmd:cpio|packs the first programs of the guest|cpio|cpio|cpio
	address|sanitize:address|the address sanitizer|libc6-dev|libasan|libasan8
	undefined|sanitize:undefined|the undefined behaviour sanitizer|libc6-dev|libubsan|libubsan1
	thread|sanitize:thread|the thread sanitizer|libc6-dev|libtsan|libtsan2
	i386|link32:libc.so.6|compiles 32-bit programs|gcc-multilib libc6-dev-i386|glibc-devel.i686 libgcc.i686|gcc-32bit glibc-devel-32bit
	i386|link32:libibverbs.so.1|libibverbs for 32-bit programs|libibverbs1:i386|libibverbs.i686|libibverbs1-32bit
	i386|link32:libmlx4.so.1|libmlx4 for 32-bit programs|ibverbs-providers:i386|libibverbs.i686|libmlx4-1-32bit
	i386|link32:librdmacm.so.1|librdmacm for 32-bit programs|librdmacm1:i386|librdmacm.i686|librdmacm1-32bit
	i386|link32:libibumad.so.3|libibumad for 32-bit programs, which the companions call|libibumad3:i386|libibumad.i686|libibumad3-32bit
	i386|link32:libelf.so.1|reads old programs (xrc-compat of 32 bits)|libelf1:i386|elfutils-libelf.i686|libelf1-32bit
	test32|link32:libcmocka.so.0|unit tests in C of 32 bits|libcmocka0:i386|libcmocka.i686|libcmocka0-32bit
	TABLE
}

# deps_apt PURPOSE: prints its packages on Debian.
deps_apt() {
	deps_table | awk -F'|' -v purpose="$1" '$1 == purpose { print $4 }'
}

# A version manager's Python, first on PATH, lacks the distribution's modules.
deps_python() {
	if [ -x /usr/bin/python3 ]; then
		/usr/bin/python3 "$@"
	else
		python3 "$@"
	fi
}

# The distribution's meson, or the one on PATH if that is too old (as on SLES 15).
deps_meson() {
	if [ -x /usr/bin/meson ] && deps_is_new_meson deps_python /usr/bin/meson; then
		deps_python /usr/bin/meson "$@"
	else
		meson "$@"
	fi
}

# The version of meson that meson.build wants at least.
deps_oldest_meson=0.56

# deps_is_new_meson COMMAND...: succeeds if its version is at least that one.
deps_is_new_meson() {
	deps_version=$("$@" --version 2>/dev/null) || return 1
	printf '%s\n' "$deps_oldest_meson" "$deps_version" | sort -C -V
}

deps_compiles() {
	deps_dir=$(mktemp -d) || return 1
	echo 'int main(void) { return 0; }' >"$deps_dir/probe.c"
	${CC:-cc} -include stdio.h "$@" -o "$deps_dir/probe" "$deps_dir/probe.c" 2>/dev/null
	deps_status=$?
	rm -rf "$deps_dir"
	return $deps_status
}

deps_have() {
	case $1 in
	cc) deps_compiles ;;
	meson) deps_is_new_meson deps_meson ;;
	cmd:pytest-3) command -v pytest-3 >/dev/null || command -v py.test-3 >/dev/null ||
		{ command -v pytest >/dev/null && pytest --version >/dev/null 2>&1; } ;;
	cmd:*) command -v "${1#cmd:}" >/dev/null ;;
	pkg:*) command -v pkg-config >/dev/null && pkg-config --exists "${1#pkg:}" ;;
	file:*) [ -e "${1#file:}" ] ;;
	lib:*) deps_python -c 'import ctypes.util, sys; sys.exit(not ctypes.util.find_library(sys.argv[1]))' \
		"${1#lib:}" 2>/dev/null ;; # Python may be missing, too
	python:*) deps_python -c "import ${1#python:}" 2>/dev/null ;;
	sanitize:*) deps_compiles "-fsanitize=${1#sanitize:}" ;;
	clang:*) CC=clang deps_compiles "-fsanitize=${1#clang:}" ;;
	link32:*) deps_compiles -m32 "-l:${1#link32:}" ;;
	*) return 2 ;;
	esac
}

# Prints the package manager and its column of the table.
deps_manager() {
	if command -v apt-get >/dev/null; then
		echo "apt-get 4"
	elif command -v dnf >/dev/null; then
		echo "dnf 5"
	elif command -v zypper >/dev/null; then
		echo "zypper 6"
	fi
}

# deps_quietly COMMAND...: shows the output only if COMMAND fails. On a terminal it shows the last
# line while COMMAND runs. The caller may have set -e, and COMMAND may call this, too.
deps_quietly() (
	quietly_dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$quietly_dir"' EXIT
	trap 'exit 130' INT TERM
	quietly_status=0
	if [ -t 1 ]; then
		{
			"$@" </dev/null 2>&1 || quietly_status=$?
			echo $quietly_status >"$quietly_dir/status"
		} | tee "$quietly_dir/log" | deps_last_line
		quietly_status=$(cat "$quietly_dir/status")
	else
		"$@" >"$quietly_dir/log" 2>&1 </dev/null || quietly_status=$?
	fi
	[ "$quietly_status" -eq 0 ] || cat "$quietly_dir/log"
	exit "$quietly_status"
)

deps_last_line() {
	while IFS= read -r quietly_line; do
		printf '\r\033[K%.79s' "$quietly_line"
	done
	printf '\r\033[K'
}

# Runs a command as root. sudo -n asks for no password: deps_ask_once has asked.
deps_as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

deps_ask_once() {
	[ "$(id -u)" = 0 ] || [ ! -t 0 ] || sudo -v
}

# deps_fetch_and_install TOOL PACKAGE...: fetches the lists of packages first, which only apt-get
# does not do itself. A broken third-party source must not stop the others.
deps_fetch_and_install() {
	[ "$1" != apt-get ] ||
		deps_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 update ||
		echo "(apt-get update failed; continuing with the old lists)"
	deps_install_packages "$@"
}

deps_install_packages() {
	deps_tool=$1
	shift
	case $deps_tool in
	apt-get)
		deps_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
			install --no-install-recommends "$@"
		;;
	dnf) deps_as_root dnf -y install --setopt=install_weak_deps=False "$@" ;;
	zypper) deps_as_root zypper --non-interactive install --no-recommends "$@" ;;
	esac </dev/null
}

# Adds the architecture i386 on Debian, unless the i386 libraries are installed already.
deps_foreign_i386() {
	[ -n "$(deps_missing i386 test32)" ] || return 0
	command -v dpkg >/dev/null && ! dpkg --print-foreign-architectures | grep -qx i386 || return 0
	echo "Adding the architecture i386 to this machine (to undo: dpkg --remove-architecture i386)"
	deps_ask_once
	deps_as_root dpkg --add-architecture i386
}

# Succeeds if this kernel executes 32-bit programs. Python tries, because sh and env would run a file
# that the kernel refuses as a script.
deps_executes_i386() {
	deps_python -c 'import subprocess; subprocess.call(["/lib/ld-linux.so.2", "--help"])' \
		>/dev/null 2>&1
}

# deps_missing PURPOSE...: prints the rows of these purposes whose check fails.
deps_missing() {
	deps_table | while IFS= read -r deps_row; do
		for deps_purpose in "$@"; do
			[ "${deps_row%%|*}" = "$deps_purpose" ] || continue
			deps_check=${deps_row#*|}
			deps_have "${deps_check%%|*}" </dev/null || printf '%s\n' "$deps_row"
		done
	done
}

# Installing the distribution's meson again would not make it newer.
deps_refuse_meson() {
	echo "The distribution's meson is too old: this wants $deps_oldest_meson or later. Put one on PATH and start again:"
	echo "  python3 -m pip install --user 'meson>=$deps_oldest_meson' && export PATH=\$HOME/.local/bin:\$PATH"
	return 1
}

# deps_list COLUMN: prints the packages and the use of each row that it reads.
deps_list() {
	awk -F'|' -v c="$1" '{ printf "  %-22s %s\n", $c, $3 }'
}

# deps_ensure PURPOSE...: prints the missing packages with their use, and installs them.
deps_ensure() {
	deps_rows=$(deps_missing "$@")
	[ -n "$deps_rows" ] || return 0
	# Two words: the tool and its column.
	# shellcheck disable=SC2046
	set -- $(deps_manager)
	if [ $# -ne 2 ]; then
		echo "Missing, and none of apt-get, dnf, zypper is here to install it:"
		printf '%s\n' "$deps_rows" | deps_list 4
		return 1
	fi
	deps_tool=$1 deps_column=$2
	deps_packages=$(printf '%s\n' "$deps_rows" | cut -d'|' -f"$deps_column" | tr ' ' '\n' | sort -u | tr '\n' ' ')
	echo "Missing on this machine; about to be installed with $deps_tool:"
	printf '%s\n' "$deps_rows" | deps_list "$deps_column"
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		echo "This needs root and there is no sudo here. As root, please run:"
		echo "  $deps_tool install $deps_packages"
		return 1
	fi
	deps_ask_once
	# Split the list into words.
	# shellcheck disable=SC2086
	if ! deps_quietly deps_fetch_and_install "$deps_tool" $deps_packages; then
		echo "The installation failed; see above."
		[ "$(id -u)" = 0 ] || echo "As root, please run: $deps_tool install $deps_packages"
		[ "$deps_tool" != dnf ] ||
			echo "On RHEL and its like some of these are in CRB (dnf config-manager --set-enabled crb;" \
				"powertools on RHEL 8) and in EPEL (dnf install epel-release)."
		return 1
	fi
	echo "Installed."
	case $deps_rows in
	*'|meson|'*) deps_have meson || deps_refuse_meson ;;
	esac
}

# deps_wish PURPOSE: prints the optional packages that are missing, and installs them. If the
# distribution lacks some of them, it installs the others row by row, from the lists that deps_ensure
# has fetched. It prints the rows that failed, with the errors of the package manager.
deps_wish() {
	deps_rows=$(deps_missing "$1")
	[ -n "$deps_rows" ] || return 0
	# shellcheck disable=SC2046
	set -- "$1" $(deps_manager)
	[ $# -eq 3 ] || return 0
	echo "About to install what only some tests use:"
	printf '%s\n' "$deps_rows" | deps_list "$3"
	deps_ensure "$1" >/dev/null && return
	deps_missing "$1" | while IFS= read -r deps_row; do
		deps_packages=$(printf '%s\n' "$deps_row" | cut -d'|' -f"$3")
		# shellcheck disable=SC2086
		deps_install_packages "$2" $deps_packages >/dev/null ||
			echo "Not installed: $deps_packages"
	done
}
