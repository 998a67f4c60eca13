# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""scripts/commit-msg: which messages of a commit it accepts."""

import pytest

ACCEPTED = [
    "table: replace a file that was removed\n",
    "tests/e2e: run all rows by one runner\n\nThey had three.\n",
    "man, docs: name one more limit\n# Please enter the commit message\n#\n",
    "fixup! table\n",
]
REFUSED = {
    "replace a file that was removed\n": "area: verb object",
    "table: \n": "area: verb object",
    "table: replace a file.\n": "full stop",
    "table: " + "x" * 66 + "\n": "73 characters",
    "table: replace a file\nthat was removed\n": "below the subject",
    "\n": "area: verb object",
}


@pytest.fixture
def judge(run, source_root, tmp_path):
    def _judge(message):
        (tmp_path / "message").write_text(message)
        return run([source_root / "scripts" / "commit-msg", tmp_path / "message"])

    return _judge


@pytest.mark.parametrize("message", ACCEPTED)
def test_accepted(judge, message):
    done = judge(message)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("message, why", REFUSED.items())
def test_refused(judge, message, why):
    done = judge(message)
    assert done.returncode == 1 and why in done.stderr
