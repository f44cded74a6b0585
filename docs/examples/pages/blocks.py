"""Reads the code blocks of the pages, with what the comment above a block says about it.

A comment stands on the line above the block, where readers do not see it:

    <!-- not run: REASON -->                it needs something that tests do not have
    <!-- exit 1 -->                         the commands end with this status
    <!-- until: TEXT -->                    it runs for ever; stop it once it has printed this
    <!-- body: POST /api/v1/asks -->        the server accepts this JSON from an agent
    <!-- excerpt: PATH -->                  these lines stand in this file, which tests run or compile
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^( *)```([^`\n]*)$")
COMMENT = re.compile(r"^<!-- (not run|exit|until|body|excerpt)(?:: | )(.+) -->$")


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    code: str
    # The word and the text of the comment above it.
    word: str
    said: str

    def __str__(self):
        return f"{self.page}:{self.line} ({self.language})"


def pages():
    """Every page for users: not the decisions, which are history, and not the conformance tables."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        if not {"adr", "examples"} & set(path.parts):
            yield path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "clients").glob("*/README.md")):
        yield path.relative_to(ROOT).as_posix()


def blocks(page):
    lines = (ROOT / page).read_text("utf-8").splitlines()
    found, opened, indent, comment = [], None, 0, ("", "")
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            said = COMMENT.match(lines[number - 2].strip()) if number > 1 else None
            opened, indent, comment = number, len(fence[1]), said.groups() if said else ("", "")
            language, code = fence[2], []
        elif opened is not None and line.strip() == "```":
            found.append(Block(page, opened, language, "\n".join(code) + "\n", *comment))
            opened = None
        elif opened is not None:
            code.append(line[indent:])
    if opened is not None:
        raise ValueError(f"{page}:{opened}: the block has no end")
    return found


def prose(page):
    """The lines outside of the blocks, numbered."""
    inside = False
    for number, line in enumerate((ROOT / page).read_text("utf-8").splitlines(), 1):
        if FENCE.match(line) or (inside and line.strip() == "```"):
            inside = not inside
        elif not inside:
            yield number, line


def commands(code, program):
    """The calls of a program in a shell script, as lists of words."""
    # A comment may have an apostrophe, and a command in `$(…)` is one of its own.
    code = re.sub(r"(^|\s)#.*", r"\1", code).replace("\\\n", " ").replace("$(", "\n")
    found = []
    for line in code.split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        try:
            words = list(lexer)
        except ValueError:  # A quotation of several lines: the data of a call of curl.
            continue
        call, first = None, True
        for word in words:
            if set(word) <= set("();<>|&"):
                call, first = None, not set(word) & set("<>")
            elif call is not None:
                call.append(word)
            elif first and word == program:
                call = []
                found.append(call)
            else:
                # Variables may be set before the command.
                first = first and re.fullmatch(r"[A-Z_]+=.*", word) is not None
    return found


def placeholder(word):
    return "…" in word or re.search(r"(^|[=:@/])[A-Z][A-Z_]+", word) is not None


def complete(words):
    """A command as the prose shows it, without what stands for something else."""
    shown = []
    for word in words:
        word = word.strip("[]")
        if word == "…" and not (shown and shown[-1].startswith("--")):
            continue
        shown.append(word)
    return shown
