"""What tells that a file runs on XLA, where nobody says so."""

from __future__ import annotations

from xlalint.testing import findings_in

HABIT = "import torch\n\n\ndef seed(n: int) -> None:\n    torch.cuda.set_device(n)\n"


def flagged(files: dict[str, str]) -> list[str]:
    return sorted(found.path for found in findings_in(files, assume_xla=None) if found.code == "XLA506")


def test_a_program_for_xla_brings_what_it_imports() -> None:
    main = "import torch_xla\nimport part\n\npart.seed(0)\n"
    assert flagged({"main.py": main, "part.py": HABIT}) == ["part.py"]


def test_a_script_that_may_run_on_xla_is_read_as_if_it_did() -> None:
    script = f"try:\n    import torch_xla\nexcept ImportError:\n    torch_xla = None\n{HABIT}\n\nseed(0)\n"
    assert flagged({"main.py": script}) == ["main.py"]


def test_a_library_for_several_devices_says_nothing_of_its_files() -> None:
    library = "from has import has_xla\nimport part\n\nif has_xla():\n    import torch_xla\n"
    assert flagged({"library.py": library, "part.py": HABIT}) == []


def test_functions_for_xla_alone_say_nothing_of_other_files() -> None:
    accelerator = (
        "import part\n\n\ndef size() -> int:\n    import torch_xla.runtime as xr\n\n    return xr.world_size()\n"
    )
    assert flagged({"accelerator.py": accelerator, "part.py": HABIT}) == []
    assert flagged({"accelerator.py": f"{accelerator}\n\n{HABIT}"}) == ["accelerator.py"]
