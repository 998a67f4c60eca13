# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""scripts/deps.sh: installs what is missing and nothing else, says why, and asks for root only when
it must."""

import re
import shutil

import pytest

TOOLS = ("awk", "cat", "cut", "env", "grep", "mktemp", "rm", "sort", "tr")


@pytest.fixture
def machine(tmp_path, run, source_root, shell_script):
    """machine(purposes, missing, manager, uid, sudo, status, before, dpkg, function): (result,
    calls) of this function of deps.sh on a made-up machine.

    missing: checks that fail; status: of the package manager; before: a command to run first; dpkg:
    what dpkg prints, None if there is no dpkg; calls: of the package manager, dpkg and sudo."""

    def _machine(purposes="all", missing=(), manager="apt-get", uid=0, sudo=True, status=0,
                 before="true", dpkg=None, function="deps_ensure"):
        path = tmp_path / "bin"
        path.mkdir()
        calls = tmp_path / "calls"
        calls.touch()
        for tool in TOOLS:
            (path / tool).symlink_to(shutil.which(tool))
        fakes = {
            "id": f"echo {uid}",
            "sudo": f'echo "sudo $*" >>{calls}; [ "$1" != -n ] || shift; exec "$@"'
        }
        if not sudo:
            del fakes["sudo"]
        if dpkg is not None:
            fakes["dpkg"] = f'case $1 in --print*) echo "{dpkg}" ;; *) echo "dpkg $*" >>{calls} ;; esac'
        if manager:
            answer = f'echo "the output of {manager}"; exit {status}'
            fakes[manager] = f'echo "{manager} $*" >>{calls}; {answer}'
        for name, body in fakes.items():
            shell_script(path / name, body)
        cases = "".join(f"{check}) return 1 ;; " for check in missing)
        script = f". scripts/deps.sh; PATH={path}; deps_have() {{ case $1 in {cases} *) return 0 ;; esac; }}; {before} && {function} {purposes}"
        result = run(["/bin/sh", "-uc", script], env={"PATH": str(path)}, cwd=source_root)
        return result, calls.read_text().splitlines()

    return _machine


def test_only_missing_packages_are_installed_and_the_reason_is_printed(machine):
    """A row of the table may be several packages."""
    result, calls = machine(missing=["cc", "pkg:libelf", "cmd:ninja"])
    assert result.returncode == 0
    assert "libelf-dev" in result.stdout and "reads old programs" in result.stdout
    assert calls[0].endswith(" update")
    assert calls[1].endswith(" install --no-install-recommends gcc libc6-dev libelf-dev ninja-build")
    assert len(calls) == 2


@pytest.mark.parametrize("manager, package", [("apt-get", "libibverbs-dev"),
                                              ("dnf", "rdma-core-devel"),
                                              ("zypper", "rdma-core-devel")])
def test_each_distribution_has_its_own_names(machine, manager, package):
    result, calls = machine(missing=["pkg:libibverbs"], manager=manager)
    assert result.returncode == 0
    assert calls[-1].startswith(manager) and calls[-1].endswith(f" {package}")


def test_programs_of_administrators_are_found_by_ordinary_users(run, source_root):
    script = ". scripts/deps.sh; deps_have cmd:ldconfig && ! deps_have cmd:no-such-program"
    assert run(["sh", "-c", script], env={"PATH": "/usr/bin:/bin"}, cwd=source_root).returncode == 0


def test_modules_of_python_are_found(run, source_root):
    script = ". scripts/deps.sh; deps_have python:json && ! deps_have python:no_such_module"
    assert run(["sh", "-c", script], cwd=source_root).returncode == 0


def test_packages_that_the_release_lacks_are_skipped(machine):
    """deps_wish installs packages that the tests can do without."""
    result, calls = machine("more", missing=["cmd:clang", "cmd:rdma"],
                            status='$(case "$*" in *clang*) echo no clang >&2; echo 100 ;; *) echo 0 ;; esac)',
                            function="deps_wish")
    assert result.returncode == 0
    assert result.stdout == ("About to install what only some tests use:\n"
                             "  clang                  builds with another compiler\n"
                             "  iproute2               asks the emulated HCA by netlink\n"
                             "Not installed: clang\n")
    assert result.stderr == "no clang\n"
    assert calls[-1].endswith(" iproute2")


@pytest.mark.parametrize("purposes, installed", [("all", False), ("all test", True)])
@pytest.mark.parametrize("missing", ["cmd:mandoc", "pkg:cmocka", "cmd:pytest-3"])
def test_what_only_the_tests_need_is_installed_only_for_them(machine, purposes, missing, installed):
    assert bool(machine(purposes, missing=[missing])[1]) == installed


MISSING_32 = "link32:libibverbs.so.1"


def test_i386_is_added_to_debian_before_its_libraries_are_installed(machine):
    result, calls = machine("i386", missing=[MISSING_32], before="deps_foreign_i386", dpkg="arm64")
    assert result.returncode == 0 and "dpkg --remove-architecture i386" in result.stdout
    assert calls[0] == "dpkg --add-architecture i386"
    assert calls[1].endswith(" update") and calls[2].endswith(
        " install --no-install-recommends libibverbs1:i386")


def test_without_root_and_terminal_sudo_is_used_with_n(machine):
    result, calls = machine(missing=["pkg:libelf"], uid=1000)
    assert result.returncode == 0
    assert calls[0].startswith("sudo -n ") and sum(call.startswith("sudo -n ")
                                                   for call in calls) == 2


def test_without_root_and_sudo_the_command_to_type_is_printed(machine):
    result, calls = machine(missing=["pkg:libelf"], uid=1000, sudo=False)
    assert (result.returncode, calls) == (1, [])
    assert "apt-get install libelf-dev" in result.stdout


def test_without_a_package_manager_the_missing_package_is_printed(machine):
    result, calls = machine(missing=["pkg:libelf"], manager=None)
    assert (result.returncode, calls) == (1, [])
    assert "libelf-dev" in result.stdout


def test_a_failed_installation_is_a_failure_and_shows_why(machine):
    result, _ = machine(missing=["pkg:libelf"], status=100, uid=1000)
    assert result.returncode == 1
    assert "As root, please run: apt-get install libelf-dev" in result.stdout
    assert "the output of apt-get" in result.stdout and "installation failed" in result.stdout


# The second one has quiet steps itself, as a part of scripts/release has.
STEPS = {
    "plain": 'deps_quietly sh -c "echo its log; exit 3"',
    "nested": "inner() { deps_quietly true; deps_quietly echo hidden; echo its log; return $1; }; "
              "deps_quietly inner 0; deps_quietly inner 3",
}


@pytest.mark.parametrize("terminal", ["", "script --quiet --return --command"])
@pytest.mark.parametrize("step", STEPS)
def test_a_failing_step_shows_its_log_below_set_e(run, source_root, terminal, step):
    step = f"sh -ec '. scripts/deps.sh; {STEPS[step]}'"
    if terminal and not shutil.which("script"):
        pytest.skip("script is not installed")
    result = run([*terminal.split(), step, "/dev/null"] if terminal else ["sh", "-c", step],
                 cwd=source_root)
    assert result.returncode == 3 and "its log" in result.stdout, result


@pytest.mark.parametrize("signal", ["INT", "TERM"])
def test_a_quiet_step_that_is_interrupted_leaves_no_file(run, tmp_path, source_root, signal):
    step = f"deps_quietly sh -c 'ls $TMPDIR >&9; kill -{signal} 0'"
    done = run(["setsid", "--wait", "sh", "-c", f"exec 9>&1; . scripts/deps.sh; {step}"],
               env={"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp_path)}, cwd=source_root)
    assert done.returncode and done.stdout.startswith("tmp."), done
    assert list(tmp_path.iterdir()) == []


def test_a_meson_that_stays_too_old_is_a_failure_that_says_what_to_do(machine, source_root):
    wanted = re.search(r"meson_version: '(.*)'", (source_root / "meson.build").read_text())[1]
    result, calls = machine(missing=["meson"], manager="zypper")
    assert len(calls) == 1 and result.returncode == 1
    assert "too old" in result.stdout and f"pip install --user 'meson{wanted}'" in result.stdout


@pytest.mark.parametrize("version, status", [("0.55.3", 1), ("0.9", 1), ("", 1), ("0.56", 0), ("1.0", 0)])
def test_versions_of_meson_are_compared_as_numbers(run, source_root, version, status):
    script = f". scripts/deps.sh; of() {{ echo {version}; }}; deps_is_new_meson of"
    assert run(["sh", "-c", script], cwd=source_root).returncode == status
