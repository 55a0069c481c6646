"""The deployment mode of an InferenceService."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Reject

TABLE = "mode.yaml"
SPEC = "spec: {predictor: {model: {modelFormat: {name: sklearn}}}}\n"


def test_mode_and_findings(row, admit) -> None:
    """Each document of the table gets the mode, or the findings, that stand beside it."""
    result = admit(row.given, row.settings)
    assert result.findings == row.expected["findings"]
    if "mode" in row.expected:
        assert result.admitted.mode == row.expected["mode"]


@pytest.mark.parametrize("deploy", [{}, {"defaultDeploymentMode": ""}, {"defaultDeploymentMode": "Hybrid"}])
def test_an_unusable_default_refuses_every_service(deploy, admit) -> None:
    """KServe refuses even a service with an annotation while its configuration names no mode that it knows."""
    given = "metadata: {name: churn, annotations: {serving.kserve.io/deploymentMode: Standard}}\n" + SPEC
    with pytest.raises(Reject) as rejection:
        admit(given, {"platform": {"deploy": deploy}})
    (finding,) = rejection.value.diagnostics
    assert finding.code.slug == "platform/deployment-mode"
    assert finding.span is not None
    assert finding.span.file == "platform.yaml"
