"""How many GPUs this container has, as far as it can be told without asking a driver."""

from __future__ import annotations

import re
from pathlib import Path

from .settings import CPU, Settings

_is_nvidia = re.compile(r"nvidia[0-9]+").fullmatch
_is_render_node = re.compile(r"renderD[0-9]+").fullmatch


def gpu_count(settings: Settings) -> int | None:
    """The number of GPUs; None where it cannot be told, or where none is needed.

    A list of devices counts before device nodes, for slices of a GPU have none of their own.
    """
    if settings.variant == CPU:
        return None
    if settings.visible_devices is not None:
        return len([name for name in settings.visible_devices.split(",") if name.strip() and name.strip() != "-1"])
    if (settings.devices / "dxg").exists():
        return None
    return nodes_in(settings.devices, settings.variant)


def nodes_in(devices: Path, variant: str) -> int:
    """The device nodes of GPUs."""
    folder, is_gpu = (devices / "dri", _is_render_node) if variant == "rocm" else (devices, _is_nvidia)
    return len([entry for entry in folder.iterdir() if is_gpu(entry.name)]) if folder.is_dir() else 0
