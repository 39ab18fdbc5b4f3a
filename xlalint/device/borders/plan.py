"""What a script is run with: which places are watched, which loop grows, what is given. Imports nothing heavy."""

from __future__ import annotations

import msgspec

from xlalint.device.borders.item_forms import ItemForm
from xlalint.findings.model import Neutral

CUT_OFF = "the loop has had its turns"
"""Why a program ends whose loop without a boundary is counted."""


class Place(msgspec.Struct, frozen=True):
    """A flagged place, by its file and range: lines and columns from 1."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    neutral: Neutral
    raises: bool = False
    """Whether what is claimed is that it raises: it is tried as it is, before anything is placed for it."""


class LoopPlace(msgspec.Struct, frozen=True):
    """A loop, by its file and the line that it begins on."""

    path: str
    line: int


class Omission(msgspec.Struct, frozen=True):
    """A statement that a program is run without, by a line of it, and why it fails."""

    path: str
    line: int
    text: str
    why: str


class Adaptation(msgspec.Struct, frozen=True, kw_only=True):
    """What a rehearsal has found that a program takes, or needs."""

    items: dict[str, ItemForm] = {}
    """Of data sets of the program's own that could not be read, by their class."""
    arguments: dict[str, str] = {}
    """Expressions of options that the program does not do without, by their names."""
    made_up_images: tuple[int, int] | None = None
    """Their width and height in pixels; None where none was made up."""
    smaller: bool = False
    """Whether images have fewer pixels than the program asks for."""
    whole_quotients: bool | None = None
    """Whether `/` of whole numbers gives a whole number, as in Python 2; None where nothing asked."""
    launched: bool | None = None
    """Whether a launcher is said to have started it; None where nothing asked."""
    omitted: tuple[Omission, ...] = ()
    """Statements that failed with what is made up."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a script."""

    script: str
    module: str = ""
    """Its name, where it is run by that: `python -m`."""
    arguments: tuple[str, ...] = ()
    copied: str = ""
    """The folder of which it gets a scratch copy to run in; without one it gets links of its own files."""
    folders: tuple[str, ...]
    """Where the program's own files lie."""
    packages: tuple[str, ...] = ()
    """Folders with further installed packages."""
    places: tuple[Place, ...]
    without: tuple[int, ...] = ()
    """The places that run without their cost, by their numbers."""
    loop: LoopPlace | None = None
    """The loop whose turns are counted; None for every one that takes steps."""
    step_loops: tuple[LoopPlace, ...] = ()
    boundary: bool = True
    """Whether a step of a program that ends none is ended for it."""
    ends: bool = False
    """Whether the program is cut off behind the counted loop: what waits for a boundary there is counted."""
    placed: bool = True
    """Whether what it puts on a GPU is placed on the XLA device: not where it uses torch_xla itself."""
    rehearsed: bool = False
    """Whether it is a rehearsal on the host, which finds the items of data that is not there."""
    adaptation: Adaptation = Adaptation()
    borders: bool = True
    """Whether data, arguments and files are stood in for."""
    batch: int = 4
    """The most rows of a batch; 0 for as many as the program asks for."""
    given: dict[str, str] = {}
    """By the name of an argument, the expression that the user gives for it."""
    chosen: dict[str, str] = {}
    """The same, of the command line that is tried."""


class Half(msgspec.Struct, frozen=True):
    """What of a ``Log`` belongs to the first half of the steps."""

    reached: tuple[int, ...]
    turns: tuple[int, ...]
    steps: int


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """What a run leaves for whoever asked for it."""

    reached: tuple[int, ...]
    """By place, how often it ran."""
    turns: tuple[int, ...]
    """By place, in how many different steps it ran."""
    raised: tuple[str | None, ...]
    """By place, the exception that the device raised there, or nothing; None where it was not tried."""
    assumptions: tuple[str, ...]
    adaptation: Adaptation = Adaptation()
    options: dict[str, tuple[str, ...]] = {}
    """By the name of an option, expressions of other values that it may have."""
    modes: tuple[bool, ...] = ()
    """In which modes a module's forward ran: of evaluation (False), of training (True)."""
    ended: str = ""
    """Why the program was cut off, or how it failed."""
    failed: Omission | None = None
    """The statement that ended the program, if a program can do without it."""
    steps: int = 0
    """Turns of the loop that was counted, or steps of all loops."""
    half: Half | None = None
    """None where the first half was not told apart."""
