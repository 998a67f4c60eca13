# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What softhca's page on CI gives in YAML and in a Dockerfile is what scripts/try-ci runs."""

import pathlib
import re

import pytest

SOFTHCA = pathlib.Path(__file__).resolve().parents[2] / "subprojects" / "softhca"
PAGE = (SOFTHCA / "ci.md").read_text()
FENCES = {
    section.split("\n", 1)[0]: block
    for section in PAGE.split("\n## ")
    for block in re.findall(r"^```\w+\n(.*?)^```$", section, flags=re.M | re.S)
}


@pytest.fixture(scope="module", autouse=True)
def yaml():
    try:
        import yaml
    except ImportError:
        pytest.exit("SKIP: no yaml (python3-yaml)", returncode=77)
    return yaml


@pytest.fixture(scope="module")
def action(yaml):
    return yaml.safe_load((SOFTHCA / "action.yml").read_text())


@pytest.fixture(scope="module")
def steps(action):
    return action["runs"]["steps"]


def packages(text):
    return re.findall(r"apt-get install -y (.*libibverbs-dev.*)", text)


def test_all_install_the_same_packages(steps):
    found = [packages(text) for text in (PAGE, steps[0]["run"])]
    assert len(found[0]) == 3 and len({*found[0], *found[1]}) == 1, found


def test_all_configure_alike(steps):
    lines = re.findall(r"meson setup .*", PAGE) + re.findall(r"meson setup .*", steps[1]["run"])
    assert len(lines) == 4
    assert all(re.search(r" -Dtests=disabled( && meson install -C \S+)?$", line)
               for line in lines), lines


def test_the_action_is_a_composite_one(action, steps):
    assert {*action} == {"name", "description", "inputs", "runs"}
    assert {*action["runs"]} == {"using", "steps"} and action["runs"]["using"] == "composite"
    for step in steps:
        assert step["shell"] == "bash" and {*step} <= {"shell", "env", "run"}
    for value in action["inputs"].values():
        assert {*value} == {"description", "default"}
    used = re.findall(r"inputs\.(\w+)", str(steps))
    assert {*used} == {*action["inputs"]}


def test_the_workflow_gives_the_action_what_it_takes(yaml, action):
    workflow = yaml.safe_load(FENCES["GitHub Actions"])
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            if step.get("uses", "").endswith("/subprojects/softhca"):
                assert {*step["with"]} <= {*action["inputs"]}
                break
        else:
            raise AssertionError("the workflow does not use the action")


def test_the_gitlab_job_has_commands(yaml):
    job = yaml.safe_load(FENCES["GitLab CI"])["verbs"]
    assert {*job} == {"image", "script"} and all(isinstance(line, str) for line in job["script"])
