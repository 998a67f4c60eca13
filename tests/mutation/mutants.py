# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Mutants: copies of a C file with one mistake each. A few operators make them from the file."""

import dataclasses
import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "static"))
import sources  # noqa: E402

FUNCTION = re.compile(r"""
    ^(?=[A-Za-z_]) [^;{}#]*?                    # the words before the name, from column 0
    (?<!\() (?<!,[ ]) \b (?!__attribute__) (\w+)  # the name; __attribute__((...)) has none
    \( [^;{}]* \) \s*\n                         # the parameters
    \{\n (.*?) ^\}                              # the body
    """, re.M | re.S | re.X)

# An assignment or a call, but not free(): no test notices memory that is not freed.
STATEMENT = r"""(?x)
    (?<=\t) (?!\t|return\b|if\b|for\b|while\b|switch\b|free\(|va_)  # at the end of the indentation
    (\(void\))? [\w>.*\[\]-]+    # a variable or a function
    ([ ][-+|&^]?=[ ] | \()        # an assignment operator, or the parenthesis of a call
    [^;{}]* ;$
    """

TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "true": "false",
          "false": "true"}


def turn(match):
    return TURNED[match.group(0)]


# Name: (what the operator finds in the body of a function, what it makes of that). The text that it
# finds has neither comments nor the contents of strings.
OPERATORS = {
    "negate": (r"(?<=\bif )\(", "!"),
    "bound": (r"(?<= )[<>]=?(?= )", turn),
    "logic": (r"(?<= )(&&|\|\|)(?=\s)", turn),
    "step": (r"(?<= [+-] )1\b", "0"),
    "truth": (r"(?<=\breturn )(true|false)(?=;)", turn),
    "return": (r"(?<=\breturn )(?!0;|NULL;|true;|false;)[^;]+(?=;)", "0"),
    "drop": (STATEMENT, ";"),
}


@dataclasses.dataclass(frozen=True)
class Mutant:
    path: str  # of the file, in the source tree
    function: str
    operator: str
    number: int  # of the operator's place in the function
    line: int
    begin: int  # the part of the file that is replaced
    end: int
    new: str

    @property
    def name(self):
        return f"{self.path}:{self.line}: {self.function} {self.operator}:{self.number}"

    @property
    def rank(self):
        """Decides which mutants of a file come first: by chance, but always the same ones."""
        words = f"{self.path} {self.function} {self.operator} {self.number}"
        return hashlib.sha256(words.encode()).digest()

    def applied(self, text):
        return text[:self.begin] + self.new + text[self.end:]

    def described(self, text):
        """The text before and after the change, on one line."""
        whole = slice(text.rfind("\n", 0, self.begin) + 1, text.index("\n", self.end - 1))
        after = self.applied(text)[whole.start:whole.stop + len(self.new) - self.end + self.begin]
        return f"{' '.join(text[whole].split())}  =>  {' '.join(after.split())}"


def closing(code, at):
    """The place behind the bracket that closes the one at @at."""
    depth = 0
    for found in re.compile(r"[()]").finditer(code, at):
        depth += 1 if found.group() == "(" else -1
        if not depth:
            return found.end()
    raise ValueError("a bracket is not closed")


def change(found, new, code, text):
    """(begin, end, text) of the change where an operator has found something."""
    begin, end = found.span()
    if new == "!":
        end = closing(code, begin)
        return begin, end, f"(!{text[begin:end]})"
    new = new(found) if callable(new) else new
    # Messages may contain the number of a line.
    return begin, end, new + "\n" * text.count("\n", begin, end)


def mutants_of(path, text):
    """All mutants of a file, by line."""
    code = sources.without_strings(sources.without_comments(text))
    made = []
    for function in FUNCTION.finditer(code):
        for operator, (pattern, new) in OPERATORS.items():
            places = re.compile(pattern, re.M).finditer(code, *function.span(2))
            for number, found in enumerate(places, 1):
                changed = change(found, new, code, text)
                made.append(Mutant(path, function.group(1), operator, number,
                                   text.count("\n", 0, changed[0]) + 1, *changed))
    return sorted(made, key=lambda mutant: mutant.begin)


def spread(mutants):
    """The mutants in the order in which they are tried: one of each file, then the second ones."""
    seen = {}
    turns = []
    for mutant in sorted(mutants, key=lambda mutant: mutant.rank):
        seen[mutant.path] = seen.get(mutant.path, 0) + 1
        turns.append((seen[mutant.path], mutant.rank, mutant))
    return [mutant for _, _, mutant in sorted(turns, key=lambda turn: turn[:2])]


def rooms():
    """{beginning of a path: its tests}"""
    lines = re.sub(r"^(#.*)?\n", "", (HERE / "rooms").read_text(), flags=re.M).splitlines()
    return {path: tests.split("; ") for path, tests in (line.split(": ", 1) for line in lines)}


def tests_of(path, table):
    """The tests for a file; none if it belongs to no room, or is a test itself."""
    room = max(filter(path.startswith, table), key=len, default="")
    return [] if "/tests/" in path else table.get(room, [])
