"""The pipeline: units that go through the passes together come out as if each had gone alone."""

from __future__ import annotations

import pytest

from kservec.api import compile_text
from kservec.core.text.confidential import without_passwords
from kservec.workshop import TOGETHER

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: model-{number:02d}
  namespace: ml
  annotations: {{serving.kserve.io/deploymentMode: Standard}}
spec:
  predictor:
    model:
      modelFormat: {{name: {format}}}
      storageUri: {uri}
"""
CACHE = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LocalModelNamespaceCache
metadata: {name: cache, namespace: ml}
spec:
  sourceModelUri: s3://models/cached
  modelSize: 1Gi
  nodeGroups: [gpus]
"""


def service(number: int, *, uri: str = "s3://models/a", model_format: str = "sklearn") -> str:
    """One service."""
    return SERVICE.format(number=number, uri=uri, format=model_format)


@pytest.mark.parametrize("count", [1, TOGETHER, TOGETHER + 1, 2 * TOGETHER + 3])
def test_services_are_compiled_as_if_alone(count: int) -> None:
    """However many services there are, each leads to what it leads to alone."""
    texts = [service(number) for number in range(count)]
    together = compile_text("---\n".join(texts))
    alone = {o.ref: o.text for text in texts for o in compile_text(text).objects}
    assert together.ok
    assert {o.ref: o.text for o in together.objects} == alone


def test_an_error_stops_its_own_unit_only() -> None:
    """Units that are refused, each in another pass, say so once; what the others have to say is said as well."""
    texts = [service(number) for number in range(TOGETHER)]
    texts[3] = service(3, model_format="none-such")
    texts[5] = service(5, uri="ftp://models/a")
    done = compile_text("---\n".join([*texts, CACHE]))
    assert not done.ok
    assert done.objects == ()
    errors = [(d.subject.name, d.code.slug) for d in done.diagnostics if d.is_error and d.subject is not None]
    assert [e for e in errors if e[0].startswith("model")] == [
        ("model-03", "runtime/none-fits"),
        ("model-05", "storage/unknown-scheme"),
    ]
    assert any(name == "cache" for name, _ in errors)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot read 'foo://u:SECRET@h/x'", "cannot read 'foo://***@h/x'"),
        ("from 'ftp://h/x?token=SECRET&a=b'", "from 'ftp://h/x?token=***&a=b'"),
        ("https://h/x?X-Amz-Signature=SECRET", "https://h/x?X-Amz-Signature=***"),
        ("s3://bucket/key=1 and u:p@h", "s3://bucket/key=1 and u:p@h"),
    ],
)
def test_findings_quote_no_passwords(text: str, shown: str) -> None:
    """Passwords and tokens of URIs are hidden, whichever finding quotes them."""
    assert without_passwords(text) == shown
