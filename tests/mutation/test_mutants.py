# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each file of the product has mutants and tests that must notice them, and run.py tells those that
the tests notice from the others. It runs on a small project here."""

import json
import os
import shutil
import subprocess

import pytest

import mutants  # which finds the modules of tests/static
import listing

PRODUCT = ("base", "companions", "compat", "elf", "modern", "shim", "table", "tools", "two_way",
           "subprojects/softhca")
# The one is empty, the functions of the other come from its macros.
WITHOUT_FUNCTIONS = {"companions/name.c", "companions/umad_forward.c"}

HEAD = "/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */\n"
SAMPLE = HEAD + """
struct pair {
	int one, other;
};

struct pair made(int one)
{
	struct pair pair = { one, one };

	return pair;
}

/* Is if (number) here? */
int twice(int number)
{
	number = +number;
	if (number < 0)
		return -1;
	return made(number).one + number;
}
"""
TEST = """
int twice(int number);

int main(void)
{
	return twice(2) != 4 || twice(-2) != -1;
}
"""
MESON = """project('sample', 'c', default_options: 'optimization=2')
test('sample', executable('sample', 'room/sample.c', 'test.c'))
test('red', find_program('false'))
"""
SAID = """noticed by sample: room/sample.c:18: twice negate:1 | if (number < 0) => if (!(number < 0))
noticed by sample: room/sample.c:19: twice return:1 | return -1; => return 0;
noticed by sample: room/sample.c:20: twice return:2 | return made(number).one + number; => return 0;
NOT NOTICED: room/sample.c:18: twice bound:1 | if (number < 0) => if (number <= 0)
do not compile: room/sample.c:11: made return:1 | return pair; => return 0;
compile to the same code: room/sample.c:17: twice drop:1 | number = +number; => ;"""


def product(root):
    return [path for path in listing.paths(root) if path.endswith(".c")
            and path.startswith(tuple(f"{folder}/" for folder in PRODUCT))
            and not path.startswith("subprojects/softhca/tests/")]


def test_every_file_has_mutants_and_tests(source_root):
    files = product(source_root)
    assert len(files) > 100
    without = {path for path in files
               if not mutants.mutants_of(path, (source_root / path).read_text())}
    assert without == WITHOUT_FUNCTIONS
    assert [path for path in files if not mutants.tests_of(path, mutants.rooms())] == []


def test_every_room_and_test_exists(source_root, build_root):
    names = {test["name"] for test in
             json.loads((build_root / "meson-info" / "intro-tests.json").read_text())}
    files = product(source_root)
    for beginning, tests in mutants.rooms().items():
        assert [path for path in files if path.startswith(beginning)], beginning
        assert set(tests) <= names, beginning


@pytest.mark.parametrize("line, kind, changed", [
    ("if (a &&\n\t    (b))", "negate", "if (!(a &&\n\t    (b)))"),
    ('if (is(a, ")"))', "negate", 'if (!(is(a, ")")))'),
    ("} else if (a >= b)", "bound", "} else if (a > b)"),
    ("while (a ||\n\t       b)", "logic", "while (a &&\n\t       b)"),
    ("at = end - 1;", "step", "at = end - 0;"),
    ("return true;", "truth", "return false;"),
    ("return -EINVAL;", "return", "return 0;"),
    ("call(a,\n\t     b);", "drop", ";\n"),
    ("a->b[1] |= c;", "drop", ";"),
    ("(void)call(a);", "drop", ";"),
])
def test_operator(line, kind, changed):
    text = f"static int f(int a,\n\t\tint b)\n{{\n\t/* if (a) return b; */\n\t{line}\n}}\n"
    [mutant] = [mutant for mutant in mutants.mutants_of("a.c", text) if mutant.operator == kind]
    assert mutant.applied(text) == text.replace(line, changed)
    assert (mutant.function, mutant.line) == ("f", 5)


@pytest.mark.parametrize("line", ["int a = f(b);", "return 0;", "for (;;)", "free(a);", "a++;"])
def test_no_operator_fits(line):
    assert mutants.mutants_of("a.c", f"int f(void)\n{{\n\t{line}\n}}\n") == []


def test_each_file_has_its_turn():
    text = "void f(void)\n{\n\ta();\n\tb();\n\tc();\n}\n"
    found = mutants.mutants_of("a.c", text) + mutants.mutants_of("b.c", text)
    assert [mutant.path for mutant in mutants.spread(found[:4])] in (
        ["a.c", "b.c", "a.c", "a.c"], ["b.c", "a.c", "a.c", "a.c"])


def commit(root, time):
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    subprocess.run(["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
                   check=True, env=dict(os.environ, GIT_COMMITTER_DATE=time))


@pytest.fixture
def sample(tmp_path, source_root, run):
    """sample(WORD...): runs run.py on a project of one file, whose second test always fails."""
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    for name in ("tests/mutation/run.py", "tests/mutation/workspace.py",
                 "tests/mutation/mutants.py", "tests/static/listing.py", "tests/static/rules.py",
                 "scripts/left_processes.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_root / name, tmp_path / name)
    for name, text in {"room/sample.c": SAMPLE, "test.c": TEST, "meson.build": MESON,
                       "tests/mutation/rooms": "room/: red; sample\n", ".gitignore": "build-*\n",
                       "meson_options.txt": "option('tests', type: 'feature')\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "-C", tmp_path, "init", "-q"], check=True)
    commit(tmp_path, "2012-01-01T12:00:00Z")
    return lambda *words: run([tmp_path / "tests" / "mutation" / "run.py", *words], timeout=100)


def test_run_tells_what_is_noticed(sample, tmp_path):
    done = sample()
    assert done.returncode == 1, done
    each, _, end = done.stdout.replace("\n    ", " | ").partition("\n\n")
    said = [line.replace("  =>  ", " => ").replace(line[line.index(" ("):line.index("): ") + 1], "", 1)
            for line in each.splitlines()]
    assert sorted(said) == sorted(SAID.splitlines())
    assert sorted(end.splitlines()) == [
        "3 of 4 mistakes noticed; 6 are possible in 1 files",
        "NOT NOTICED: room/sample.c:18: twice bound:1",
        "not counted, they compile to the same code: 1", "not counted, they do not compile: 1",
        "not used, it fails on the unchanged code: red"]
    assert (tmp_path / "room" / "sample.c").read_text() == SAMPLE


def test_run_takes_as_many_as_asked(sample):
    done = sample("--most=1", "room/sample.c:made", "room/sample.c:twice")
    assert done.stdout.endswith(" of 1 mistakes noticed; 6 are possible in 1 files\n"), done


def test_run_takes_changed_lines(sample, tmp_path):
    def listed(option):
        return sample("--list", option).stdout.split("\n")[:-1]

    file = tmp_path / "room" / "sample.c"
    assert listed("--changed=HEAD") == listed("--recent") == [""]
    file.write_text(SAMPLE.replace("return -1;", "return -2;"))
    assert listed("--changed=HEAD") == ["room/sample.c:19: twice return:1"]
    new = tmp_path / "room" / "new.c"
    new.write_text("int f(void)\n{\n\treturn -1;\n}\n")
    assert "room/new.c:3: f return:1" in listed("--changed=HEAD")
    new.unlink()
    commit(tmp_path, "2012-01-01T18:00:00Z")
    file.write_text(file.read_text().replace("(number < 0)", "(number <= 0)"))
    commit(tmp_path, "2012-01-02T15:00:00Z")
    # The first commit is the last one of the day before.
    assert sorted(listed("--recent")) == [
        "room/sample.c:18: twice bound:1", "room/sample.c:18: twice negate:1",
        "room/sample.c:19: twice return:1"]
    file.write_text(file.read_text() + "\n")
    commit(tmp_path, "2012-01-02T20:00:00Z")
    assert "room/sample.c:19: twice return:1" not in listed("--recent")
