"""Edits of one expression, and of a simple statement by its value."""

from __future__ import annotations

import libcst as cst

from xlalint.edits.coordinates import Point, Range, inserted, replaced
from xlalint.edits.imports import binds
from xlalint.edits.site import Site, is_primary
from xlalint.findings.model import TextEdit

_NOT_AN_INDEX = (
    cst.Tuple,
    cst.NamedExpr,
    cst.Integer,
    cst.SimpleString,
    cst.ConcatenatedString,
    cst.FormattedString,
)
_NOT_A_FILL = (
    cst.Tuple,
    cst.List,
    cst.Subscript,
    cst.SimpleString,
    cst.ConcatenatedString,
    cst.FormattedString,
    cst.GeneratorExp,
    cst.ListComp,
    cst.Yield,
    cst.Await,
    cst.NamedExpr,
)


def append_attribute(site: Site) -> list[TextEdit] | None:
    """``print(t)`` → ``print(t.shape)``; a second argument is the text of the expression inside the target."""
    name, *inside = site.arguments
    node = site.parsed.expression(site.target)
    if inside:
        node = next((shown for shown in site.expressions(inside[0]) if _is_shown(site, shown)), None)
    if node is None:
        return None
    return [*_followed(site, node, f".{name}"), *_without_format(site, node)]


def append_call(site: Site) -> list[TextEdit] | None:
    """``h = f(x)`` → ``h = f(x).detach()``; the target is the assignment or an expression."""
    node = site.parsed.expression(site.target)
    if site.small is not None and site.is_small() and not isinstance(site.small, cst.Expr):
        node = _assigned(site.small)
    if node is None or isinstance(node, cst.Tuple | cst.List):
        return None
    return _followed(site, node, f".{site.arguments[0]}()")


def boolean_to_logical(site: Site) -> list[TextEdit] | None:
    """``a and b`` → ``torch.logical_and(a, b)``, ``not a`` → ``torch.logical_not(a)``.

    The target is the operation or one of its operands.
    """
    node = site.parsed.expression(site.target)
    if node is None or not binds(site.source, "torch.logical_and"):
        return None
    for around in (node, *site.parsed.above(node)):
        if isinstance(around, cst.BooleanOperation):
            outermost = _whole_chain(site, around)
            return _logical(site, outermost)
        if isinstance(around, cst.UnaryOperation) and isinstance(around.operator, cst.Not):
            return _logical_not(site, around)
        if around is not node:
            return None
    return None


def mask_sum_to_where(site: Site) -> list[TextEdit] | None:
    """``x[m].sum()`` → ``torch.where(m, x, 0).sum()``; the target is the subscript or the call."""
    node = site.parsed.expression(site.target)
    if isinstance(node, cst.Call):
        node = node.func.value if isinstance(node.func, cst.Attribute) else node.args[0].value if node.args else None
    if not isinstance(node, cst.Subscript) or not _is_summed(site, node) or not binds(site.source, "torch.where"):
        return None
    mask = _only_index(node)
    if mask is None:
        return None
    new = f"torch.where({site.outer_text(mask)}, {site.outer_text(node.value)}, 0)"
    return None if _loses_comment(site, node) else [replaced(site.parsed.ranges[node], new)]


def mask_assign_to_fill(site: Site) -> list[TextEdit] | None:
    """``x[m] = v`` → ``x.masked_fill_(m, v)``; the argument, if any, is the number of dimensions that m lacks."""
    statement = site.small
    if not isinstance(statement, cst.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0].target, statement.value
    if not isinstance(target, cst.Subscript) or isinstance(value, _NOT_A_FILL):
        return None
    if not site.is_small() and site.target != site.parsed.ranges[target]:
        return None
    mask = _only_index(target)
    if mask is None or target.lpar or _loses_comment(site, statement):
        return None
    missing = int(site.arguments[0]) if site.arguments and site.arguments[0].isdecimal() else 0
    index = f"{site.receiver(mask)}[{', '.join(['...', *['None'] * missing])}]" if missing else site.outer_text(mask)
    new = f"{site.receiver(target.value)}.masked_fill_({index}, {site.outer_text(value)})"
    return [replaced(site.parsed.ranges[statement], new)]


def index_to_tensor(site: Site) -> list[TextEdit] | None:
    """``buf[i]`` → ``buf[torch.tensor([i], device=buf.device)].squeeze(0)``, where a copy is as good as a view.

    Measured on torch_xla 2.9.0 (CPU): a number compiles once for each new value; this one, ``index_select`` and
    a final ``[0]`` compile none and upload once a step, alike. A 0-dim index tensor is read on the host.
    """
    node = site.parsed.expression(site.target)
    if not isinstance(node, cst.Subscript) or not _is_plain_name(node.value) or not binds(site.source, "torch.tensor"):
        return None
    index = _only_index(node)
    if index is None or isinstance(index, cst.Yield) or _is_written(site, node):
        return None
    buffer = site.outer_text(node.value)
    new = f"torch.tensor([{site.outer_text(index)}], device={buffer}.device)"
    return [
        replaced(site.parsed.outer(index), new),
        inserted(site.parsed.ranges[node].end, ".squeeze(0)"),
    ]


def _is_shown(site: Site, node: cst.BaseExpression) -> bool:
    """Whether a value stands as it is in a call or in an f-string.

    In ``print(x.sum(), x)`` that is the second one. A format that stands apart from the value may not fit another.
    """
    parent = site.parsed.parents.get(node)
    if isinstance(parent, cst.FormattedStringExpression):
        return True
    call = None if parent is None else site.parsed.parents.get(parent)
    if not isinstance(parent, cst.Arg) or not isinstance(call, cst.Call) or parent.star:
        return False
    return not (isinstance(call.func, cst.Attribute) and call.func.attr.value == "format")


def _without_format(site: Site, node: cst.BaseExpression) -> list[TextEdit]:
    """The format of a number fits no shape."""
    field = site.parsed.parents.get(node)
    if not isinstance(field, cst.FormattedStringExpression) or not field.format_spec:
        return []
    start, (line, column) = site.parsed.outer(node).end, site.parsed.ranges[field].end
    between = site.lines.text(Range(start, Point(line, column - 1)))
    kept, _, _ = between.partition(":")
    return (
        []
        if "\n" in kept
        else [replaced(Range(Point(start.line, start.column + len(kept)), Point(line, column - 1)), "")]
    )


def _followed(site: Site, node: cst.BaseExpression, text: str) -> list[TextEdit]:
    if is_primary(node):
        return [inserted(site.parsed.outer(node).end, text)]
    where = site.parsed.ranges[node]
    return [inserted(where.start, "("), inserted(where.end, f"){text}")]


def _assigned(statement: cst.BaseSmallStatement) -> cst.BaseExpression | None:
    """What an assignment to one thing assigns; with several targets the value may be a tuple."""
    if isinstance(statement, cst.AnnAssign | cst.AugAssign):
        return statement.value
    if isinstance(statement, cst.Assign):
        unpacks = any(isinstance(target.target, cst.Tuple | cst.List) for target in statement.targets)
        return None if unpacks else statement.value
    return None


def _whole_chain(site: Site, node: cst.BooleanOperation) -> cst.BooleanOperation:
    """``a and b and c`` is one operation for ``ast`` and two for libcst."""
    for around in site.parsed.above(node):
        same = isinstance(around, cst.BooleanOperation) and type(around.operator) is type(node.operator)
        if not same or node.lpar or not isinstance(around, cst.BooleanOperation) or around.left is not node:
            return node
        node = around
    return node


def _logical(site: Site, node: cst.BooleanOperation) -> list[TextEdit]:
    name = "logical_and" if isinstance(node.operator, cst.And) else "logical_or"
    where = site.parsed.ranges[node]
    gap = Range(site.parsed.outer(node.left).end, site.parsed.outer(node.right).start)
    edits = _logical_left(site, node)
    # One insertion a place: the calls of a chain all open before its first operand.
    opening = f"torch.{name}(" * (1 + _chained(node))
    return [inserted(where.start, opening), *edits, _comma(site, gap, node), inserted(where.end, ")")]


def _chained(node: cst.BooleanOperation) -> int:
    left = node.left
    return 1 + _chained(left) if _continues(node, left) and isinstance(left, cst.BooleanOperation) else 0


def _continues(node: cst.BooleanOperation, left: cst.BaseExpression) -> bool:
    return isinstance(left, cst.BooleanOperation) and type(left.operator) is type(node.operator) and not left.lpar


def _logical_left(site: Site, node: cst.BooleanOperation) -> list[TextEdit]:
    left = node.left
    if not isinstance(left, cst.BooleanOperation) or not _continues(node, left):
        return []
    gap = Range(site.parsed.outer(left.left).end, site.parsed.outer(left.right).start)
    return [*_logical_left(site, left), _comma(site, gap, left), inserted(site.parsed.ranges[left].end, ")")]


def _comma(site: Site, gap: Range, node: cst.BooleanOperation) -> TextEdit:
    """The operator becomes a comma; comments and line breaks around it stay."""
    text = site.lines.text(gap)
    if "#" in text:
        return replaced(site.parsed.ranges[node.operator], ",")
    if "\n" not in text:
        return replaced(gap, ", ")
    return replaced(gap, ",\n" + text[text.rindex("\n") + 1 :].split(_word(node))[0])


def _word(node: cst.BooleanOperation) -> str:
    return "and" if isinstance(node.operator, cst.And) else "or"


def _logical_not(site: Site, node: cst.UnaryOperation) -> list[TextEdit]:
    operand = site.parsed.outer(node.expression)
    gap = Range(site.parsed.ranges[node].start, operand.start)
    # Its own parentheses serve the call.
    if node.expression.lpar:
        return [replaced(gap, "torch.logical_not")]
    return [replaced(gap, "torch.logical_not("), inserted(operand.end, ")")]


def _only_index(node: cst.Subscript) -> cst.BaseExpression | None:
    """The index of a subscript that has one, neither slice nor starred nor a tuple nor a constant."""
    if len(node.slice) != 1 or isinstance(node.slice[0].comma, cst.Comma):
        return None
    index = node.slice[0].slice
    if not isinstance(index, cst.Index) or index.star:
        return None
    value = index.value
    inner = value.expression if isinstance(value, cst.UnaryOperation) else value
    return None if isinstance(inner, _NOT_AN_INDEX) else value


def _is_summed(site: Site, node: cst.Subscript) -> bool:
    """Whether the values go into ``.sum()`` or ``torch.sum(…)`` without further arguments."""
    above = site.parsed.above(node)
    parent, next_one = next(above, None), next(above, None)
    if isinstance(parent, cst.Attribute) and parent.attr.value == "sum" and isinstance(next_one, cst.Call):
        return next_one.func is parent and not next_one.args
    if isinstance(parent, cst.Arg) and isinstance(next_one, cst.Call) and len(next_one.args) == 1:
        return parent.keyword is None and not parent.star and site.outer_text(next_one.func) == "torch.sum"
    return False


def _loses_comment(site: Site, node: cst.CSTNode) -> bool:
    """Whether the text of a node holds a comment, which rewriting it would lose or misplace."""
    where = site.parsed.ranges[node]
    return any(isinstance(n, cst.Comment) and where.contains(r) for n, r in site.parsed.ranges.items())


def _is_plain_name(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _is_written(site: Site, node: cst.BaseExpression) -> bool:
    """Whether something is stored into the element, or into the view that it is."""
    child: cst.CSTNode = node
    for parent in site.parsed.above(node):
        if isinstance(parent, cst.Attribute) and parent.value is child:
            # `buf[i].fill_(0)` writes through the view.
            if parent.attr.value.endswith("_"):
                return True
        elif isinstance(parent, cst.AssignTarget | cst.Del | cst.CompFor | cst.For | cst.AsName | cst.NamedExpr):
            return getattr(parent, "target", getattr(parent, "name", child)) is child
        elif isinstance(parent, cst.AugAssign | cst.AnnAssign):
            return parent.target is child
        elif not isinstance(parent, cst.Tuple | cst.List | cst.BaseElement) and not (
            isinstance(parent, cst.Subscript) and parent.value is child
        ):
            return False
        child = parent
    return False
