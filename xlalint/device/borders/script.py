"""Runs a script whole, up to as many steps as are asked for, and tells which flagged places it came to."""

from __future__ import annotations

import ast
import functools
import os
import random
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from xlalint.device.borders.alternatives import Alternatives
from xlalint.device.borders.arguments import Expressions, configurations, stand_in_for_arguments, text_of
from xlalint.device.borders.click_commands import stand_in_for_click
from xlalint.device.borders.clock import Clock, Enough
from xlalint.device.borders.commands import take_commands_for_done
from xlalint.device.borders.compared_values import ComparedValues
from xlalint.device.borders.demands import answers
from xlalint.device.borders.files import stand_in_for_files
from xlalint.device.borders.former_division import Quotients
from xlalint.device.borders.former_environments import FormerEnvironments
from xlalint.device.borders.former_librosa import answer_as_librosa_did
from xlalint.device.borders.former_scipy import answer_as_scipy_did
from xlalint.device.borders.former_timm import answer_as_timm_did
from xlalint.device.borders.former_transformers import answer_as_transformers_did
from xlalint.device.borders.former_versions import answer_as_then, answer_as_torchvision_did
from xlalint.device.borders.image_sizes import ImageSizes
from xlalint.device.borders.instrumented_files import Instrumentation, InstrumentedFinder
from xlalint.device.borders.launches import Launch, run_in_this_process
from xlalint.device.borders.loaders import watch_loaders
from xlalint.device.borders.made_up_hub import (
    ask_no_network,
    stand_in_for_readers,
    stand_in_for_transformers,
    stand_in_for_weights,
)
from xlalint.device.borders.made_up_objects import stand_in_for_annotations
from xlalint.device.borders.made_up_sounds import SampleRates, stand_in_for_sounds
from xlalint.device.borders.made_up_tables import NamedColumns, stand_in_for_tables
from xlalint.device.borders.made_up_values import stand_in_for_values
from xlalint.device.borders.missing_files import MissingFiles
from xlalint.device.borders.omissions import Omissions, omission
from xlalint.device.borders.opencv import stand_in_for_opencv
from xlalint.device.borders.own_data import OwnData
from xlalint.device.borders.packages import MissingPackages
from xlalint.device.borders.placement import Placement
from xlalint.device.borders.places import WatchedPlace
from xlalint.device.borders.plan import Adaptation, Half, Log, Omission, Plan
from xlalint.device.borders.rehearsal import Rehearsal
from xlalint.device.borders.rehearsed_device import stand_in_for_the_device
from xlalint.device.borders.scratch_copy import enter_scratch_copy
from xlalint.device.borders.text_data_sets import stand_in_for_torchtext
from xlalint.device.borders.tried_forms import TriedForms
from xlalint.device.borders.turns import Loops
from xlalint.device.borders.working_folder import enter_working_folder
from xlalint.device.recording.inside.files import owner
from xlalint.device.recording.surplus import Surplus
from xlalint.device.stubs.objects import Absent
from xlalint.device.stubs.progress import Unavailable
from xlalint.device.worker.protocol import LEFT

__all__ = ["run_script"]


def run_script(given: Mapping[str, Any], steps: int, surplus: Surplus | None = None) -> object:
    """Run the script of a ``Plan``, given as plain values; the ``Log`` of it is left in the file ``LEFT``.

    What may wait for a boundary at its end is returned. With ``surplus``, the second half of the steps is told apart.
    """
    plan = msgspec.convert(given, Plan)
    left = Path(LEFT).resolve()
    run = _Run(plan, steps, surplus)
    ended = run.ended()
    left.write_bytes(msgspec.json.encode(run.log(ended)))
    return run.held


class _Run:
    def __init__(self, plan: Plan, steps: int, surplus: Surplus | None) -> None:
        self._plan = plan
        self._clock = Clock(plan.boundary, surplus)
        self._placement = Placement(self._clock, plan.placed or plan.rehearsed, plan.rehearsed)
        self._loops = Loops(plan, steps, self._clock)
        self._watched = [WatchedPlace(self._clock, self._placement) for _ in plan.places]
        self._owned = owner(plan.folders)
        self._clock.rehearsal = Rehearsal() if plan.rehearsed else None
        known = plan.adaptation
        self._sizes = ImageSizes(self._clock, known.made_up_images, known.smaller)
        self._forms = TriedForms(self._clock, known.items)
        self._data = OwnData(self._clock, self._owned, self._forms)
        self._launch = Launch(known.launched)
        self._quotients = Quotients(self._clock, known.whole_quotients)
        self._expressions = Expressions(plan.given, {**known.arguments, **plan.chosen}, {})
        self._compared = ComparedValues()
        self._columns = NamedColumns()
        self._rates = SampleRates()
        self._missing_files = MissingFiles(self._owned)
        self._alternatives = Alternatives(self._compared)
        self._environments = FormerEnvironments(self._clock)
        self._instrumentation = Instrumentation(
            plan,
            self._loops,
            self._watched,
            self._read,
            answers(self._clock),
            self._quotients,
            Omissions(known.omitted, self._clock),
        )
        self._failed: Omission | None = None
        self._on_import = self._stand_ins() if plan.borders else {}
        """By the package that a file imports; each begins once."""
        self._finder = InstrumentedFinder(self._instrumentation, self._owned)
        self._missing = MissingPackages(self._clock, self._owned, lambda name, at: self._finder.find_spec(name, [at]))

    def ended(self) -> str:
        """Run it; why it ended before its own end, or nothing."""
        plan = self._plan
        self._set_up()
        try:
            self._main()
        except Enough as enough:
            return str(enough)
        except SystemExit as end:
            if end.code in (None, 0):
                return ""
            if self._clock.rehearsal is not None:
                self._clock.rehearsal.end_trial(f"SystemExit: {end.code}")
            self._failed = omission(end, self._owned, plan.places)
            return f"SystemExit: {end.code}"
        except BaseException as error:  # the program may raise anything
            failure = self._failure(error)
            if self._clock.rehearsal is not None:
                self._clock.rehearsal.end_trial(failure, self._lines(error))
            traceback.print_exception(error)
            self._failed = omission(error, self._owned, plan.places)
            return failure
        finally:
            self._clock.end_step()
            if self._clock.rehearsal is not None:
                self._clock.rehearsal.end()
        return ""

    @property
    def held(self) -> list[Any]:
        return self._clock.held

    def log(self, ended: str) -> Log:
        return Log(
            reached=tuple(each.count for each in self._watched),
            turns=tuple(each.steps for each in self._watched),
            raised=tuple(each.raised for each in self._watched),
            assumptions=tuple(self._clock.assumptions),
            adaptation=self._adaptation(),
            options=self._alternatives.told() if self._plan.rehearsed else {},
            modes=tuple(sorted(self._clock.modes)),
            ended=ended,
            failed=self._failed,
            steps=self._clock.steps if self._plan.loop is None else self._loops.counted,
            half=self._half() if self._clock.surplus is not None else None,
        )

    def _adaptation(self) -> Adaptation:
        return Adaptation(
            items=self._forms.found,
            arguments={**self._plan.adaptation.arguments, **self._expressions.found},
            made_up_images=self._sizes.known,
            smaller=self._sizes.made_smaller,
            whole_quotients=self._quotients.are_whole,
            launched=self._launch.is_told,
            omitted=self._plan.adaptation.omitted,
        )

    def _half(self) -> Half:
        return Half(
            reached=tuple(each.count_in_half for each in self._watched),
            turns=tuple(each.steps_in_half for each in self._watched),
            steps=self._clock.steps_in_half if self._plan.loop is None else self._loops.counted_in_half,
        )

    def _stand_ins(self) -> dict[str, tuple[Callable[[], None], ...]]:
        clock, sizes = self._clock, self._sizes

        def sounds(reader: str, name: str) -> Callable[[], None]:
            return lambda: stand_in_for_sounds(clock, lambda: self._rates.likeliest(configurations()), reader, name)

        annotations = functools.cache(lambda: stand_in_for_annotations(clock, sizes))
        return {
            "torchvision": (lambda: _stand_in_for_data(clock, sizes), annotations),
            "pycocotools": (annotations,),
            "cv2": (lambda: stand_in_for_opencv(clock, sizes),),
            "torchtext": (lambda: stand_in_for_torchtext(clock),),
            "click": (lambda: stand_in_for_click(clock, text_of),),
            "scipy": (answer_as_scipy_did, sounds("scipy.io.wavfile", "read")),
            "soundfile": (sounds("soundfile", "read"),),
            "torchaudio": (sounds("torchaudio", "load"),),
            "pandas": (lambda: stand_in_for_tables(clock, self._columns, self._missing_files),),
            "transformers": (lambda: stand_in_for_transformers(clock), answer_as_transformers_did),
            "timm": tuple(
                functools.partial(function, clock)
                for function in (stand_in_for_weights, stand_in_for_readers, answer_as_timm_did)
            ),
            "librosa": (lambda: answer_as_librosa_did(clock), sounds("librosa", "load")),
        }

    def _set_up(self) -> None:
        plan, clock = self._plan, self._clock
        random.seed(0)
        import_module("torch").manual_seed(0)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(0)
        if plan.rehearsed:
            # A target that is broadcast is not of the form that the program asks for.
            warnings.filterwarnings("error", message="Using a target size")
            stand_in_for_the_device()
        self._placement.begin()
        run_in_this_process(clock, self._placement, self._launch)
        watch_loaders(clock, self._loops, plan.batch, self._owned)
        if plan.borders:
            stand_in_for_arguments(
                self._expressions, plan.batch, clock, self._placement, self._compared, self._alternatives
            )
            ask_no_network()
            enter_working_folder(plan.script, plan.folders)
            stand_in_for_files(clock, self._owned, self._sizes)
            self._data.watch()
            answer_as_then(clock)
            stand_in_for_values(self._forms, self._missing_files)
            take_commands_for_done(clock, self._owned)
            sys.meta_path.append(self._missing)
        elif plan.copied:
            enter_scratch_copy(plan.copied)
        sys.meta_path.insert(0, self._finder)
        sys.argv = [plan.script, *plan.arguments]
        sys.path[:0] = [plan.copied if plan.module else _place_of_imports(plan.script)]
        sys.path += [folder for folder in (*plan.folders, *plan.packages) if folder not in sys.path]

    def _read(self, tree: ast.Module, path: str) -> None:
        """Before a file runs: what it asks for. What stands in for a package gives it former names, too, so it begins
        before names are missed."""
        names = {name for node in ast.walk(tree) for name in _modules(node)}
        for module in names & self._on_import.keys():
            for stand_in in self._on_import.pop(module):
                stand_in()
        self._missing.want(tree)
        self._compared.read(tree)
        self._columns.read(tree)
        self._rates.read(tree)
        self._missing_files.read(tree, path)
        if self._plan.borders:
            self._environments.read(tree)

    def _main(self) -> None:
        module = ModuleType("__main__")
        path = self._plan.script
        sys.modules["__main__"] = module
        package = self._plan.module.rpartition(".")[0] if self._plan.module else _package(path)
        vars(module).update(self._instrumentation.names(path), __file__=path, __package__=package)
        exec(self._instrumentation.code(path), vars(module))

    def _frames(self, error: BaseException) -> list[traceback.FrameSummary]:
        return [each for each in traceback.extract_tb(error.__traceback__) if self._owned(each.filename)]

    def _lines(self, error: BaseException) -> tuple[int, ...]:
        """Of the program's own, from the outermost call in."""
        return tuple(each.lineno or 0 for each in self._frames(error))

    def _failure(self, error: BaseException) -> str:
        """One line: what was raised, and the last line of the program's own."""
        frames = self._frames(error)
        where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
        message = str(error).strip().partition("\n")[0][:200]
        if self._missing.given and (isinstance(error, Unavailable) or Absent.__name__ in message):
            return f"needs {', '.join(f'`{name}`' for name in self._missing.given)}, not installed: {message}{where}"
        return f"{type(error).__name__}: {message}{where}"


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]] if isinstance(node, ast.ImportFrom) else []


def _stand_in_for_data(clock: Clock, sizes: ImageSizes) -> None:
    try:
        import_module("torchvision")
    except ImportError:
        return
    from xlalint.device.borders.data_sets import stand_in_for_torchvision
    from xlalint.device.borders.sized_transforms import watch_transforms

    stand_in_for_torchvision(clock, sizes)
    answer_as_torchvision_did(clock)
    watch_transforms(sizes)


def _place_of_imports(path: str) -> str:
    """The first folder that a script imports from: its own; with imports of its package's, `python -m` is meant."""
    try:
        relative = re.search(rb"^\s*from\s+\.", Path(path).read_bytes(), re.MULTILINE)
    except OSError:
        relative = None
    folder = os.path.dirname(path)
    while relative and os.path.exists(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def _package(path: str) -> str:
    """The package that a script lies in, if it is one that is told by its folder; it is imported before."""
    folder = os.path.dirname(path)
    names: list[str] = []
    while os.path.exists(os.path.join(folder, "__init__.py")):
        names.insert(0, os.path.basename(folder))
        folder = os.path.dirname(folder)
    if not names:
        return ""
    sys.path.append(folder)
    return ".".join(names)
