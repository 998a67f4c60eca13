# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The help of the scripts, which is the comment at their heads. To be sourced; POSIX sh.

# usage_help SCRIPT: prints that comment, and ends SCRIPT.
usage_help() {
	sed -n '3,$ { /^#/! q; s/^# \{0,1\}//p }' "$1"
	exit 0
}

# usage_refuse SCRIPT REASON: ends SCRIPT with the reason and its usage.
usage_refuse() {
	echo "${1##*/}: $2" >&2
	sed -n 's/^# usage: /usage: /p' "$1" >&2
	exit 2
}

# usage_check SCRIPT LEAST MOST WORD...: ends SCRIPT with its help if that is asked for, and with its
# usage if a WORD is an option, or if there are too few or too many.
usage_check() {
	usage_script=$1 usage_least=$2 usage_most=$3
	shift 3
	for usage_word in "$@"; do
		case $usage_word in
		-h | --help) usage_help "$usage_script" ;;
		-*) usage_refuse "$usage_script" "$usage_word: unknown option" ;;
		esac
	done
	[ $# -ge "$usage_least" ] || usage_refuse "$usage_script" "a word is missing"
	[ $# -le "$usage_most" ] || usage_refuse "$usage_script" "there are too many words"
}
