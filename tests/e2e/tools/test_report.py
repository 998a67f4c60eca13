# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""`xrc-compat report`: one file with what the other commands print, and no name
of the user or the host."""

import os
import platform
import re

import pytest

import models

pytestmark = pytest.mark.any_model

SECRETS = {
    "HOME": "/srv/people/alice-the-owner", "USER": "alicetheowner", "API_TOKEN": "hunter2-token",
    "OMPI_MCA_orte_precondition_transports": "hunter2-key", "OMPI_MCA_btl": "openib,self",
    "SSH_AUTH_SOCK": "/tmp/ssh-agent.77", "XRC_COMPAT_VERBOSE": "1",
    "LD_LIBRARY_PATH": "/srv/people/alice-the-owner/lib:/opt/alicetheowner/lib"
}


@pytest.fixture
def report(run, xrc_compat, tmp_path):
    """report(*arguments, **environment): (the command's result, the text of the file that it
    wrote)."""

    def _report(*arguments, **environment):
        path = tmp_path / "report.md"
        env = {**SECRETS, **environment}
        result = run([xrc_compat, "report", "--output", path, *arguments], env=env, timeout=150,
                     cwd=tmp_path)
        return result, path.read_text() if path.exists() else None

    return _report


def section(text, title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)


def test_the_report_has_every_section(report, helpers, run, xrc_compat):
    program = helpers / "hold-registrations"
    result, text = report("--softhca=2", program)
    assert (result.returncode, result.stderr) == (0, "")
    assert "Read it before you send it" in result.stdout and "Send it to " in result.stdout
    assert re.findall("^## (.*)", text, re.M) == [
        "Versions", "Devices and ports, as the kernel has them", "Modules of the kernel",
        "xrc-compat doctor", "xrc-compat check", "xrc-compat selftest", "Environment"
    ]
    version = run([xrc_compat, "--version"]).stdout.split()[1]
    versions = section(text, "Versions")
    assert f"xrc-compat   {version}\n" in versions and platform.release(
    ) in versions and "glibc 2." in versions
    for word in ("libibverbs", "devices"):
        assert re.search(rf"^    \S+ +{word} ", section(text, "xrc-compat doctor"), re.M)
    # The directory may be the user's home, or contain the user's name.
    assert re.match(rf"\n    \S+/{program.name}\n\n", section(text, "xrc-compat check"))
    assert "ibv_create_xrc_rcv_qp, by " in section(text, "xrc-compat check")
    selftest = section(text, "xrc-compat selftest")
    assert selftest.endswith("\nExit status 0.\n\n"), selftest
    environment = section(text, "Environment")
    for line in ("XRC_COMPAT_VERBOSE=1", "OMPI_MCA_btl=openib,self"):
        assert f"    {line}\n" in environment
    assert "    LD_LIBRARY_PATH=~/lib:/opt/USER/lib\n" in environment
    assert int(re.search(r"and (\d+) others", environment).group(1)) > 2


@pytest.mark.usefixtures("own_mounts")
def test_the_report_has_the_kernels_devices_ports_and_modules(run, softhca, xrc_compat, tmp_path):
    """The emulated adapter's files stand where the kernel's would."""
    script = """cp -r "$SOFTHCA_DIR/sys" "$1" && mkdir -p "$1/sys/module/$2" "$1/sys/module/ext4" && echo 4.9 >"$1/sys/module/$2/version"
    mount --bind "$1/sys" /sys && cd "$1" && exec "$0" report"""
    run([
        softhca, "run", "--devices=1", "--", "unshare", "-m", "sh", "-c", script, xrc_compat,
        tmp_path, f"{models.driver()}_ib"
    ], timeout=150)
    text = (tmp_path / "xrc-compat-report.md").read_text()
    devices = section(text, "Devices and ports, as the kernel has them")
    device = "/sys/class/infiniband/" + models.device(0)
    for line in (rf"{device}/fw_ver: [\d.]+", rf"{device}/ports/1/state: 4: ACTIVE",
                 rf"{device}/ports/1/link_layer: InfiniBand"):
        assert re.search(rf"^    {line}$", devices, re.M), devices
    modules = section(text, "Modules of the kernel")
    driver = f"    /sys/module/{models.driver()}_ib"
    assert f"{driver}\n{driver}/version: 4.9\n" in modules
    assert "    /sys/module/ib_uverbs\n" in modules and "ext4" not in modules


def test_an_existing_report_is_kept(run, xrc_compat, tmp_path):
    (tmp_path / "xrc-compat-report.md").write_text("precious")
    result = run([xrc_compat, "report", "--softhca=1"], cwd=tmp_path, timeout=150)
    assert "Wrote xrc-compat-report.md.1." in result.stdout
    assert (tmp_path / "xrc-compat-report.md").read_text() == "precious"


def test_a_pipe_gets_the_report(run, xrc_compat):
    script = '"$0" report --output /dev/stdout | grep "^Exit status"'
    assert run(["sh", "-c", script, xrc_compat], timeout=150).returncode == 0


def test_nothing_secret_is_in_it(report, tmp_path, shell_script):
    home = tmp_path / "some-home"
    program = shell_script(home / "some program's name", "# 0002:c903:00a1:b2c3")
    result, text = report("--softhca=1", program, HOME=str(home),
                          XRC_COMPAT_VERBSE="0002:c903:00a1:b2c3")
    assert result.returncode == 0
    assert "~/some program's name" in text and "XRC_COMPAT_VERBSE=GUID\n" in text
    for secret in (str(home), "alicetheowner", "hunter2", "API_TOKEN", "ssh-agent", "0002:c903"):
        assert secret not in text
    host = platform.node().split(".")[0]
    assert host in ("", "localhost", "root") or not re.search(rf"\b{re.escape(host)}\b", text)


@pytest.mark.parametrize("text, replaced", [
    # Not USER-node7, and not HOST.site.example.
    ("LID 3 of alice-node7", "LID 3 of HOST"),
    ("from alice-node7.site.example:18515", "from HOST:18515"),
    ("/srv/alice/zoë/run as alice, port 0002:c903:00a1:b2c3", "~/run as USER, port GUID"),
    ("gid fe80:0000:0000:0000:0002:c903:00a1:b2c3", "gid GUID"),
    ("/scratch/alice_jobs/solver_alice.log", "/scratch/USER_jobs/solver_USER.log"),
    ("node7, malice, alice7, 0002:c903:00a1:b2c3d", "node7, malice, alice7, 0002:c903:00a1:b2c3d"),
])
def test_names_are_replaced_as_whole_words(report, tmp_path, shell_script, text, replaced):
    shell_script("uname", "echo alice-node7.site.example")
    # The self-test refuses the model at once, which saves its time.
    _, written = report("--model=none", "--softhca=1", HOME="/srv/alice/zoë", USER="alice", MPI_TEXT=text,
                        PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert f"\n    MPI_TEXT={replaced}\n" in written


def test_control_characters_in_a_name_do_not_reach_the_file(report, tmp_path):
    _, text = report("--softhca=1", os.fsdecode(b"./a\x1b[2J\n## forged\n\xff"))
    assert "./a?[2J" in text
    assert not re.search(r"^## forged", text, re.M) and "\x1b" not in text
