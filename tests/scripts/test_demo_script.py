# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""run-demo succeeds only if the program fails without xrc-compat for the right reason, and runs
with it."""

import shutil

import pytest

LOADER_SAYS = "prog: symbol lookup error: prog: undefined symbol: ibv_open_xrc_domain, version IBVERBS_1.1"


@pytest.fixture
def demo(tmp_path, run, source_root, shell_script):
    """demo(bare, compat): runs the script where building does nothing and these two shell commands
    stand for the program's runs."""

    def _demo(bare, compat, folder=tmp_path):
        folder.mkdir(exist_ok=True)
        shutil.copy(source_root / "run-demo", folder)
        for name, body in {
                "scripts/deps.sh": "deps_ensure() { :; }",
                "scripts/usage.sh": (source_root / "scripts" / "usage.sh").read_text(),
                "scripts/build.sh": (source_root / "scripts" / "build.sh").read_text() +
                                    "build_only() { echo building \"$@\"; }",
                "build/subprojects/softhca/bin/softhca": bare,
                "build/tools/xrc-compat": compat,
        }.items():
            shell_script(folder / name, body)
        return run(["./run-demo"], cwd=folder)

    return _demo


BARE = f'echo "{LOADER_SAYS}" >&2; exit 127'
COMPAT = 'echo "receiver 1 ..."'


def test_the_demo_prints_its_commands_and_their_output(demo):
    result = demo(BARE, COMPAT)
    assert result.returncode == 0, result
    assert LOADER_SAYS in result.stdout and "receiver 1" in result.stdout
    assert "softhca run --devices=2 -- build/demo/xrc-cluster" in result.stdout
    assert "xrc-compat run --softhca=2 -- build/demo/xrc-cluster" in result.stdout


def test_all_companions_are_built_for_the_commands_that_come_next(demo, build_root):
    built = demo(BARE, COMPAT).stdout.split()
    companions = {f"companions/{path.name}" for path in (build_root / "companions").glob("lib*.so*")
                  if path.is_file()}
    assert companions and companions <= set(built)


@pytest.mark.parametrize("bare, compat, why", [
    (f'echo "{LOADER_SAYS}"', COMPAT, "ran without xrc-compat"),
    ('echo "Segmentation fault"; exit 139', COMPAT, "expected the loader to say"),
    ("exit 127", COMPAT, "expected the loader to say"),
    (BARE, 'echo "half a table"; exit 1', "failed with xrc-compat"),
    (BARE, ":", "printed nothing"),
])
def test_each_other_outcome_fails_with_its_reason(demo, bare, compat, why):
    result = demo(bare, compat)
    assert result.returncode == 1
    assert why in result.stderr


@pytest.mark.parametrize("name", ["a b", "a:b", "a$b"])
def test_a_path_that_cannot_be_preloaded_is_refused_before_anything_is_built(demo, tmp_path, name):
    result = demo(BARE, COMPAT, tmp_path / name)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"{name}: LD_PRELOAD cannot hold a path" in result.stderr
