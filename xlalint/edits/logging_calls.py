"""``log.debug(f"loss {loss}")`` → ``log.debug("loss %s", loss)``: below the level nothing is formatted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import libcst as cst

from xlalint.edits.coordinates import inserted, replaced
from xlalint.edits.site import Site
from xlalint.findings.model import TextEdit

_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "fatal", "exception"})
# The format specs that mean the same behind `%`; alignment and grouping do not.
_SPEC = re.compile(r"(0?\d+)?(\.\d+)?[feEgGdxX]")
_REFUSED = (cst.Yield, cst.NamedExpr)


class _Piece(NamedTuple):
    """A part of a message: text for the format string, and the values that it takes."""

    text: str
    values: tuple[str, ...] = ()


def lazy_logging(site: Site) -> list[TextEdit] | None:
    """The call, its message or a value in the message may be the target."""
    message = _logged(site)
    piece = None if message is None else _message(site, message)
    if message is None or piece is None or not piece.values:
        return None
    return [
        replaced(site.parsed.ranges[message], piece.text),
        inserted(site.parsed.outer(message).end, "".join(f", {value}" for value in piece.values)),
    ]


def _logged(site: Site) -> cst.BaseExpression | None:
    """The message of the innermost logging call at or around the target."""
    node = next(iter(site.parsed.by_range.get(site.target, ())), None)
    for around in () if node is None else (node, *site.parsed.above(node)):
        if isinstance(around, cst.Call) and isinstance(around.func, cst.Attribute):
            index = _message_index(around, around.func.attr.value)
            if index is not None:
                return around.args[index].value
    return None


def _message_index(call: cst.Call, method: str) -> int | None:
    """Where the message stands, if nothing is to be formatted into it yet."""
    index = 0 if method in _LEVELS else 1 if method == "log" else None
    positional = [arg for arg in call.args if arg.keyword is None]
    if index is None or len(positional) != index + 1 or any(arg.star for arg in call.args):
        return None
    # Keywords stand behind the message, so that its place among the arguments is its place among the positional.
    return index if call.args[index] is positional[index] else None


def _message(site: Site, string: cst.BaseExpression) -> _Piece | None:
    if isinstance(string, cst.ConcatenatedString):
        left, right = _message(site, string.left), _message(site, string.right)
        if left is None or right is None:
            return None
        # Between the halves of a message over several lines stand its newline and its comments.
        between = site.lines.text(
            site.parsed.ranges[string]._replace(
                start=site.parsed.outer(string.left).end, end=site.parsed.outer(string.right).start
            )
        )
        return _Piece(left.text + between + right.text, left.values + right.values)
    if isinstance(string, cst.SimpleString):
        return None if "b" in string.prefix.lower() else _Piece(string.value.replace("%", "%%"))
    if isinstance(string, cst.FormattedString):
        return _joined(string, list(_parts(site, string.parts)))
    return None


def _joined(string: cst.FormattedString, pieces: Sequence[_Piece | None]) -> _Piece | None:
    found = [piece for piece in pieces if piece is not None]
    if len(found) != len(pieces):
        return None
    start = re.sub("[fF]", "", string.start, count=1)
    values = tuple(value for piece in found for value in piece.values)
    return _Piece(start + "".join(piece.text for piece in found) + string.end, values)


def _parts(site: Site, parts: Sequence[cst.BaseFormattedStringContent]) -> Iterator[_Piece | None]:
    for part in parts:
        if isinstance(part, cst.FormattedStringText):
            yield _Piece(part.value.replace("{{", "{").replace("}}", "}").replace("%", "%%"))
        elif isinstance(part, cst.FormattedStringExpression):
            yield _value(site, part)
        else:
            yield None


def _value(site: Site, part: cst.FormattedStringExpression) -> _Piece | None:
    """``%s`` or the like for one replacement field, or None where ``%`` can't say it."""
    spec = _spec(part)
    if spec is None or isinstance(part.expression, _REFUSED):
        return None
    text = site.outer_text(part.expression)
    label = ""
    if part.equal is not None:
        inside = site.lines.text(site.parsed.ranges[part])[1:]
        label = inside[: inside.index(text) + len(text)] + _equal_sign(part.equal)
        label = label.replace("%", "%%")
        # Quotes and backslashes are free inside the braces and not outside.
        if set(label) & set("\"'\\\n"):
            return None
    if isinstance(part.expression, cst.Tuple) and not part.expression.lpar:
        text = f"({text})"
    return _Piece(f"{label}{spec}", (text,))


def _equal_sign(equal: cst.AssignEqual) -> str:
    module = cst.Module([])
    return f"{module.code_for_node(equal.whitespace_before)}={module.code_for_node(equal.whitespace_after)}"


def _spec(part: cst.FormattedStringExpression) -> str | None:
    if not part.format_spec:
        default = "s" if part.equal is None else "r"
        return f"%{part.conversion or default}"
    content = part.format_spec[0]
    if len(part.format_spec) > 1 or not isinstance(content, cst.FormattedStringText) or part.conversion:
        return None
    return f"%{content.value}" if _SPEC.fullmatch(content.value) else None
