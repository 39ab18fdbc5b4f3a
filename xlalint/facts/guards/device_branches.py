"""Branches on the device, in programs that were written for another one.

``"cuda" if torch.cuda.is_available() else "cpu"`` takes the host where no GPU is found. Who lints such a program for
XLA has put, or will put, the XLA device in its place: tensors that are moved there do not lie on the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from xlalint.facts.domain.values import XLA, Value, tensor_of
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import way_to
from xlalint.program.traversal import dotted_text

STAND_IN = "torch_xla."
"""``torch.cuda.FloatTensor if cuda else torch.FloatTensor`` is read as one of torch_xla's, which are none."""
ACCELERATORS = ("cuda", "mps", "xpu", "npu", "hpu", "gpu", "xla")
NUMBERED = tuple(f"{name}:" for name in ACCELERATORS)


NOTHING = nullcontext()


def are_cuda_types(node: ir.Expr) -> bool:
    """``torch.cuda.FloatTensor``, and tuples of such: no tensor of XLA is one."""
    paths = [dotted_text(each) for each in (node.elements if type(node) is ir.Display else (node,))]
    return bool(paths) and all(path.startswith("torch.cuda.") and path.endswith("Tensor") for path in paths)


def in_place_of(frame: Frame, test: ir.Expr, dead: ir.Expr | ir.Block) -> AbstractContextManager[None]:
    """The arm that is taken because the ``dead`` one is not: what it names as the host may stand for the device."""
    if frame.stands_for_device or asks_a_tensor(test) or not names_accelerator(dead):
        return NOTHING
    return standing_for_device(frame)


def moves_only(dead: ir.Block) -> bool:
    """Whether a block does nothing but move what it names to an accelerator: ``x, y = x.cuda(), y.to("cuda")``."""
    return bool(dead) and all(type(s) is ir.Assign and moves_to_accelerator(s.value) for s in dead)


def moved_return(function: ir.FunctionIR, node: ir.If, taken: ir.Block, dead: ir.Block) -> ir.Block:
    """``return x.cuda()`` of ``if torch.cuda.is_available(): return x.cuda()`` and the same where it lies otherwise;
    empty for other branches."""
    if asks_a_tensor(node.test) or not all(one is ir.Return for one in map(type, (*taken, *dead))):
        return ()
    block, position = way_to(function.body, node)[-1]
    rest = block[position + 1 :]
    here, there = taken or rest, dead or rest
    if len(here) != 1 or len(there) != 1 or type(here[0]) is not ir.Return or type(there[0]) is not ir.Return:
        return ()
    value = there[0].value
    return there if value is not None and moves_to_accelerator(value) else ()


def give_in_place(frame: Frame, dead: ir.Block) -> None:
    """What a function gives on the accelerator, in place of what it gives on the host."""
    frame.quiet += 1
    with standing_for_device(frame):
        frame.engine.execute(frame, dead)
    frame.quiet -= 1
    frame.sign(SignKind.MOVED, frame.statement)


def chosen_in_place(frame: Frame, test: ir.Expr, taken: ir.Expr, dead: ir.Expr) -> Value:
    """``x.cuda() if torch.cuda.is_available() else x``, and ``"cuda" if … else "cpu"``."""
    with in_place_of(frame, test, dead):
        value = frame.evaluate(taken)
    if frame.stands_for_device or asks_a_tensor(test) or not moves_to_accelerator(dead):
        return value
    frame.quiet += 1
    with standing_for_device(frame):
        moved = frame.evaluate(dead)
    frame.quiet -= 1
    if tensor_of(moved) is None:
        return value
    frame.sign(SignKind.MOVED, frame.statement)
    return moved


def moves_to_accelerator(node: ir.Expr) -> bool:
    if type(node) is ir.Display:
        return bool(node.elements) and all(map(moves_to_accelerator, node.elements))
    if type(node) is ir.Comprehension:
        return moves_to_accelerator(node.element)
    if type(node) is not ir.Call:
        return False
    if type(node.function) is ir.Attribute and node.function.name in ("cuda", "to"):
        return node.function.name == "cuda" or any(map(names_accelerator, node.arguments))
    return len(node.arguments) == 1 and moves_to_accelerator(node.arguments[0])


def move_in_place(frame: Frame, dead: ir.Block) -> None:
    """``if torch.cuda.is_available(): x = x.cuda()``: who puts the XLA device into a program moves it there."""
    before = frame.env.copy()
    frame.quiet += 1
    with standing_for_device(frame):
        frame.engine.execute(frame, dead)
    frame.quiet -= 1
    frame.environment = frame.environment or before
    for name, value in frame.env.items():
        known, earlier = tensor_of(value), before.get(name)
        if known is not None and known.device == XLA and value is not earlier:
            frame.sign(SignKind.MOVED, frame.statement)
            held = tensor_of(earlier)
            if held is not None and held.certainty == 1:
                frame.sign(SignKind.BATCH_MOVED, frame.statement)


def asks_a_tensor(test: ir.Expr) -> bool:
    """``"cuda" if x.is_cuda else "cpu"``: whoever puts the XLA device into a program changes nothing there, and gets
    the host."""
    if type(test) is not ir.Attribute or test.name != "is_cuda":
        return False
    return type(test.value) is not ir.Name or test.value.name != "self"


@contextmanager
def standing_for_device(frame: Frame) -> Iterator[None]:
    frame.stands_for_device = True
    try:
        yield
    finally:
        frame.stands_for_device = False


def names_accelerator(part: ir.Expr | ir.Block) -> bool:
    """Whether an expression, or an assignment in a block, is an accelerator's device."""
    if isinstance(part, tuple):
        return any(type(s) is ir.Assign and names_accelerator(s.value) for s in part)
    if type(part) is ir.Constant:
        return isinstance(part.value, str) and part.value.startswith(ACCELERATORS)
    if type(part) is ir.FString:
        return part.start.startswith(NUMBERED)
    if type(part) is ir.Binary:
        return names_accelerator(part.left)
    if type(part) is ir.Conditional:
        return names_accelerator(part.body) or names_accelerator(part.orelse)
    if type(part) is ir.Call:
        return any(map(names_accelerator, part.arguments)) or names_accelerator(part.function)
    if type(part) is ir.Attribute:
        return part.name in ("current_accelerator", "cuda") or names_accelerator(part.value)
    return False


def names_place_of_another(node: ir.Call) -> bool:
    """``t.to(x.device)``."""
    places = (*node.arguments, *(part for _, part in node.keywords))
    return any(type(part) is ir.Attribute and part.name == "device" for part in places)
