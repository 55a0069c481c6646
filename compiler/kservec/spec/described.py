"""Fields of our own documents that may be left out, with what holds then and what they mean."""

from __future__ import annotations

from typing import Any

from pydantic import Field


def option(default: Any, description: str) -> Any:
    """A field that may be left out, so that an environment can take it from its project.

    Args:
        default: what counts where neither says anything; `project/` applies it, schema and docs show it.
        description: what the field means, for the schema and the docs.
    """
    return Field(default=None, description=description, json_schema_extra={"default": default})
