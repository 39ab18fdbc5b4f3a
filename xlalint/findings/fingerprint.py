"""Fingerprints of findings, which stay the same when the file is edited elsewhere.

No path and no line go into it: a moved file or an import added above leaves it as it is. Nor does layout: blanks,
line breaks, comments, the kind of quotes, a trailing comma and parentheses around an expression may change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from xlalint.sources.patterns import lazy_pattern

# Every part may end early: a statement cut in two must give a name too.
_TOKEN = lazy_pattern(
    r"""
      (?P<blank>   \s+ | \\\r?\n | \#[^\r\n]* )
    | (?P<string>  (?i: [bfrtu] | [bft]r | r[bft] )?
                  (?: "{3} (?: [^"\\] | \\. | "(?!"") )* (?:"{3})?
                  | '{3} (?: [^'\\] | \\. | '(?!'') )* (?:'{3})?
                  | "    (?: [^"\\\r\n] | \\. )* "?
                  | '    (?: [^'\\\r\n] | \\. )* '? ) )
    | (?P<other>   \w+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN_QUOTES = lazy_pattern(r"""([A-Za-z]*)'([^'"\\]+)'""")
_CLOSING = frozenset(")]}")
# After these a parenthesis holds an expression together, and is no call.
_BEFORE_GROUPS = frozenset(
    (
        "and",
        "as",
        "assert",
        "async",
        "await",
        "del",
        "elif",
        "else",
        "except",
        "for",
        "from",
        "if",
        "import",
        "in",
        "is",
    )
) | {"lambda", "not", "or", "raise", "return", "while", "with", "yield"}


def fingerprint(code: str, scope: str, statement: str, nth: int) -> str:
    """Sixteen hexadecimal digits for the ``nth`` (from 0) finding of rule ``code`` in this ``statement`` of ``scope``.

    ``scope`` is the qualified name of the function or class; ``statement`` is source text and need not be complete.
    """
    import hashlib  # it loads OpenSSL, for nothing where there is no finding

    parts = (code, scope, *_tokens(statement), str(nth))
    return hashlib.blake2b("\x00".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def fingerprints(findings: Iterable[tuple[str, str, str]]) -> list[str]:
    """The fingerprints of all findings of one file, given as (code, scope, statement) in the order of the text.

    Number them before any is suppressed or deselected: else one comment would rename its neighbours.
    """
    met: Counter[str] = Counter()
    names = []
    for code, scope, statement in findings:
        kind = fingerprint(code, scope, statement, 0)
        names.append(fingerprint(code, scope, statement, met[kind]) if met[kind] else kind)
        met[kind] += 1
    return names


def _tokens(statement: str) -> list[str]:
    tokens: list[str] = []
    opened: list[bool] = []
    for match in _TOKEN.finditer(statement):
        if match.lastgroup == "blank":
            continue
        token = match.group()
        if match.lastgroup == "string":
            token = _PLAIN_QUOTES.sub(r'\1"\2"', token) if _PLAIN_QUOTES.fullmatch(token) else token
        elif token in _CLOSING and tokens and tokens[-1] == ",":
            tokens.pop()
        if token == "(":
            opened.append(_is_group(tokens))
        is_group = bool(opened) and opened[-1]
        if token == ")" and opened:
            opened.pop()
        if token not in "()" or not is_group:
            tokens.append(token)
    return tokens


def _is_group(before: list[str]) -> bool:
    """Whether a parenthesis that opens here, as formatters add and remove them, holds an expression together."""
    last = before[-1] if before else ""
    return not last or last in _BEFORE_GROUPS or not (last[-1].isalnum() or last[-1] in "_)]}\"'")
