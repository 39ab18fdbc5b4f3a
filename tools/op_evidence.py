"""A second measurement of the ops, to hold the first against: writes ``tests/knowledge/op_evidence.csv``.

    python -m tools.op_evidence                    # about ten minutes on one core; needs the extra `device`
    python -m tools.op_evidence ops|modules|extras # these only; the rest is kept

It shares no code with ``tools.measure_ops``, and is simpler. Of each op of torch's OpInfo database, of each module of
its ModuleInfo database in training and in evaluation, and of what those lack, some samples are run on the device:
forward with gradients recorded where there are any, then the backward, from ones. A sample costs where a counter of the
runtime rose: an ``aten::`` one (the op ran on the CPU), or the number of transfers from the device. Shapes are compared
on the CPU, with the data replaced. Children of forty ops each: one that crashes loses what it was at.
"""

from __future__ import annotations

import copy
import csv
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parent.parent / "tests" / "knowledge" / "op_evidence.csv"
COLUMNS = (
    "name",
    "method",
    "samples",
    "reads",
    "fallback",
    "data_shape",
    "backward_samples",
    "backward_reads",
    "backward_fallback",
)
SAMPLES = 12
CHUNK = 40
SECONDS = 30
"""For one op."""


def dotted(name: str) -> str:
    """An op of the database as users write it."""
    import torch

    found: Any = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not None:
        return f"torch.{name}"
    return f"torch.Tensor.{name}" if hasattr(torch.Tensor, name) else f"torch.Tensor.{name}_"


def spread(samples: list[Any]) -> list[Any]:
    if len(samples) <= SAMPLES:
        return samples
    return [samples[index * (len(samples) - 1) // (SAMPLES - 1)] for index in range(SAMPLES)]


@dataclass(frozen=True)
class Sample:
    """One call, of an op or of a module that is on the device already; arguments are moved there when it is made."""

    input: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    call: Callable[..., Any]
    grad: bool
    on_cpu: Callable[..., Any]
    """The same for arguments of the CPU."""


def samples_of_op(op: Any) -> list[Sample]:
    import torch

    kinds = (torch.float32, torch.int64, torch.bool, torch.complex64)
    dtype = next((kind for kind in kinds if kind in op.dtypes), None) or next(iter(op.dtypes))
    grad = bool(op.supports_autograd) and dtype in (torch.float32, torch.complex64)
    torch.manual_seed(0)
    full = [one for one in op.sample_inputs("cpu", dtype, requires_grad=grad) if filled(one.input)]
    return spread([Sample(one.input, one.args, dict(one.kwargs), op.op, grad, op.op) for one in full])


EXTRAS = OUTPUT.with_name("op_extras.txt")
"""Ops that torch's databases lack, with a call of each. Of these one sample is all there is."""


@dataclass(frozen=True)
class Extra:
    """An op with a call of it, as text."""

    name: str
    expression: str


def extras() -> list[Extra]:
    return [Extra(*line.split(None, 1)) for line in EXTRAS.read_text("utf-8").splitlines()]


def samples_of_extra(extra: Extra) -> list[Sample]:
    import torch

    torch.manual_seed(0)
    x, y = ((torch.rand(4, 4) * 0.8 + 0.1).requires_grad_() for _ in range(2))
    image = (torch.rand(1, 4, 4, 4) + 0.1).requires_grad_()
    mask, index = torch.rand(4, 4) > 0.5, torch.tensor([0, 2, 1, 3])

    def call(x: Any, y: Any, i: Any, b: Any, k: Any) -> Any:
        names = {"torch": torch, "F": torch.nn.functional, "x": x, "y": y, "i": i, "b": b, "k": k, "device": x.device}
        return eval(extra.expression, names)

    return [Sample(x, (y, image, mask, index), {}, call, True, call)]


def samples_of(subject: Any) -> list[Sample]:
    if isinstance(subject, Extra):
        return samples_of_extra(subject)
    return samples_of_op(subject) if hasattr(subject, "sample_inputs") else samples_of_module(subject)


def samples_of_module(info: Any) -> list[Sample]:
    import torch
    import torch_xla

    found = []
    for training in (True, False):
        torch.manual_seed(0)
        of_it = info.module_inputs_func(info, "cpu", torch.float32, requires_grad=True, training=training)
        for one in of_it:
            if one.forward_input is None:
                continue
            made = info.module_cls(*one.constructor_input.args, **one.constructor_input.kwargs).train(training)
            module, (first, *rest) = copy.deepcopy(made).to(torch_xla.device()), one.forward_input.args
            found.append(Sample(first, tuple(rest), dict(one.forward_input.kwargs), module, True, made))
    return spread(found)


def filled(value: Any) -> bool:
    return not hasattr(value, "numel") or bool(value.numel())


def counters() -> Any:
    import torch_xla.debug.metrics as metrics

    return metrics


def counted() -> tuple[set[str], int]:
    metrics = counters()
    ran = {name.removeprefix("aten::") for name in metrics.counter_names() if name.startswith("aten::")}
    # This one is how a number is read, and no op that falls back.
    return ran - {"_local_scalar_dense"}, (metrics.metric_data("TransferFromDeviceTime") or [0])[0]


def watched(call: Callable[[], Any]) -> tuple[Any, set[str], bool]:
    import torch_xla

    torch_xla.sync()
    counters().clear_all()
    result = call()
    fallback, transfers = counted()
    return result, fallback, transfers > 0


def on_device(value: Any) -> Any:
    import torch
    import torch_xla

    if isinstance(value, torch.Tensor):
        return value.detach().clone().to(torch_xla.device()).requires_grad_(value.requires_grad)
    return torch_xla.device() if isinstance(value, torch.device) or value == "cpu" else value


def mapped(sample: Any, change: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    from torch.utils._pytree import tree_map

    made: tuple[Any, Any, Any] = tree_map(change, (sample.input, sample.args, dict(sample.kwargs)))
    return made


def tensors(value: Any) -> list[Any]:
    import torch
    from torch.utils._pytree import tree_leaves

    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def costs(sample: Sample) -> Iterator[tuple[str, set[str], bool]]:
    """Phase, ops that ran on the CPU, whether something was read; of a sample that runs."""
    first, args, kwargs = mapped(sample, on_device)
    result, fallback, read = watched(lambda: sample.call(first, *args, **kwargs))
    yield "", fallback, read
    ends = [one for one in tensors(result) if one.requires_grad and (one.is_floating_point() or one.is_complex())]
    starts = [one for one in tensors((first, args, kwargs)) if one.requires_grad]
    if not sample.grad or not ends or not starts:
        return
    import torch

    seeds = [torch.ones_like(one) for one in ends]
    _, fallback, read = watched(lambda: torch.autograd.grad(ends, starts, seeds, allow_unused=True))
    yield "backward_", fallback, read


def shape_depends(samples: list[Sample]) -> bool:
    import torch

    changes: tuple[Callable[[Any], Any], ...] = (
        torch.zeros_like,
        torch.ones_like,
        lambda one: one.flip(0) if one.dim() else one,
    )

    def changed(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda one: change(one.detach()) if isinstance(one, torch.Tensor) else one

    for sample in samples[:6]:
        shapes = set()
        for change in (torch.clone, *changes):
            first, args, kwargs = mapped(sample, changed(change))
            try:
                shapes.add(tuple(tuple(one.shape) for one in tensors(sample.on_cpu(first, *args, **kwargs))))
            except Exception:  # data that an op refuses tell nothing of its shape
                continue
        if len(shapes) > 1:
            return True
    return False


def measured(subject: Any) -> dict[str, Any]:
    samples = samples_of(subject)
    record: dict[str, Any] = {"name": name_of(subject)}
    record["method"] = "yes" if is_method(record["name"]) else "no"
    record["data_shape"] = "yes" if shape_depends(samples) else "no"
    for sample in samples:
        try:
            for phase, fallback, read in costs(sample):
                record.setdefault(f"{phase}reads", []).append(read)
                record.setdefault(f"{phase}fallback", []).extend(sorted(fallback))
        except Exception:  # a sample that the device refuses is none of ours
            continue
    return record


def is_method(name: str) -> bool:
    import torch

    return hasattr(torch.Tensor, name.rpartition(".")[2])


def name_of(subject: Any) -> str:
    if isinstance(subject, Extra):
        return subject.name
    return dotted(subject.name) if hasattr(subject, "sample_inputs") else f"torch.nn.{subject.module_cls.__name__}"


def child(ops: list[Any], write: int) -> None:
    """Never returns: one JSON line an op into the pipe, until the end or a crash."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    with os.fdopen(write, "w") as pipe:
        for op in ops:
            signal.alarm(SECONDS)
            try:
                line = json.dumps(measured(op))
            except Exception as error:  # an op whose samples can't be made
                line = json.dumps({"name": name_of(op), "failed": type(error).__name__})
            signal.alarm(0)
            pipe.write(line + "\n")
            pipe.flush()
    os._exit(0)


def records(ops: list[Any]) -> Iterator[dict[str, Any]]:
    while ops:
        read, write = os.pipe()
        if (pid := os.fork()) == 0:
            os.close(read)
            # Nothing but the end of the process gets a kernel to stop.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            child(ops[:CHUNK], write)
        os.close(write)
        with os.fdopen(read) as pipe:
            found = [json.loads(line) for line in pipe]
        os.waitpid(pid, 0)
        yield from found
        # The one at which it died is passed over.
        ops = ops[len(found) + (len(found) < min(CHUNK, len(ops))) :]
        print(f"{len(ops)} left", file=sys.stderr, flush=True)


def word(answers: list[bool]) -> str:
    return "" if not answers else "always" if all(answers) else "sometimes" if any(answers) else "never"


def main() -> int:
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import module_db

    subjects: dict[str, list[Any]] = {"ops": list(op_db), "modules": list(module_db), "extras": extras()}
    found: list[dict[str, Any]] = []
    for kind in sys.argv[1:] or subjects:
        found += [record for record in records(subjects[kind]) if "failed" not in record]
    write({**kept(), **joined(found)})
    return 0


def joined(found: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """A row for each name: several entries of a database may be of one op."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for record in found:
        by_name.setdefault(record["name"], []).append(record)
    return {name: row(name, of_it) for name, of_it in by_name.items()}


def row(name: str, found: list[dict[str, Any]]) -> tuple[str, ...]:
    def all_of(cell: str) -> list[Any]:
        return [answer for record in found for answer in record.get(cell, [])]

    def phase(prefix: str) -> tuple[str, str, str]:
        reads = all_of(f"{prefix}reads")
        return str(len(reads)), word(reads), " ".join(sorted({*all_of(f"{prefix}fallback")}))

    method, shape = (max(record[cell] for record in found) for cell in ("method", "data_shape"))
    return (name, method, *phase(""), shape, *phase("backward_"))


def kept() -> dict[str, tuple[str, ...]]:
    if not OUTPUT.exists():
        return {}
    lines = [line for line in OUTPUT.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {cells[0]: tuple(cells) for cells in list(csv.reader(lines))[1:]}


def write(rows: dict[str, tuple[str, ...]]) -> None:
    with OUTPUT.open("w", encoding="utf-8", newline="") as file:
        file.write("# Written by `python -m tools.op_evidence` on torch 2.9.1 and torch_xla 2.9.0, device PJRT CPU.\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(cells for _, cells in sorted(rows.items()))


if __name__ == "__main__":
    sys.exit(main())
