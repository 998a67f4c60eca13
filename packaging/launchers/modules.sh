# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The lines of docs/bundle.md for module files, with Environment Modules and with Lmod.
. "$(dirname "$0")/common.sh"

cat >/tmp/job <<'JOB'
set -e
. "$1"
module use $X/share/modulefiles
unset MANPATH
module load xrc-compat
# With the empty entry man also finds the pages of the system.
case $MANPATH: in *$X/share/man*::*) ;; *) exit 1 ;; esac
xrc-compat run --softhca=2 -- $demo -n 2
JOB

# Split into words.
# shellcheck disable=SC2086
{
	needed environment-modules
	tried "module load of Environment Modules" 1 $user bash /tmp/job /usr/share/modules/init/bash
	# It takes the place of the other.
	needed lmod
	tried "module load of Lmod" 1 $user bash /tmp/job /usr/share/lmod/lmod/init/bash
}
