# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What scripts/fresh.sh takes this machine for and what it keeps, and that what scripts in a fresh
system source hides no command."""

import os
import re
import shutil
import time

import pytest

OTHERS = {"ID=debian\nVERSION_CODENAME=trixie\n": "trixie", "ID=debian\n": "sid",
          "ID=ubuntu\nVERSION_CODENAME=noble\n": "bookworm"}


@pytest.mark.parametrize("text", OTHERS)
def test_the_release_of_this_machine(run, tmp_path, source_root, text):
    own_mounts = ["unshare", "-m" if os.geteuid() == 0 else "-rm"]
    if run([*own_mounts, "true"]).returncode:
        pytest.skip("needs mounts of its own")
    (tmp_path / "os-release").write_text(text)
    script = f"mount --bind {tmp_path}/os-release /etc/os-release; " \
             f". {source_root}/scripts/fresh.sh; fresh_own_suite; echo end"
    done = run([*own_mounts, "sh", "-euc", script])
    assert done.stdout.split() == [OTHERS[text], "end"], done


def test_systems_and_packages_are_kept_for_30_days(run, tmp_path, source_root):
    home = tmp_path / "xrc-compat"
    for name, days in {"sid": 31, "bookworm": 29, "sid.archives": 31}.items():
        (home / name).mkdir(parents=True)
        for file, age in {"old.deb": 31, "new.deb": 29}.items():
            (home / name / file).touch()
            os.utime(home / name / file, (time.time() - 86400 * (age + 0.5),) * 2)
        os.utime(home / name, (time.time() - 86400 * (days + 0.5),) * 2)
    done = run(["sh", "-euc", f". {source_root}/scripts/fresh.sh; fresh_expire"],
               env={"XDG_CACHE_HOME": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, ""), done
    assert sorted(str(path.relative_to(home)) for path in home.glob("*/*")) == [
        "bookworm/new.deb", "bookworm/old.deb", "sid.archives/new.deb"]


@pytest.mark.parametrize("suite", ["..", "../../home", "", "-v"])
def test_only_a_name_of_a_release_is_made(run, tmp_path, source_root, shell_script, suite):
    shell_script(tmp_path / "bin" / "debootstrap", "exit 1")
    (tmp_path / "home.new").mkdir()
    (tmp_path / "a" / "xrc-compat").mkdir(parents=True)
    done = run(["sh", "-uc", f". {source_root}/scripts/fresh.sh; fresh_mirror() {{ :; }}; fresh_make '{suite}'"],
               env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path / "a")})
    assert done.returncode == 1 and done.stderr == f"{suite}: no release of Debian\n", done
    assert (tmp_path / "home.new").is_dir()


def test_no_function_has_the_name_of_a_command(source_root):
    text = (source_root / "scripts" / "inside.sh").read_text()
    names = re.findall(r"^(\w+)\(\)", text, re.M)
    assert "as_user" in names
    assert [name for name in names if shutil.which(name)] == []
