# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The kernel has a device, and libibverbs has no driver for it: `check` and `doctor` name the
device, libibverbs and the cause. They advise no emulated adapter, which needs the same driver.
Containers are often so: their libibverbs has no drivers, or the host's are mounted into them.
"""

import json
import os
import re
import shutil

import pytest

import models
from check_workshop import compile_c

INSTALL = "install the drivers of this libibverbs (Debian: ibverbs-providers; RPM: libibverbs)"


@pytest.fixture
def places(real_library):
    """(the driver's path, the directory of the configuration), as libibverbs has them."""
    with open(real_library, "rb") as file:
        data = file.read()
    driver = os.fsdecode(re.search(rb"\0(/[^\0]*/lib%s-rdmav\d+\.so)\0", data).group(1))
    config = os.fsdecode(re.search(rb"\0(/[^\0]*/libibverbs\.d)\0", data).group(1))
    driver = driver % models.driver()
    if os.path.dirname(driver) == os.path.dirname(os.path.realpath(real_library)):
        pytest.skip("a build of rdma-core has libibverbs and its drivers in one directory")
    return driver, config


@pytest.fixture
def report(run, softhca, xrc_compat, build_root):
    """report(mount, argument...): the reports of `check` and `doctor` on an emulated adapter, with
    mounts of their own that the shell commands in @mount make; "$1" there is the first argument."""
    alone = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    if run([*alone, "mount", "--bind", "/usr", "/usr"]).returncode:
        pytest.skip("no mounts of one's own can be made here")

    def _report(mount, *arguments, options=()):
        found = []
        for words in ["check", build_root / "demo" / "xrc-cluster", *options], ["doctor"]:
            script = f'{mount}\nshift {len(arguments)}; exec "$@"'
            done = run([*alone, "sh", "-ec", script, "sh", *arguments, softhca, "run",
                        "--devices=1", "--", xrc_compat, words[0], "--json", *words[1:]],
                       timeout=90, env={"LD_LIBRARY_PATH": ""})
            assert done.stderr == "", done
            found.append(json.loads(done.stdout))
        rows = {row["what"]: row for row in found[1]["rows"]}
        return found[0], rows["devices"]

    return _report


def shows(reported, cause):
    """Both commands name the device, its kernel's driver, libibverbs, its release and the cause."""
    check, row = reported
    device = models.device(0)
    start = rf"the kernel has the device {device} \({models.driver()}_core\), but libibverbs \(/\S+, rdma-core \d+[^)]*\) has no driver for it: "
    assert (check["verdict"], check["exit_status"], check["next"]) == ("no device", 4,
                                                                       "xrc-compat doctor")
    for text, advice in (check["reason"], check["advice"]), (row["text"], row["advice"]):
        assert re.match(start + re.escape(cause), text), text
        assert advice.startswith(INSTALL) and "softhca" not in text + advice
    assert row["verdict"] == "problem"
    return True


def test_no_configuration_names_the_driver(report, places, tmp_path):
    _, config = places
    (tmp_path / "empty").mkdir()
    assert shows(report('mount --bind "$1" "$2"', tmp_path / "empty", config),
                 f"no file in {config} names {models.driver()}")


@pytest.mark.parametrize("other", [None, "99"])
def test_the_driver_is_missing(report, places, tmp_path, other):
    """The host's drivers may be there, which are of another release."""
    driver, _ = places
    cause = f"{driver} is missing"
    (tmp_path / "drivers").mkdir()
    if other:
        name = f"lib{models.driver()}-rdmav{other}.so"
        shutil.copy(driver, tmp_path / "drivers" / name)
        cause += f"; another release has {name}"
    assert shows(report('mount --bind "$1" "$2"', tmp_path / "drivers", os.path.dirname(driver)),
                 cause)


def test_the_driver_is_of_another_release(report, places, tmp_path):
    """It has the right name, so the loader opens it for the program, too."""
    driver, _ = places
    node = tmp_path / "node.map"
    node.write_text("IBVERBS_PRIVATE_99 { global: *; };\n")
    compile_c(tmp_path / "stub" / "libibverbs.so.1", "int private(void) { return 0; }", "-shared",
              "-fPIC", "-Wl,-soname,libibverbs.so.1", f"-Wl,--version-script={node}")
    stub = compile_c(tmp_path / "other.so", "int private(void); int use(void) { return private(); }",
                     "-shared", "-fPIC", tmp_path / "stub" / "libibverbs.so.1")
    check, row = report('mount --bind "$1" "$2"', stub, os.path.realpath(driver))
    cause = rf"version `IBVERBS_PRIVATE_99' not found \(required by {re.escape(driver)}\)"
    assert check["verdict"] == "no device" and re.search(cause, check["reason"])
    assert "Debian: ibverbs-providers; RPM: libibverbs" in check["advice"]
    assert re.search(cause, row["text"]) and row["advice"].startswith(INSTALL)


def test_the_driver_cannot_be_used(report, places):
    driver, _ = places
    assert shows(report('mount --bind /dev/null "$1"', os.path.realpath(driver)),
                 f"{driver} does not serve it")


def test_another_device_is_wanted(report, places, tmp_path):
    _, config = places
    (tmp_path / "empty").mkdir()
    check, _ = report('mount --bind "$1" "$2"', tmp_path / "empty", config,
                      options=["--device=mlx5_7"])
    assert check["reason"] == "device mlx5_7 was not found or has no XRC"


def test_a_driver_that_works_is_not_mentioned(report, places):
    check, row = report("true")
    assert check["verdict"] == "ready" and row["text"] == "1 of 1 can carry XRC"


@pytest.mark.any_model
def test_the_kernel_offers_no_uverbs(clean, tmp_path):
    (tmp_path / "class" / "infiniband" / "mlx5_3").mkdir(parents=True)
    done = clean("doctor", SYSFS_PATH=str(tmp_path), FAKE_DEVICES="")
    assert "the kernel has the device mlx5_3, but no uverbs file for it\n" in done.stdout
    assert re.search(r"^ +modprobe ib_uverbs$", done.stdout, re.M) and done.returncode == 1
