"""A slice and what stands in for its free names → a program that can be run, here or by hand."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import msgspec

from xlalint.device.programs.stand_ins import Maker, Missing, ValueAt, World
from xlalint.findings.model import Neutral
from xlalint.slicing.backward_slice import STEPS, Slice
from xlalint.slicing.callers import Given
from xlalint.slicing.constructions import construction
from xlalint.slicing.definitions import Modules, Taking, loaded
from xlalint.slicing.dependence import path_of
from xlalint.slicing.free_names import Need, needs
from xlalint.slicing.instrumentation import Immovable, as_is, is_flagged, neutralised
from xlalint.slicing.keyword_unpacking import spread
from xlalint.slicing.shape_hints import Hint, shape_hints
from xlalint.slicing.structures import structures

_IMPORTS = "from __future__ import annotations\n\nimport torch\n\nimport xlalint.device.stubs as stand_in\n"
_OF_OPTIMIZERS = frozenset({"param_groups", "state", "defaults"})
"""What the base class of an optimizer sets up."""


_NOTHING: Mapping[str, str] = MappingProxyType({})
_ANEW = (
    *("stand_in.tensor", "stand_in.varying", "stand_in.rows", "stand_in.Fields"),
    *("[stand_in", "[row", "(stand_in.tensor"),
)
"""How stand-ins begin that are others in each step."""
_GIVEN = "given_"
"""How functions are called that give what a caller hands on."""
_NONE: frozenset[str] = frozenset()


class NoProgram(Exception):
    """A finding that can't be made a program of. One line."""


class Program(msgspec.Struct, frozen=True):
    """The text as it is and without the cost, and what was assumed."""

    text: str
    neutral: str
    assumptions: tuple[str, ...]
    tensors: frozenset[str]
    """Paths for which a tensor stands in."""
    varying: frozenset[str]
    lines: dict[int, int]
    """Lines of the text → lines of the file that they are from."""
    given: dict[str, str]
    """By path, what stands in for it."""
    others: dict[str, tuple[str, ...]]
    """By path, what could stand in for it as well."""

    def still(self) -> Program:
        """The same with values that are alike in each step."""
        head = f"def run({STEPS}):\n"
        text, neutral = (each.replace(head, f"{head}    stand_in.still()\n") for each in (self.text, self.neutral))
        above = self.text.partition(head)[0].count("\n") + 1
        lines = {line + (line > above): origin for line, origin in self.lines.items()}
        told = (*self.assumptions, "values are the same in each step")
        return msgspec.structs.replace(self, text=text, neutral=neutral, lines=lines, assumptions=told)


@dataclass(frozen=True)
class Material:
    """All parts of a program but for the stand-ins, which depend on the world."""

    cut: Slice
    imports: list[ast.stmt]
    elsewhere: list[ast.stmt]
    """Definitions of other files of the run."""
    definitions: list[ast.stmt]
    methods: list[ast.stmt]
    needs: dict[str, Need]
    structures: dict[str, tuple[str, ...]]
    hints: dict[str, Hint]
    absent: dict[str, str]
    built: dict[str, str]
    """Modules whose class decides what the flagged place costs, by path, with how they are made."""
    placed: frozenset[str]
    """Parameters that a framework places."""
    given: tuple[Given, ...] = ()
    """Where parameters come from, each with where the parameters of the one before it come from."""
    given_needs: tuple[dict[str, Need], ...] = ()


def material(cut: Slice, modules: Modules, given: Given | None = None) -> Material:
    """What the slice takes from its file and from others, with ``given`` for its parameters. Raises ``NoProgram``."""
    chain = _chain(given)
    is_made = given is not None and bool(cut.parameters) and cut.parameters[0] in given.names
    methods = [] if is_made else _methods(cut)
    for block in cut.body:
        _Above().visit(block)
    blocks = [*cut.body, *methods]
    makers = _makers(cut)
    wanted = {name for block in blocks for name in loaded(block)} - set(cut.parameters)
    for maker in makers.values():
        wanted |= loaded(maker.body) - {each.arg for each in maker.args.args}
    for each in chain:
        wanted |= {name for block in each.body for name in loaded(block)} - set(each.parameters)
    taken = Taking(modules, cut.tree, not isinstance(cut.scope, ast.Module)).of(wanted)
    everything = [*taken.block, *blocks]
    if not any(is_flagged(node) for block in everything for node in ast.walk(block)):
        raise NoProgram("the flagged place is not part of its slice")
    # What a method takes from outside its object it has from the module.
    known = taken.given - taken.absent.keys()
    found = needs(cut.body, cut.parameters, known)
    if given is not None:
        found = {name: need for name, need in found.items() if name not in given.names}
    own = needs(methods, ("self",), taken.given).get("self")
    if own is not None and "self" in found:
        found["self"].take(own)
    own_names = {each.name for each in methods if isinstance(each, ast.FunctionDef)}
    if "self" in found:
        kept = {name: need for name, need in found["self"].children.items() if name not in own_names}
        found["self"].children = kept
        if "forward" in own_names:
            found["self"].calls = []
        if _is_optimizer(cut):
            kept = {name: need for name, need in kept.items() if name not in _OF_OPTIMIZERS}
            found["self"].children = kept
    built = {path: _built(maker) for path, maker in makers.items()}
    keys = spread(blocks, [*taken.elsewhere, *taken.block, *methods])
    taken_apart, hints = structures(blocks, keys), shape_hints(blocks, cut.tests)
    return Material(
        cut,
        taken.imports,
        taken.elsewhere,
        taken.block,
        methods,
        found,
        taken_apart,
        hints,
        taken.absent,
        built,
        _placed(cut),
        chain,
        tuple(_needs_of(each, known) for each in chain),
    )


def _chain(given: Given | None) -> tuple[Given, ...]:
    found: list[Given] = []
    while given is not None:
        found.append(given)
        given = given.outer
    return tuple(found)


def _needs_of(given: Given, known: frozenset[str]) -> dict[str, Need]:
    """What stands in for its own parameters, and for what it takes from outside."""
    outer = set(given.outer.names) if given.outer is not None else set()
    own = needs(given.body, given.parameters, known)
    said = needs(given.needed_in, given.parameters, known) if given.needed_in is not given.body else {}
    found = {name: Need(name) for name in given.parameters} | own
    for name, need in said.items():
        if name in found:
            found[name].take(need)
    return {name: need for name, need in found.items() if name not in outer}


def _placed(cut: Slice) -> frozenset[str]:
    """A class of a framework has its methods called by it, with batches that it has placed where its modules are."""
    owner = cut.tree.owner(cut.scope)
    bases = [ast.unparse(base).rpartition(".")[2] for base in owner.bases] if owner is not None else []
    return frozenset(cut.parameters) if any(base.endswith(("LightningModule", "Trainer")) for base in bases) else _NONE


def _makers(cut: Slice) -> dict[str, ast.Lambda]:
    """Where the flagged place calls a module of its own class, how that is made."""
    path = path_of(cut.node.func) if isinstance(cut.node, ast.Call) else None
    maker = construction(cut.tree, cut.scope, path) if path is not None and path.startswith("self.") else None
    return {path: maker} if path is not None and maker is not None else {}


def _built(maker: ast.Lambda) -> str:
    """Each parameter is a configuration where attributes are read of it, else a number by its name."""
    attributes = (node for node in ast.walk(maker.body) if isinstance(node, ast.Attribute))
    read = {node.value.id for node in attributes if isinstance(node.value, ast.Name)}
    names = [each.arg for each in maker.args.args]
    given = [f"{name}=stand_in.{'Sizes()' if name in read else f'size_named({name!r})'}" for name in names]
    return f"stand_in.built({', '.join([ast.unparse(maker), *given])})"


class _Above(ast.NodeTransformer):
    """``super()`` is one more thing that stands outside of the slice."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return ast.copy_location(ast.Name("above", ast.Load()), node)
        return node


def program(
    parts: Material, value: ValueAt, world: World, neutral: Neutral, chosen: Mapping[str, str] = _NOTHING
) -> Program:
    """The program and its neutralised variant; ``chosen`` stands in for these paths. Raises ``NoProgram``."""
    maker = Maker(
        value,
        world,
        parts.hints,
        parts.structures,
        parts.absent,
        defaults=parts.cut.defaults,
        grad=neutral is Neutral.REPLAY_BACKWARD,
        ragged=neutral is Neutral.REPLAY_BATCH,
        pads=neutral is Neutral.REPLAY_BATCH and parts.cut.loop is None,
        chosen=chosen,
        built=parts.built,
        doubting=parts.cut.obeyed,
        placed=parts.placed,
    )
    try:
        made = {name: maker.made(name, need) for name, need in parts.needs.items()}
        given = [
            {name: maker.made(f"{number}:{name}", need) for name, need in each.items()}
            for number, each in enumerate(parts.given_needs, 1)
        ]
        free = _bodies(parts)
        counted = [as_is(copy.deepcopy(block), neutral) for block in free]
        before = _text(parts, made, given, counted)
        after = _text(parts, made, given, [neutralised(copy.deepcopy(block), neutral) for block in free])
    except (Missing, Immovable) as error:
        raise NoProgram(str(error)) from error
    if neutral is Neutral.BOUNDARY:
        after = after.replace(", boundary=False)", ")")
    told = tuple(f"`{name}` is `{text}`" for name, text in maker.told.items())
    return Program(
        before,
        after,
        (*parts.cut.assumed, *told),
        frozenset(maker.tensors),
        frozenset(maker.varying),
        origins(before, counted),
        maker.told,
        maker.others,
    )


def origins(text: str, blocks: list[list[ast.stmt]]) -> dict[int, int]:
    """Where the lines of a program are from. Its text is that of the blocks, statement by statement."""
    written: dict[str, list[ast.stmt]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            written.setdefault(ast.unparse(node), []).append(node)
    found: dict[int, int] = {}
    for statement in (each for block in blocks for each in block):
        for copied in written.get(ast.unparse(statement), ()):
            for new, old in zip(ast.walk(copied), ast.walk(statement), strict=False):
                if isinstance(new, (ast.stmt, ast.expr)) and hasattr(old, "lineno"):
                    found.setdefault(new.lineno, old.lineno)
    return found


def _methods(cut: Slice) -> list[ast.stmt]:
    """The methods of the slice's own class that it calls, and those that they call."""
    owner = cut.tree.owner(cut.scope)
    if owner is None or not cut.parameters:
        return []
    own = {each.name: each for each in owner.body if isinstance(each, ast.FunctionDef)}
    chosen: dict[str, ast.FunctionDef] = {}
    waiting: list[ast.AST] = list(cut.body)
    while waiting:
        for node in ast.walk(waiting.pop()):
            name = ""
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                name = node.attr
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "self":
                name = "forward"
            if name in own and name not in chosen and own[name] is not cut.scope:
                chosen[name] = own[name]
                waiting.append(own[name])
    return [_bare(each) for each in chosen.values()]


def _is_optimizer(cut: Slice) -> bool:
    owner = cut.tree.owner(cut.scope)
    return owner is not None and any(ast.unparse(base).endswith("Optimizer") for base in owner.bases)


def _bare(method: ast.FunctionDef) -> ast.FunctionDef:
    """Without annotations, and with those decorators only that decide how it is called."""
    new = copy.deepcopy(method)
    for each in ast.walk(new.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    new.returns = None
    kinds = ("property", "staticmethod", "classmethod", "torch.no_grad()", "torch.inference_mode()")
    new.decorator_list = [each for each in new.decorator_list if ast.unparse(each) in kinds]
    return new


def _bodies(parts: Material) -> list[list[ast.stmt]]:
    return [parts.definitions, parts.methods, parts.cut.body, *(each.body for each in parts.given)]


def _text(parts: Material, made: dict[str, str], given_made: list[dict[str, str]], blocks: list[list[ast.stmt]]) -> str:
    definitions, methods, body, *givers = (_unparsed(block) for block in blocks)
    lines = [_IMPORTS, _unparsed([*parts.imports, *parts.elsewhere]), definitions]
    if "self" in made:
        base = "Learning" if _is_optimizer(parts.cut) else "Parts"
        lines += [f"\nclass Self(stand_in.{base}):", _indented(methods or "pass")]
    decorators = "".join(f"@{ast.unparse(each)}\n" for each in parts.cut.decorators)
    given = [f"{name} = {text}" for name, text in made.items()]
    for number in reversed(range(len(givers))):
        lines += [f"\ndef {_GIVEN}{number}():", _indented(_giving(parts, number, given_made[number], givers[number]))]
    taken = [f"({', '.join(parts.given[0].names)},) = {_GIVEN}0()"] if givers else []
    given = [*taken, *given]
    doubt = "stand_in.doubt()\n" if parts.cut.obeyed else ""
    if parts.cut.loop is not None and parts.cut.obeyed:
        inner = "\n".join([*given, body or "pass"])
        followed = f"{doubt}def program():\n{_indented(inner)}\nreturn stand_in.followed(program, {STEPS})"
        lines += [f"\n{decorators}def run({STEPS}):", _indented(followed)]
    elif parts.cut.loop is not None:
        inner = "\n".join([*given, body or "pass", "return list(locals().values())"])
        lines += [f"\n{decorators}def run({STEPS}):", _indented(inner)]
    else:
        names = ", ".join([*(parts.given[0].names if givers else ()), *made])
        own = given[len(taken) :]
        fixed = [text for name, text in zip(made, own, strict=True) if not _differs(made[name])]
        fresh = [text for name, text in zip(made, own, strict=True) if _differs(made[name])]
        fixed, fresh = (fixed, [*taken, *fresh]) if taken and parts.given[0].anew else ([*taken, *fixed], fresh)
        turn = _indented("\n".join([*fresh, f"step({names})"]))
        inner = doubt + "\n".join([*fixed, f"for _ in stand_in.steps(range({STEPS}), {STEPS}):", turn])
        lines += [
            f"\n{decorators}def step({names}):",
            _indented(body or "pass"),
            f"\ndef run({STEPS}):",
            _indented(inner),
        ]
    return "\n".join(lines) + "\n"


def _giving(parts: Material, number: int, made: dict[str, str], body: str) -> str:
    lines = [f"{name} = {text}" for name, text in made.items()]
    if number + 1 < len(parts.given):
        lines.append(f"({', '.join(parts.given[number + 1].names)},) = {_GIVEN}{number + 1}()")
    return "\n".join([*lines, body])


def _differs(text: str) -> bool:
    """Whether a stand-in is made anew in each step."""
    return text.startswith(_ANEW)


def _unparsed(block: list[ast.stmt]) -> str:
    return ast.unparse(ast.fix_missing_locations(ast.Module(block, [])))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else line for line in text.splitlines())
