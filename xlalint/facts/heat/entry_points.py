"""Entry points: what a function's name, class and file imply for how often it runs."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable

from xlalint.facts.kinds import SignKind
from xlalint.facts.records import FunctionKey
from xlalint.facts.regions import FunctionFacts
from xlalint.knowledge.tables import frameworks
from xlalint.sources.dependents import SETTING_UP
from xlalint.sources.patterns import lazy_pattern

DECODING = frozenset({"generate", "sample", "decode", "beam_search", "greedy_search", "greedy_decode", "inference"})

PLAIN_ENTRIES = frozenset(
    {
        "train_step",
        "eval_step",
        "training_step",
        "validation_step",
        "collate_fn",
        "compute_metrics",
        "preprocess_logits_for_metrics",
    }
)

READING = ("read_", "write_", "probe_")
"""What a plain function does with files; a module may read what it remembers."""

TESTS = frozenset({"tests", "test"})
"""Folders of tests."""

FUSING = frozenset({"fuse", "reparameterize", "switch_to_deploy", "make_schedule"})
"""What is done to a model, or to a sampler, before it is run."""

SUMMING_UP = frozenset({"compute", "summary", "summarize", "result", "results", "get_results", "finalize"})
"""Methods of a meter that are called when its updates are over."""


COMPUTING = frozenset({"fit", "predict", "predict_proba", "transform", "fit_transform", "solve", "minimize"})
"""Methods that are called for their result, as often as somebody wants one."""


def tests_among(functions: Iterable[FunctionFacts], files: Iterable[str]) -> frozenset[FunctionKey]:
    """Tests, as unittest and pytest know them, and what is there for tests: they run once. ``files`` are those of the
    whole program."""
    functions = list(functions)
    paths = {function.key[0] for function in functions}
    above = len(folder_above(paths.union(files)))
    of_tests = {path for path in paths if is_for_tests(path, path[above:])}
    return frozenset(
        function.key
        for function in functions
        if function.key[0] in of_tests or any(base.endswith("TestCase") for base in function.bases)
    )


def folder_above(paths: set[str]) -> str:
    """What lies above all files says nothing of them: somebody may keep their projects in a folder of tests."""
    try:
        return os.path.commonpath(paths)
    except ValueError:  # no files, or files on several drives
        return ""


def is_for_tests(path: str, below: str) -> bool:
    folder, file = os.path.split(path)
    if file.startswith(("test_", "testing")) or file.endswith("_test.py") or os.path.basename(folder) in TESTS:
        return True
    return not TESTS.isdisjoint(below.split(os.sep)[:-1])


def sets_up(function: FunctionFacts) -> bool:
    """A function whose name says that it runs before, after or apart from the steps."""
    name = function.name.lstrip("_")
    apart = name.startswith(SETTING_UP) or f"{name}_" in SETTING_UP or (not function.owner and name.startswith(READING))
    return apart or name.rstrip("_") in FUSING or "checkpoint" in name or "onnx" in name


def is_apart(function: FunctionFacts) -> bool:
    """Whether a function that nothing calls seems to be no part of a step: it is given nothing that a step works on. A
    module has ``forward`` for that, and its other methods may work on the weights; another object may hold data."""
    given_none = any(sign.kind == SignKind.GIVEN_NO_DATA for sign in function.signs)
    return given_none and (function.has_forward or not function.owner)


def may_run_once(function: FunctionFacts) -> bool:
    """Whether a function that nothing calls may as well be no part of a step: one of a script, one that its name says
    is private, and one of a tool that works on a model as a whole."""
    if function.in_script or (any(map(is_private, function.key[1].split("."))) and not stands_in(function)):
        return True
    file = os.path.splitext(os.path.basename(function.key[0]))[0]
    names = (function.name,) if function.has_forward else (function.key[1], file)
    return any(not frameworks().names("tool").isdisjoint(words(name)) for name in names)


def stands_in(function: FunctionFacts) -> bool:
    """A method of a class that a framework may know: it may override what is called there."""
    return any("." in base and not base.startswith(PLAIN_BASES) for base in function.bases)


PLAIN_BASES = ("builtins.", "abc.", "torch.", "typing.", "?.object", "?.ABC")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def words(name: str) -> frozenset[str]:
    """The words of a name, however they are joined."""
    return frozenset(word.lower() for word in _WORDS.findall(name))


_WORDS = lazy_pattern(r"[A-Z]*[a-z0-9]+|[A-Z]+")


def feeds(function: FunctionFacts) -> bool:
    """A method of a data set or of its sampler: it runs on the host, and what it handles lies there."""
    return any(base.startswith("torch.utils.data.") or base.endswith("Dataset") for base in function.bases)


def collates(function: FunctionFacts) -> bool:
    """A function that makes batches, by its name or by that of its class."""
    if "Collat" in function.owner:
        return not function.is_module
    return function.name.lstrip("_").startswith("collat")


def decodes(function: FunctionFacts) -> bool:
    """A function that is there to make samples: for it, that is the work, and no evaluation of it."""
    name = function.name.lstrip("_")
    return name in DECODING or name.startswith("generate")


def reads_answers(function: FunctionFacts) -> bool:
    """A method of a tokenizer: it makes text of what was generated, once for each answer."""
    return function.owner.endswith("Tokenizer") and not function.is_module


def looks_like_training(name: str) -> bool:
    return not words(name).isdisjoint({"train", "training", "main", "run", "epoch", "loop", "pretrain", "finetune"})


def evaluates(function: FunctionFacts) -> bool:
    """Whether the name of a function, or of its class, says that it looks at what a model learned."""
    return looks_like_evaluation(function.name) or function.owner.endswith(("Evaluator", "Validator", "Tester"))


def looks_like_evaluation(name: str) -> bool:
    return name.startswith(("eval", "valid", "test", "predict"))


@functools.cache
def inherited_entries() -> frozenset[str]:
    """The methods that frameworks call in each step, and calls of an object."""
    rows = frameworks()
    names = {
        name for name in rows.names("entry") if "." not in name and (rows.get("entry", name) or "").startswith("step")
    }
    return frozenset(names | {"__call__"})
