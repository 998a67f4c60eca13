# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""run.py tells the mistakes that tests notice from the others, here on a small project."""

import os
import shutil
import subprocess

import pytest

from installed import need

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
test('sample', executable('sample', 'room/sample.c', 'red/alone.c', 'test.c'))
test('red', find_program('false'))
"""
SAID = """noticed by sample: room/sample.c:18: twice negate:1 | if (number < 0) => if (!(number < 0))
noticed by sample: room/sample.c:19: twice return:1 | return -1; => return 0;
noticed by sample: room/sample.c:20: twice return:2 | return made(number).one + number; => return 0;
NOT NOTICED: room/sample.c:18: twice bound:1 | if (number < 0) => if (number <= 0)
do not compile: room/sample.c:11: made return:1 | return pair; => return 0;
compile to the same code: room/sample.c:17: twice drop:1 | number = +number; => ;
are not built here: room/without.c:4: without return:1 | return 1; => return 0;
have no sound test: red/alone.c:4: alone return:1 | return 1; => return 0;"""
# Of a build with other options.
WITHOUT = HEAD + "int without(void)\n{\n\treturn 1;\n}\n"
ALONE = WITHOUT.replace("without", "alone")


def commit(root, time):
    subprocess.run(["git", "-C", root, "add", "."], check=True)
    subprocess.run(["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
                   check=True, env=dict(os.environ, GIT_COMMITTER_DATE=time))


@pytest.fixture
def sample(tmp_path, source_root, run):
    """sample(WORD...): runs run.py on a small project, whose second test always fails."""
    need("git")
    for name in ("tests/mutation/run.py", "tests/mutation/workspace.py",
                 "tests/mutation/mutants.py", "tests/static/listing.py", "tests/static/sources.py",
                 "scripts/left_processes.py", "scripts/deps.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source_root / name, tmp_path / name)
    for name, text in {"room/sample.c": SAMPLE, "room/without.c": WITHOUT, "test.c": TEST, "meson.build": MESON,
                       "tests/mutation/rooms": "room/: red; sample\nred/: red\n",
                       "red/alone.c": ALONE, ".gitignore": "build-*\n",
                       "meson_options.txt": "option('tests', type: 'feature')\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "-C", tmp_path, "init", "-q"], check=True)
    commit(tmp_path, "2012-01-01T12:00:00Z")
    return lambda *words: run([tmp_path / "tests" / "mutation" / "run.py", *words], timeout=280)


def test_run_tells_what_is_noticed(sample, tmp_path):
    done = sample()
    assert done.returncode == 1, done
    each, _, end = done.stdout.replace("\n    ", " | ").partition("\n\n")
    said = [line.replace("  =>  ", " => ").replace(line[line.index(" ("):line.index("): ") + 1], "", 1)
            for line in each.splitlines()]
    assert sorted(said) == sorted(SAID.splitlines())
    assert sorted(end.splitlines()) == [
        "3 of 4 mistakes noticed; 8 are possible in 3 files",
        "NOT NOTICED: room/sample.c:18: twice bound:1",
        "not counted, they are not built here: 1",
        "not counted, they compile to the same code: 1", "not counted, they do not compile: 1",
        "not counted, they have no sound test: 1",
        "not used, it fails or takes too long on the unchanged code: red"]
    assert (tmp_path / "room" / "sample.c").read_text() == SAMPLE


def test_run_takes_as_many_as_asked(sample):
    done = sample("--most=1", "room/sample.c:made", "room/sample.c:twice")
    assert done.stdout.endswith(" of 1 mistakes noticed; 6 are possible in 1 files\n"), done


def test_run_takes_changed_lines(sample, tmp_path):
    def listed(option):
        done = sample("--list", option)
        assert done.returncode == 0, done
        return done.stdout.splitlines()

    file = tmp_path / "room" / "sample.c"
    nothing = ["0 of 0 mistakes noticed: there is nothing to change"]
    assert listed("--changed=HEAD") == listed("--recent") == nothing
    assert sample("--list", "nosuch").returncode == 2
    assert sample("--list", "--changed=HEAD", "room").returncode == 0
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
