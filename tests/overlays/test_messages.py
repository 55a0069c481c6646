"""What kustomize says, as it is shown: one sentence, without the folder that it ran in, at the place that it names."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Span
from kservec.core.text.reading import Limits
from kservec.core.text.source import Document, parse
from kservec.overlays.closure import Closure, patches_of
from kservec.overlays.kustomization import Kustomization
from kservec.overlays.messages import cleaned, refusal
from kservec.overlays.objects import gathered

FOLDER = "/var/folders/kservec-x1"
OVERLAY = """\
resources: [../../services]
patches:
  - target: {kind: InferenceService}
    patch: |-
      - op: remove
        path: /spec/predictor/timeout
"""


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Error: no matches for Id A\n", "no matches for Id A"),
        ("error: no matches for Id A", "no matches for Id A"),
        ("kustomize build failed: no matches for Id A", "no matches for Id A"),
        ('E1130 05:13:28.013620   24041 run.go:72] "command failed" err="invalid \\"A\\": b"\n', 'invalid "A": b'),
        (
            "Error: accumulating resources: accumulation err='accumulating resources from '../tree/overlays/prod': "
            f"'{FOLDER}/tree/overlays/prod' must resolve to a file': recursed accumulation of path "
            f"'{FOLDER}/tree/overlays/prod': no matches for Id A",
            "no matches for Id A",
        ),
        (
            f"accumulating resources: accumulation err='accumulating resources from '{FOLDER}/tree/a': "
            f"'{FOLDER}/tree/a' must resolve to a file': couldn't make target for path '{FOLDER}/tree/a': odd",
            "couldn't make target for path 'a': odd",
        ),
        (f"odd: /private{FOLDER}/wrapper and {FOLDER}", "odd: . and ."),
        ("two\n  lines", "two lines"),
        ('Error: accumulateDirectory: "missing path: \\"/a/b\\": gone"', 'missing path: "/a/b": gone'),
    ],
)
def test_a_message_is_one_sentence(said: str, shown: str) -> None:
    """Marks of logs, the way to what is wrong, and the temporary folder are left out."""
    assert cleaned(said, FOLDER) == shown


def is_namespaced(api_version: str, kind: str) -> bool:
    """All kinds are in namespaces here."""
    return bool(api_version or kind)


def one(text: str, file: str) -> Document:
    """The one document of a text."""
    (document,), _ = parse(text.encode(), file)
    return document


@pytest.fixture(name="closure")
def closure_fixture() -> Closure:
    """An overlay with a patch over one file."""
    first = Kustomization(folder="prod", path="prod/kustomization.yaml", document=one(OVERLAY, "prod/k.yaml"))
    patches, _ = patches_of(first, {}, Limits())
    objects = {"services/iris.yaml": (one("kind: A\n", "services/iris.yaml"),)}
    return Closure(start="prod", kustomizations={"prod": first}, objects=objects, patches={"prod": patches})


@pytest.mark.parametrize(
    ("message", "place"),
    [
        ("remove operation does not apply: doc is missing path: /spec/predictor/timeout: gone", ("prod/k.yaml", 6, 15)),
        (
            "MalformedYAMLError: yaml: line 3: no expected key in File: iris.yaml",
            ("services/iris.yaml", 3, 1),
        ),
        ("error parsing regexp: missing closing ): `^(?:InferenceService)$`", ("prod/k.yaml", 3, 20)),
        ("accumulating services/iris.yaml: odd", ("services/iris.yaml", 0, 0)),
        ("something else", ("prod/k.yaml", 1, 1)),
    ],
)
def test_an_error_is_placed_as_well_as_can_be(closure: Closure, message: str, place: tuple[str, int, int]) -> None:
    """At the operation of a patch, the file and line that are named, or else the overlay."""
    found = refusal(message, closure, gathered(closure, is_namespaced))
    assert found.code.slug == "overlay/refused"
    assert found.span is not None
    assert (found.span.file, found.span.line, found.span.column) == place


def test_an_old_kustomize_is_told_apart(closure: Closure) -> None:
    """A kustomize that does not know what we ask for is too old."""
    found = refusal(
        'invalid Kustomization: json: unknown field "buildMetadata"', closure, gathered(closure, is_namespaced)
    )
    assert "4.5 or newer" in found.help
    assert found.span != Span("")
