"""Sounds that are read from files which are not there: one channel of noise, of the rate that the program names."""

from __future__ import annotations

import ast
import functools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from xlalint.device.borders.clock import Clock

_RATES = (8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000)
_USUAL = 22050
"""Samples a second, where the program names no rate."""
_SECONDS = 2
_LOUD = 1 << 12
"""The largest sample, of 16 bits."""
_IN_TEXT = re.compile(r"\b(?:{})\b".format("|".join(map(str, _RATES))))
_MOST_FILES = 50


class SampleRates:
    """Those that a program's files name, and its configurations."""

    def __init__(self) -> None:
        self._named: Counter[int] = Counter()

    def read(self, tree: ast.Module) -> None:
        """The numbers of one file."""
        found = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        self._named.update(value for value in found if type(value) is int and value in _RATES)

    def likeliest(self, configurations: Iterable[str]) -> int:
        """Samples a second; ``configurations`` are paths of files, which say more than the code."""
        named: Counter[int] = Counter()
        for path in list(configurations)[:_MOST_FILES]:
            text = Path(path).read_text(encoding="utf-8", errors="replace")
            named.update(int(each) for each in _IN_TEXT.findall(text))
        most = (named or self._named).most_common(1)
        return most[0][0] if most else _USUAL


def stand_in_for_sounds(clock: Clock, rate: Callable[[], int], reader: str, name: str) -> None:
    """From here on in this process, for the function ``name`` of the module ``reader``; ``rate`` is asked for when the
    first sound is read."""
    try:
        module: Any = import_module(reader)
        numpy: Any = import_module("numpy")
    except ImportError:
        return
    read = getattr(module, name)

    @functools.wraps(read)
    def found(file: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(file, (str, os.PathLike)) or os.path.exists(file):
            return read(file, *args, **kwargs)
        asked = kwargs.get("sr") or (args[0] if args and type(args[0]) is int else None)
        made = asked or rate()
        clock.assume(f"sounds that are not there are made up: {_SECONDS} s of {made} samples each")
        samples = numpy.random.default_rng(0).integers(-_LOUD, _LOUD, _SECONDS * made).astype(numpy.int16)
        return _ANSWERS[reader](samples, made)

    setattr(module, name, found)


def _as_scipy(samples: Any, rate: int) -> tuple[int, Any]:
    return rate, samples


def _as_floats(samples: Any, rate: int) -> tuple[Any, int]:
    return (samples / (_LOUD << 3)).astype("float32"), rate


def _as_torchaudio(samples: Any, rate: int) -> tuple[Any, int]:
    floats, _ = _as_floats(samples, rate)
    return import_module("torch").from_numpy(floats)[None], rate


_ANSWERS: dict[str, Callable[[Any, int], Any]] = {
    "scipy.io.wavfile": _as_scipy,
    "soundfile": _as_floats,
    "librosa": _as_floats,
    "torchaudio": _as_torchaudio,
}
"""What each reader gives, of samples and their rate."""
