"""The ways to write a program for the rows of each kind of ``frameworks.csv``, as templates."""

from __future__ import annotations

HEAD = """\
import torch
import torch_xla
$imports


"""
READ = "(torch.ones(4, device=torch_xla.device()) * given).sum().item()"


def script(*lines: str, end: str = "torch_xla.sync()", backward: str = "loss.backward()") -> str:
    """A training loop with some lines in its step, after the backward."""
    body = "".join(f"        {line}\n" for line in (*lines, end) if line)
    return f"""{HEAD}\
def train(model, loader, optimizer, device):
    for batch in loader:
        x = torch.tanh(model(batch.to(device)))
        loss = x.sum()
        {backward}
        optimizer.step()
        optimizer.zero_grad()
{body}"""


def method(*lines: str, parameters: str = "given: torch.Tensor", more: str = "") -> str:
    """A class with the row's method."""
    body = "".join(f"        {line}\n" for line in lines)
    return f"{HEAD}class Own($base):\n    def $method(self, {parameters}):\n{body}{more}"


def inside(*lines: str, base: str = "$base") -> str:
    """A class with the row's base, and a method that some lines stand in."""
    body = "".join(f"        {line}\n" for line in lines)
    return f"{HEAD}class Own({base}):\n    def training_step(self, x: torch.Tensor):\n{body}"


def function(*lines: str, parameters: str = "x: torch.Tensor") -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"{HEAD}def work({parameters}):\n{body}"


def launched(parameters: str, given: str) -> str:
    """A program that a function of it is started by the row's."""
    shown = "".join(f"    reveal({name})\n" for name in parameters.split(", "))
    return f"{HEAD}def run({parameters}):\n{shown}\n\n$callee({given})\n"


def engine(event: str, attached: str = "") -> str:
    """A program of ignite's, with a handler."""
    return f"""{HEAD}\
from ignite.engine import Engine, Events


def step(engine, batch):
    return {{"loss": torch.tanh(batch[0].to("xla")).sum()}}


def main(rows):
    trainer = Engine(step)

    @trainer.on(Events.{event})
    def look(engine):
        print(engine.state.output["loss"].item())

    {attached}
    trainer.run(torch.utils.data.DataLoader(rows))
"""


CALLS = tuple(
    script(f"reveal($callee({given}))")
    for given in ("x", "x, x", "", "torch.ones(4, device='cpu')", "loader", "[loss]", "'sum', x")
)
SHOWN = tuple(
    script(f"$callee({given})") for given in ("'loss', loss", "loss", "{'loss': loss}", "loss=loss", "'%s', loss")
)
MADE = tuple(script(f"made = $callee({given})", "reveal(made(x))", "reveal(made)") for given in ("", "model", "x"))
LOOPS = (
    script("for item in $callee(loader):", "    reveal(item)", end=""),
    function(
        "made = $callee(torch.utils.data.DataLoader(rows, batch_size=4), x.device)",
        "for item in made:",
        "    reveal(item)",
        "    model(item).sum().backward()",
        parameters="x: torch.Tensor, rows, model",
    ),
    function(
        "for item in $callee(rows, batch_size=4):",
        "    reveal(item)",
        "    model(item).sum().backward()",
        parameters="rows, model",
    ),
    HEAD + "class Own($callee):\n    pass\n\n\nfor item in Own([], batch_size=4):\n    reveal(item)\n",
)
ASKED = tuple(inside(f"reveal({value})") for value in ("self.$method", "$base().$method", "self.$method(x)"))
NAMED = (
    function("for item in $last:", "    model(item).backward()", "    reveal(item)", parameters="model, $last"),
    function(
        "for x in batches:",
        "    model(x).sum().backward()",
        '    $last.info("%s", torch.ones(4, device="xla"))',
        '    reveal($last.pad(x, padding="longest", return_tensors="pt"))',
        "    $last.step()",
        "    torch_xla.sync()",
        parameters="model, batches, $last",
    ),
    inside('$word.info("%s", x)', 'reveal($word([""], padding=True, return_tensors="pt"))', "$word.step()"),
)
FALLBACK = (*CALLS, *SHOWN, *MADE, *ASKED)
"""What is tried for kinds of which nobody asks in a way of their own."""

WAYS: dict[str, tuple[str, ...]] = {
    "entry": (
        method(f"return {READ}"),
        method(f"return {READ}", more="\n    def forward(self, x):\n        return self.$method(x)\n"),
        method(f"return {READ}", more="\n    def __init__(self, x):\n        self.$method(x)\n"),
        method(f"return {READ}", more="\n\nown = Own()\nown.$method(torch.ones(4))\n"),
        method(
            "self.kept = torch.ones(4, device=torch_xla.device())",
            more="\n    def forward(self, x):\n        reveal(self.kept)\n",
        ),
        method("import numpy", "reveal(given)", "return numpy.asarray(given.detach())"),
        f"{HEAD}def $method(given: torch.Tensor):\n    return {READ}\n",
        method(f"return {READ}", more="\n    def forward(self, x):\n        return x\n", parameters="given=1"),
    ),
    "parameter": (
        method("reveal($parameter)", "return $parameter", parameters="$parameters"),
        method("reveal($parameter)", "return $parameter + 1", parameters="$parameters: torch.Tensor"),
        f"{HEAD}class Own($base):\n    @staticmethod\n    def $method(ctx, $parameters):\n        reveal($parameter)\n",
        f"{HEAD}def $method($parameters):\n    reveal($parameter)\n    return $parameter\n",
        method("reveal(some_$parameter)", parameters="some_$parameter"),
        method("reveal(${parameter}some)", parameters="${parameter}some"),
        method("reveal($parameter)", "return $parameter['x'].sum().item()", parameters="$parameters"),
    ),
    "attribute": (*ASKED, script("made = $base()", "reveal(made.$method)"), script("reveal(model(x).$method)")),
    "gives": (
        *ASKED,
        inside("reveal(super().$method(x, x))"),
        script("reveal($base().$method(model.parameters(), 1.0))"),
    ),
    "loader-name": NAMED,
    "tokenizer-name": NAMED,
    "logger-name": NAMED,
    "annotation": (function("reveal(given)", "reveal(given(x))", parameters="x: torch.Tensor, given: library.$last"),),
    "device": (script("reveal($callee())"), script("reveal($callee)"), *ASKED, *CALLS),
    "loader": (*LOOPS, *CALLS),
    "boundary-loader": LOOPS,
    "iterates": (*LOOPS, inside("for item in self.$method(x):", "    reveal(item)"), *CALLS),
    "boundary": (
        script(end="$callee()"),
        script("print(loss.item())", end="$callee(optimizer, barrier=True)"),
        script("with $callee():", "    print(loss.item())", end=""),
        script("reveal($callee(x))", end=""),
    ),
    "backward": (
        script(backward="$callee(loss)", end=""),
        script(backward="$callee(loss)"),
        inside("$plain(x.sum())", "print(x.sum().item())"),
        *ASKED,
    ),
    "closure": (
        f"{HEAD}def show(value: torch.Tensor):\n    print(value.item())\n\n\n"
        + script("$callee(show, args=(loss,))").removeprefix(HEAD),
    ),
    "launch": (
        launched("index, given", "run, args=('word',)"),
        launched("index, given", "'backend', run, ('word',)"),
        launched("given", "run, args=('word',)"),
    ),
    "hook": (
        script("model.$word(print)"),
        function(
            "made = torch.nn.Linear(8, 8)",
            "for x in loader:",
            "    made.$word(print)",
            "    made(x).sum().backward()",
            "    torch_xla.sync()",
            parameters="loader",
        ),
    ),
    "clock": (
        function(
            "for x in loader:",
            "    start = $callee()",
            "    model(x).sum().backward()",
            "    torch_xla.sync()",
            "    print($callee() - start)",
            parameters="model, loader",
        ),
    ),
    "device-wait": (
        function(
            "import time",
            "for x in loader:",
            "    start = time.time()",
            "    model(x).sum().backward()",
            "    torch_xla.sync()",
            "    $callee()",
            "    print(time.time() - start)",
            parameters="model, loader",
        ),
    ),
    "graph-break": (
        '@torch.compile(backend="openxla")\ndef work(x: torch.Tensor):\n    $callee()\n    return x * 2\n'.join(
            (HEAD, "")
        ),
    ),
    "draw": (
        script("if $callee(batch) > 0.5:", "    x = torch.tanh(x)", "x.sum().backward()"),
        script("if $callee([1]) > 0.5:", "    x = torch.tanh(x)", "x.sum().backward()"),
        inside("if $callee([1]) > 0.5:", "    x = torch.tanh(x)", "return x", base="torch.nn.Module"),
    ),
    "environment": ('import os\n\nimport torch_xla\n\nos.environ["$word"] = "1"\n',),
    "same-on-device": (
        function(
            "device = torch_xla.device()",
            "for x in loader:",
            "    x = model(x) + torch.$word(2).to(device)",
            "    x.sum().backward()",
            "    torch_xla.sync()",
            parameters="model, loader",
        ),
    ),
    "event": (engine("$word"),),
    "attaches": (
        engine("STARTED", '$plain().attach(trainer, "name")'),
        engine("STARTED", "$plain().attach(trainer, output_transform=lambda output: output)"),
    ),
    "engine": tuple(
        f"{HEAD}def step(engine, batch):\n    reveal(batch)\n    return batch\n\n\ntrainer = $plain({given})\n"
        "state = trainer.run(torch.utils.data.DataLoader([]))\nreveal(state.output)\n"
        for given in ("step", "torch.nn.Linear(1, 1), None, None")
    ),
    "calls-back": (
        f"{HEAD}def own(given):\n    reveal(given)\n    return {READ.replace('given', '3')}\n\n\n"
        "def main():\n    $base($method=own).train()\n",
    ),
    "carries": (script("from diffusers import DDPMScheduler", "reveal(DDPMScheduler().$method(x, 3, x))"),),
    "log-method": (
        inside("self.$method(x.sum())"),
        inside('self.$method("loss", x.sum(), prog_bar=True)'),
        inside('self.$method({"loss": x.sum()}, prog_bar=True)'),
    ),
    "hands-on": (
        script("$callee(model.parameters(), max_norm=1.0, error_if_nonfinite=True)"),
        script("$callee(model.parameters(), max_norm=1.0)"),
        script("$callee(x)"),
        script("$callee()"),
        *CALLS,
    ),
    "prepares": (
        script(backward="", end="for item in $callee(torch.utils.data.DataLoader([])):\n            reveal(item)"),
        script("reveal($callee(model, optimizer))"),
        *CALLS,
    ),
    "metric-method": (script("import evaluate", "reveal(evaluate.load('f1').$method(predictions=x))"), *FALLBACK),
    "metric-argument": tuple(
        script("import torchmetrics", f"torchmetrics.{metric}($word='other').to(device).update(x, x)")
        for metric in ("MeanMetric", "F1Score", "AUROC", "classification.BinaryAccuracy")
    ),
    "metric": (script("reveal($callee('f1').add_batch(predictions=x))"), *FALLBACK),
    "mask-unasked": (
        script(
            "from transformers import AutoModel",
            "made = AutoModel.from_pretrained('google/$word-base')",
            "reveal(made(x, attention_mask=x))",
        ),
    ),
    "input": (
        function(
            "if pixels_videos is not None:",
            "    print(x.sum().item())",
            parameters="x: torch.Tensor, ${word}_values, pixels_videos=None",
        ),
    ),
    "other-input": (
        function(
            "if ${word}_values is not None:",
            "    print(x.sum().item())",
            parameters="x: torch.Tensor, pixel_values, ${word}_values=None",
        ),
    ),
    "version": (script("if $plain < '1.5':", "    print(loss.item())"),),
    "version-parser": (script("if $plain(torch.__version__) < $plain('1.5'):", "    print(loss.item())"),),
    "version-lookup": (
        script("if $plain('torch') < '1.5':", "    print(loss.item())"),
        script("reveal($plain('torch'))"),
    ),
    "collator": (
        function(
            "loader = torch.utils.data.DataLoader(rows, collate_fn=$callee(tokenizer), drop_last=True)",
            "for x in loader:",
            "    model(x.to('xla')).sum().backward()",
            "    torch_xla.sync()",
            parameters="rows, model, tokenizer",
        ),
        *CALLS,
    ),
    "tokenizer": (script("reveal($plain('name')([''], padding=True))"), *FALLBACK),
    "maker": MADE,
    "factory": (
        *CALLS,
        *SHOWN,
        script("reveal($plain('resnet18', pretrained=True))", "reveal($plain(model))", "reveal($plain(model)(x))"),
        inside("reveal(self.$method(x))", "reveal(type(self).$method(x))", "reveal(Own.$method(x))"),
        inside("self.$method('kept', torch.ones(4))", "reveal(self.kept)"),
        inside("self.$method(kept=x)", "reveal(self.kept)"),
    ),
}


def ways(kind: str) -> tuple[str, ...]:
    return WAYS.get(kind, FALLBACK)
