"""Services, compiled with what a project adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import libyaml

from kservec.api import Target, compile_text
from kservec.core.additions import Additions
from kservec.core.records import evolve

if TYPE_CHECKING:
    from kservec.api import Compilation


def service(name: str = "iris", mode: str = "Standard", **predictor: Any) -> str:
    """The text of an InferenceService."""
    model = {"modelFormat": {"name": "sklearn"}, "storageUri": "pvc://models/iris"}
    metadata = {"name": name, "namespace": "ml", "annotations": {"serving.kserve.io/deploymentMode": mode}}
    spec = {"predictor": {"model": model, **predictor}}
    body = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": metadata, "spec": spec}
    return libyaml.dump(body)


def made(text: str, **additions: Any) -> Compilation:
    """What becomes of a text with some additions."""
    return compile_text(text, target=evolve(Target(), names_revisions=True, additions=Additions(**additions)))


def objects(compilation: Compilation, kind: str) -> dict[str, Any]:
    """The objects of a kind by their names."""
    found = [libyaml.load(o.text) for o in compilation.objects if o.ref.kind == kind]
    return {o["metadata"]["name"]: o for o in found}


def slugs(compilation: Compilation) -> list[str]:
    """The codes of what was found."""
    return [d.code.slug for d in compilation.diagnostics]
