"""Additions: what a project wants of its objects beyond what KServe makes. Without a project there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.records import entity, fresh

if TYPE_CHECKING:
    from collections.abc import Mapping


@entity
class Additions:
    """What the passes of a project look at.

    `image_rewrites`: beginnings of image names and what stands there instead. `pod_security`: the level of the Pod
    Security Standards that is written where a spec says nothing.
    """

    image_rewrites: Mapping[str, str] = fresh(factory=dict)
    pod_security: str = "privileged"
