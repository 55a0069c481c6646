"""The file that pins vLLM and what the images are made of, as the tests read it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from .programs import IMAGES

VARIANTS = ("cuda", "rocm", "cpu")


@cache
def read(name: str = "versions") -> Any:
    """A file of facts beside the Dockerfiles."""
    return json.loads((IMAGES / f"{name}.json").read_text())


def reference(image: dict[str, str]) -> str:
    """An image as it is written into a pod: by tag, and by digest once there is one."""
    digest = image["digest"]
    return f"{image['repository']}:{image['tag']}" + (f"@{digest}" if digest else "")
