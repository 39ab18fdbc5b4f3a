"""Objects of which little or nothing is known."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from xlalint.device.stubs.progress import Unavailable, Valueless

torch: Any = import_module("torch")


class Absent(Valueless):
    """A name that could not be had. It may be passed on and called for its effect, and has no value."""

    def __init__(self, name: str, *passed: Any, why: str = "") -> None:
        self.__name, self.__passed, self.__why = name, passed, why

    def __repr__(self) -> str:
        return f"`{self.__name}`"

    def __format__(self, _: str) -> str:
        """Reports say that it is not there, in whatever form they want numbers."""
        return repr(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name}.{name}", why=self.__why)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # As a decorator it leaves what it decorates as it is; a type of numbers is an argument.
        if len(args) == 1 and not kwargs and (_is_class(args[0]) or hasattr(args[0], "__code__")):
            return args[0]
        return Absent(f"{self.__name}()", *args, why=self.__why)

    def __iter__(self) -> Iterator[Any]:
        """What is wrapped for its effect, as by a progress bar, is what there is to iterate over; numbers count."""
        if self.__passed and all(isinstance(each, int) for each in self.__passed):
            return iter(range(*self.__passed))
        if not self.__passed or not hasattr(self.__passed[0], "__iter__"):
            self._refuse()
        return iter(self.__passed[0])

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (Parts,)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __fspath__(self) -> str:
        """A place that a logger has made up, which others write to."""
        return self.__name.rpartition(".")[2]

    def _refuse(self, *_: Any) -> Any:
        raise Unavailable(f"`{self.__name}` can't be had here" + (f": {self.__why}" if self.__why else ""))

    __bool__ = __len__ = __getitem__ = __add__ = __radd__ = __mul__ = __rmul__ = _refuse
    __sub__ = __rsub__ = __truediv__ = __float__ = __int__ = __lt__ = __gt__ = __contains__ = _refuse
    __index__ = __torch_function__ = _refuse


def _is_class(value: Any) -> bool:
    return isinstance(value, type) and value.__module__ not in ("builtins", "numpy")


def of_class(value: Any, name: str) -> Any:
    """What a method is called on, where that is of the class that the method is of."""
    if all(each.__name__ != name for each in type(value).__mro__):
        raise Unavailable(f"a `{type(value).__name__}` is no `{name}`")
    return value


class Parts:
    """An object of which only the attributes that the slice reads are there."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    training = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Unavailable(f"the attribute `{name}` can't be had here")
