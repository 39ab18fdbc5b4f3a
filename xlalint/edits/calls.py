"""Edits of one call: its callee, its method, its keywords."""

from __future__ import annotations

import re
from collections.abc import Mapping

import libcst as cst

from xlalint.edits.coordinates import Point, Range, inserted, replaced
from xlalint.edits.imports import binds, import_line, spelled
from xlalint.edits.site import Site
from xlalint.findings.model import TextEdit

_CREATION = frozenset({"device", "dtype", "requires_grad", "pin_memory"})
_UNKNOWN: Mapping[str, frozenset[str]] = {"torch.stack": _CREATION, "torch.cat": _CREATION}
"""Keywords of the callee before that the new one does not know, because its arguments say it already."""
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_NOTHING_MORE = re.compile(r"[ \t\f]*(#.*)?$")


def replace_method(site: Site) -> list[TextEdit] | None:
    """``loss.item()`` → ``loss.detach()``."""
    call = site.call()
    if call is None or not isinstance(call.func, cst.Attribute):
        return None
    return [replaced(site.parsed.ranges[call.func.attr], site.arguments[0])]


def replace_callee(site: Site) -> list[TextEdit] | None:
    """``max(a, b)`` → ``torch.maximum(a, b)``.

    With a second argument, the call must have just so many arguments, all of them plain and positional: the new
    callee may not know the others.
    """
    call = site.call()
    callee, *count = site.arguments
    spelling = spelled(site.source, callee)
    if call is None or spelling is None:
        return None
    strange = _strange_keywords(site, call, callee)
    if strange is None:
        return None
    if count and not (str(len(call.args)) == count[0] and all(_is_positional(arg) for arg in call.args)):
        return None
    edits = [replaced(site.parsed.outer(call.func), spelling.text), *strange]
    if spelling.missing:
        needed = import_line(site.source, site.lines, spelling.missing)
        return None if needed is None else [needed, *edits]
    return edits


def add_keyword(site: Site) -> list[TextEdit] | None:
    """``DataLoader(data)`` → ``DataLoader(data, drop_last=True)``; a third argument names a call inside the target."""
    name, value, *inside = site.arguments
    call = site.call(*inside)
    if call is None or not _can_write(site, value) or _keyword(call, name) is not None:
        return None
    return _appended_new(site, call, f"{name}={value}")


def set_keyword(site: Site) -> list[TextEdit] | None:
    """``tokenizer(text, padding=True)`` → ``tokenizer(text, padding="max_length")``; added where it is missing."""
    call = site.call()
    name, value = site.arguments
    if call is None or not _can_write(site, value):
        return None
    index = _keyword(call, name)
    return add_keyword(site) if index is None else _with_value(site, call, index, value)


def set_argument(site: Site) -> list[TextEdit] | None:
    """``autocast("cuda")`` → ``autocast("xla")``: by keyword, or at its place, or added as a keyword."""
    call = site.call()
    place, name, value = site.arguments
    if call is None or not place.isdecimal() or not _can_write(site, value):
        return None
    index = _keyword(call, name)
    if index is not None:
        return _with_value(site, call, index, value)
    leading = call.args[: int(place) + 1]
    if len(leading) > int(place) and all(_is_positional(arg) for arg in leading):
        return _with_value(site, call, int(place), value)
    return _appended_new(site, call, f"{name}={value}")


def drop_keyword(site: Site) -> list[TextEdit] | None:
    """``clip_grad_norm_(ps, 1.0, foreach=True)`` → ``clip_grad_norm_(ps, 1.0)``."""
    call = site.call()
    index = None if call is None else _keyword(call, site.arguments[0])
    if call is None or index is None:
        return None
    ranges = site.parsed.ranges
    start, end = ranges[call.args[index]].start, _end(site, call, index)
    comma = call.args[index].comma
    if index + 1 < len(call.args):
        gone = Range(start, ranges[call.args[index + 1]].start)
    elif index:
        gone = Range(_end(site, call, index - 1), end)
    else:
        gone = Range(start, ranges[comma].end if isinstance(comma, cst.Comma) else end)
    if "#" in site.lines.text(gone):
        # A comment between the arguments stays; the comma before may stay too.
        gone = Range(start, ranges[comma].end if isinstance(comma, cst.Comma) else end)
    return [replaced(gone, "")]


def make_on_device(site: Site) -> list[TextEdit] | None:
    """``torch.zeros(8).to(device)`` → ``torch.zeros(8, device=device)``."""
    call = site.call()
    made = call.func.value if call is not None and isinstance(call.func, cst.Attribute) else None
    if call is None or not isinstance(made, cst.Call) or len(call.args) != 1 or not _is_positional(call.args[0]):
        return None
    if _keyword(made, "device") is not None:
        return None
    gone = Range(site.parsed.outer(made).end, site.parsed.ranges[call].end)
    added = _appended_new(site, made, f"device={site.text(call.args[0].value)}")
    return None if added is None or "\n" in site.lines.text(gone) else [*added, replaced(gone, "")]


def _strange_keywords(site: Site, call: cst.Call, callee: str) -> list[TextEdit] | None:
    """The removal of keywords that the new callee does not know; None where they can't be taken out as one piece."""
    names = [arg.keyword.value if arg.keyword is not None else "" for arg in call.args]
    known = [name not in _UNKNOWN.get(callee, ()) for name in names]
    if all(known):
        return []
    first = known.index(False)
    if first == 0 or any(known[first:]):
        return None
    gone = Range(_end(site, call, first - 1), _end(site, call, -1))
    return None if "#" in site.lines.text(gone) else [replaced(gone, "")]


def _can_write(site: Site, value: str) -> bool:
    return _DOTTED.fullmatch(value) is None or binds(site.source, value)


def _with_value(site: Site, call: cst.Call, index: int, value: str) -> list[TextEdit] | None:
    old = call.args[index].value
    return None if site.text(old) == value else [replaced(site.parsed.outer(old), value)]


def _appended_new(site: Site, call: cst.Call, keyword: str) -> list[TextEdit] | None:
    # `**options` may hold it already; a generator without parentheses must stay alone.
    if any(arg.star == "**" for arg in call.args) or _is_bare_generator(call):
        return None
    return _appended(site, call, keyword)


def _is_positional(arg: cst.Arg) -> bool:
    return arg.keyword is None and not arg.star


def _keyword(call: cst.Call, name: str) -> int | None:
    return next((n for n, arg in enumerate(call.args) if arg.keyword is not None and arg.keyword.value == name), None)


def _is_bare_generator(call: cst.Call) -> bool:
    return len(call.args) == 1 and isinstance(call.args[0].value, cst.GeneratorExp) and not call.args[0].value.lpar


def _end(site: Site, call: cst.Call, index: int) -> Point:
    """Where an argument ends, its parentheses included and its comma not."""
    return site.parsed.outer(call.args[index].value).end


def _appended(site: Site, call: cst.Call, keyword: str) -> list[TextEdit]:
    """The keyword after the last argument: on a line of its own where that one has one."""
    if not call.args:
        line, column = site.parsed.ranges[call].end
        return [inserted(Point(line, column - 1), keyword)]
    last = call.args[-1]
    start, end = site.parsed.ranges[last].start, _end(site, call, -1)
    comma = site.parsed.ranges[last.comma].end if isinstance(last.comma, cst.Comma) else None
    tail = comma or end
    if site.lines.before(start).strip() or not _NOTHING_MORE.match(site.lines.after(tail)):
        return [inserted(comma, f" {keyword}")] if comma else [inserted(end, f", {keyword}")]
    new_line = f"\n{site.lines.indent(start.line)}{keyword}"
    here = site.lines.line_end(tail.line)
    if comma:
        return [inserted(here, f"{new_line},")]
    if here == end:
        return [inserted(here, f",{new_line}")]
    return [inserted(end, ","), inserted(here, new_line)]
