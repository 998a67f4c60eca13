# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""scripts/commit-msg, a hook for git."""

import pytest

LONGEST = "compat: " + "x" * 64
GOOD = [
    "compat: take the lock later\n", "scripts, tests/e2e: try both\n\nA body.\n", LONGEST + "\n",
    "docs: write naïve rows: " + "ü" * 48 + "\n", "Merge branch 'side'\n", "fixup! wrong\n",
    "tools: say why\n# of git, longer than a line of a message may be\n" + "# x" * 40 + "\n",
    "tools: say why\n\n# ------------------------ >8 ------------------------\n" + "diff " * 40 + "\n",
]
BAD = {
    LONGEST + "x\n": "the subject has 73 characters, the limit is 72",
    "take the lock later\n": 'the subject must be "area: verb object", without a full stop',
    "compat: take the lock.\n": 'the subject must be "area: verb object", without a full stop',
    "compat: take it\nat once\n": "the line below the subject must be empty",
    "compat: take it\n\n" + "x" * 81 + "\n": "a line has more than 80 characters",
}


@pytest.fixture
def checked(run, tmp_path, source_root):
    """checked(message): the hook's result, called by a link as from .git/hooks."""
    hook = tmp_path / "commit-msg"
    hook.symlink_to(source_root / "scripts" / "commit-msg")

    def _checked(message):
        (tmp_path / "message").write_text(message)
        return run([hook, tmp_path / "message"])

    return _checked


@pytest.mark.parametrize("message", GOOD, ids=range(len(GOOD)))
def test_a_good_message_is_taken(checked, message):
    done = checked(message)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("message", BAD, ids=range(len(BAD)))
def test_a_bad_message_is_refused_with_the_reason(checked, message):
    done = checked(message)
    subject = message.splitlines()[0]
    assert (done.returncode, done.stderr) == (1, f"commit-msg: {BAD[message]}\n    {subject}\n")
