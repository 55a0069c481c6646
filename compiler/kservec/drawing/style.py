"""Style: how nodes of each kind look, on light and on dark ground.

Colours stand in presentation attributes, which every viewer knows, and again in a style sheet, which changes them on
dark ground. Every text has a contrast of at least 4.5 to what it stands on (WCAG 2.2, 1.4.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.drawing.metrics import FONT_SIZE
from kservec.topology.values import NodeKind

if TYPE_CHECKING:
    from collections.abc import Mapping

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
PICTURE = "kservec-picture"


class Look(NamedTuple):
    """The colours of a kind of nodes, fill and frame on light ground and on dark, and how round its corners are."""

    fill: str
    frame: str
    dark_fill: str
    dark_frame: str
    rounding: int


LOOKS: Mapping[NodeKind, Look] = {
    NodeKind.CLIENT: Look("#f1f3f4", "#5f6368", "#2a2d31", "#9aa0a6", 18),
    NodeKind.GATEWAY: Look("#fce8e6", "#c5221f", "#3d2322", "#f28b82", 4),
    NodeKind.ROUTE: Look("#fef3e0", "#b06000", "#3a2e1a", "#fcad70", 4),
    NodeKind.SERVICE: Look("#e8f0fe", "#1967d2", "#1f2c42", "#8ab4f8", 4),
    NodeKind.POOL: Look("#e8f0fe", "#1967d2", "#1f2c42", "#8ab4f8", 14),
    NodeKind.WORKLOAD: Look("#e6f4ea", "#188038", "#1d3324", "#81c995", 4),
    NodeKind.REVISION: Look("#e6f4ea", "#188038", "#1d3324", "#81c995", 4),
    NodeKind.STEP: Look("#f3e8fd", "#8430ce", "#30233f", "#c58af9", 4),
    NodeKind.MODEL: Look("#e4f7fb", "#007b83", "#16343a", "#78d9ec", 14),
    NodeKind.UNIT: Look("#e6f4ea", "#188038", "#1d3324", "#81c995", 16),
    NodeKind.ADDRESS: Look("#f1f3f4", "#5f6368", "#2a2d31", "#9aa0a6", 0),
    NodeKind.NAMESPACE: Look("#e8f0fe", "#1967d2", "#1f2c42", "#8ab4f8", 8),
}


class Ink(NamedTuple):
    """A colour on light ground, and on dark."""

    light: str
    dark: str


GROUND = Ink("#ffffff", "#16181b")
TEXT = Ink("#202124", "#e8eaed")
MUTED = Ink("#4d5156", "#bdc1c6")
EDGE = Ink("#5f6368", "#9aa0a6")


def dark_rules() -> str:
    """The rules that hold on dark ground."""
    rules = [f".kp-{kind} rect{{fill:{look.dark_fill};stroke:{look.dark_frame}}}" for kind, look in LOOKS.items()]
    rules += [f".kp-{kind} path{{stroke:{look.dark_frame}}}" for kind, look in LOOKS.items()]
    rules += [
        f".kp-ground{{fill:{GROUND.dark}}}",
        f".kp-text{{fill:{TEXT.dark}}}",
        f".kp-muted{{fill:{MUTED.dark}}}",
        f".kp-edge{{stroke:{EDGE.dark}}}",
        f".kp-head{{fill:{EDGE.dark}}}",
    ]
    return "".join(f".{PICTURE} {rule}" for rule in rules)


STYLE = (
    f".{PICTURE}{{font-family:{FONT};font-size:{FONT_SIZE}px}}"
    f".{PICTURE} a:hover rect,.{PICTURE} a:focus-visible rect{{stroke-width:2.5}}"
    f"@media (prefers-color-scheme:dark){{{dark_rules()}}}"
)
"""The style sheet of pictures. It holds nothing outside of them."""
