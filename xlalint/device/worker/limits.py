"""How much a program may use, where the user says so."""

from __future__ import annotations

import msgspec

from xlalint.device.worker.protocol import Request


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """None: what is asked for the program, which differs by what it is for."""

    data_bytes: int | None = None
    cpu_seconds: int | None = None
    file_bytes: int | None = None
    tasks: int | None = None
    files: int | None = None

    def laid_on(self, request: Request) -> Request:
        given = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        return msgspec.structs.replace(request, **given) if given else request
