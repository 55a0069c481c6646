"""Slips of the pen, which are found where they stand."""

from __future__ import annotations

from typing import Any

import pytest

from .making import CLASS, GROUP, built, model, service


@pytest.mark.parametrize(
    ("predictor", "annotations", "slug", "meant"),
    [
        (model(minReplica=2), {}, "schema/unknown-field", "minReplicas"),
        (model(uri=None, model={"storageURI": "s3://models/churn"}), {}, "schema/unknown-field", "storageUri"),
        (model(), {f"{GROUP}/autoscalerclass": "keda"}, "metadata/unknown-key", CLASS),
        (
            model(model={"resources": {"limits": {"nvidia.com/gpus": "1"}}}),
            {},
            "pod/misspelt-accelerator",
            "nvidia.com/gpu",
        ),
    ],
)
def test_slips_are_found_and_corrected(
    predictor: dict[str, Any], annotations: dict[str, str], slug: str, meant: str
) -> None:
    """A field, annotation or resource that is misspelt is found where it stands, with what was meant."""
    result = built(service(predictor, annotations=annotations))
    (slip,) = result.diagnostics
    assert slip.code.slug == slug
    assert slip.help == f"did you mean {meant}?"
    assert slip.span is not None
    assert slip.span.line > 0
    assert result.ok is not slip.is_error
