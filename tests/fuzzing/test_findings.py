"""What odd inputs have brought to light: the smallest of each kind, and what is right for it."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from tests import libyaml

from kservec import File, Target, compile_files, compile_text
from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.golang.expressions import finder
from kservec.core.knative.revisions import last_stable
from kservec.core.text.confidential import showable
from kservec.report.text import text_report

SERVICE = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat, namespace: ml}
spec: {model: {uri: "hf://org/model", name: m}, baseRefs: [{name: base}], router: {scheduler: {}}}
"""
ERROR = Code("a/b", Severity.ERROR, "a title", "A text.")
POOL = {"router": {"scheduler": {"pool": {"spec": {}}}}}


def with_preset(spec: Any, service: str = SERVICE, **metadata: Any) -> Any:
    """What becomes of a service on a platform with a preset of v1alpha1."""
    preset = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "LLMInferenceServiceConfig",
        "metadata": {"name": "base", "namespace": "ml", **metadata},
        "spec": spec,
    }
    platform = [File("platform.yaml", libyaml.dump(preset).encode())]
    return compile_files([File("service.yaml", service.encode())], target=Target(platform=platform))


@pytest.mark.parametrize(
    ("spec", "slug"),
    [
        (5, "schema/type"),
        (POOL, "schema/required"),
        ({"model": 5}, "schema/type"),
        ({"parallelism": 5}, "schema/type"),
        ({"parallelism": {"data": "x"}}, "schema/type"),
        ({"prefill": "x"}, "schema/type"),
        ({"template": {"containers": "x"}}, "schema/type"),
        ({"template": {"containers": [{"name": {}}]}}, "schema/type"),
        ({"router": {"gateway": {"refs": 5}}}, "schema/type"),
        ({"router": {"route": {"http": {"spec": 5}}}}, "schema/type"),
    ],
)
def test_a_preset_of_the_platform_that_is_no_preset(spec: Any, slug: str) -> None:
    """It is refused at its line where a service uses it, and is nobody's business where none does."""
    used = with_preset(spec)
    assert slug in {d.code.slug for d in used.diagnostics if d.span and d.span.file == "platform.yaml"}
    assert not used.objects
    assert with_preset(spec, SERVICE.replace("baseRefs: [{name: base}], ", "")).ok


def test_a_preset_of_another_version_may_have_fields_that_are_unknown() -> None:
    """Fields that no schema of ours has yet refuse no service."""
    compiled = with_preset({"replicas": 3, "ofTomorrow": True}, annotations={"a": "b"})
    deployment = next(libyaml.load(o.text) for o in compiled.objects if o.ref.kind == "Deployment")
    assert deployment["spec"]["replicas"] == 3


@pytest.mark.parametrize("expression", ["(a", "(?!a)b", r"(a)\1", "[z-a]"])
def test_an_expression_that_go_cannot_read_is_refused(expression: str) -> None:
    """A storage container with one is an error at the expression, whoever uses it."""
    container = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ClusterStorageContainer",
        "metadata": {"name": "own"},
        "spec": {"container": {"name": "a", "image": "a"}, "supportedUriFormats": [{"regex": expression}]},
    }
    (error,) = [d for d in compile_text(json.dumps(container)).diagnostics if d.is_error]
    assert error.code.slug == "storage/uri-format"
    assert error.span is not None
    assert error.span.line == 1


@pytest.mark.parametrize(
    ("expression", "text", "is_found"),
    [("^x(a+)+$", "x" + "a" * 5000 + "!", False), (r"\d", "٣", False), ("a$", "a\n", False), ("b", "abc", True)],
)
def test_expressions_are_go_s_and_take_no_time(expression: str, text: str, is_found: bool) -> None:
    """What takes Python for ever is told at once, and classes and ends are those of Go."""
    finds = finder(expression)
    assert finds is not None
    assert finds(text) is is_found


def test_a_byte_behind_nul_is_underlined_where_it_is() -> None:
    """Columns count the zeros that a text of one byte a character holds, and reports keep them as blanks."""
    compiled = compile_files([File("a.yaml", b"kind: a\0b\0c\xff\n")])
    (error,) = compiled.diagnostics
    assert error.span is not None
    assert error.span.column == 12
    shown = text_report(compiled.diagnostics, compiled.sources).splitlines()
    assert shown[4].index("^") == shown[3].index("c") + 1


def test_nul_uncovers_no_secret() -> None:
    """A kind that NULs break up is hidden as if they were not there."""
    assert "hush" not in showable("apiVersion: v1\nki\0nd: Sec\0ret\nda\0ta: {a: hush}\n")


def graph(nodes: dict[str, Any]) -> str:
    """A graph as JSON."""
    metadata = {"name": "g", "namespace": "ml"}
    kind = {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "InferenceGraph", "metadata": metadata}
    return json.dumps({**kind, "spec": {"nodes": nodes}})


def test_nothing_is_searched_for_what_a_long_word_was_meant_to_be() -> None:
    """Names of any length are answered at once, and a name of a usual length still gets its hint."""
    call = {"routerType": "Sequence", "steps": [{"serviceUrl": "http://a"}]}
    hints = []
    for length in (20, 20_000):
        root = {"routerType": "Sequence", "steps": [{"nodeName": "a" * length + "b"}]}
        start = time.process_time()
        compiled = compile_text(graph({"root": root, "a" * length: call}))
        assert time.process_time() - start < 2
        hints += [d.help for d in compiled.diagnostics if d.code.slug == "graph/unknown-node"]
    assert f"did you mean {'a' * 20}?" in hints[0]
    assert "did you mean" not in hints[1]


STOPPED = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  predictor:
    resourceClaims: [{name: gpu, resourceClaimName: one}]
    containers:
    - name: kserve-container
      image: scorer:1
      lifecycle: {stopSignal: SIGUSR1, preStop: {sleep: {seconds: 9}}}
"""


def test_a_signal_beside_hooks() -> None:
    """It comes out as it is, and a hook beside it is still judged."""
    good, bad = compile_text(STOPPED), compile_text(STOPPED.replace("seconds: 9", "seconds: 99"))
    deployment = next(libyaml.load(o.text) for o in good.objects if o.ref.kind == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["lifecycle"] == {"stopSignal": "SIGUSR1", "preStop": {"sleep": {"seconds": 9}}}
    assert [d.code.slug for d in bad.diagnostics] == ["pod/invalid-value"]


@pytest.mark.parametrize("column", [1, 70_000])
def test_a_place_in_a_long_line_is_shown(column: int) -> None:
    """Of a line without end the part around the place is shown, with its control characters as blanks."""
    text = f"{'a' * (column - 1)}\x1bHERE{'b' * 70_000}"
    found = Diagnostic(code=ERROR, message="it is wrong", span=Span("a.yaml", 1, column + 1, 1, column + 5))
    shown = text_report([found], {"a.yaml": text}).splitlines()
    start = shown[3].index(" HERE") + 1
    assert shown[4].index("^") == start
    assert shown[4].count("^") == len("HERE")
    assert len(shown[3]) < 160


@pytest.mark.parametrize(
    ("spec", "stable"),
    [
        ({"traffic": [{"revisionName": "iris-predictor-00aa11bb22"}]}, "iris-predictor-00aa11bb22"),
        ({"traffic": [{"revisionName": 5}], "template": {"metadata": {"name": "iris-predictor-00aa11bb22"}}}, ""),
        ({"traffic": 5, "template": {"metadata": {"name": "iris-predictor-00aa11bb22"}}}, "iris-predictor-00aa11bb22"),
        ({"traffic": ["x", None], "template": [5]}, ""),
        ("x", ""),
        (None, ""),
    ],
)
def test_an_old_tree_that_was_spoilt(spec: Any, stable: str) -> None:
    """A stable revision is only what is a name; else it is looked for elsewhere, or refused."""
    assert last_stable({"spec": spec}) == stable
    old = {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "iris-predictor", "namespace": "ml"},
        "spec": spec,
    }
    service = STOPPED.replace("Standard", "Knative").partition("    resourceClaims")[0]
    service += "    canaryTrafficPercent: 10\n    model: {modelFormat: {name: sklearn}, storageUri: s3://models/iris}\n"
    target = Target(previous=[File("old.yaml", libyaml.dump(old).encode())], names_revisions=True)
    compiled = compile_text(service, target=target)
    assert compiled.ok is bool(stable)
    assert compiled.ok or "knative/numbered-revision" in {d.code.slug for d in compiled.diagnostics}


NAMELESS = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  predictor:
    model:
      modelFormat: {name: sklearn}
      storageUri: s3://models/iris
      volumeMounts: [{name: cache, mountPath: /cache}]
    containers: [{name: side, image: "side:1", volumeMounts: [{name: spool, mountPath: /spool}]}]
    initContainers: [{name: first, image: "first:1"}]
    volumes: [{name: cache, emptyDir: {}}, {name: spool, emptyDir: {}}]
"""


@pytest.mark.parametrize(
    ("written", "slug", "line"),
    [
        ("cache, mountPath", "pod/no-volume", 9),
        ("spool, mountPath", "pod/no-volume", 10),
        ("side, image", "pod/invalid-name", 10),
        ("first, image", "pod/invalid-name", 11),
        ("spool, emptyDir", "pod/invalid-name", 12),
    ],
)
def test_an_empty_name_in_a_pod(written: str, slug: str, line: int) -> None:
    """It is no name that is missing: an API server's refusal is told where the empty one stands."""
    assert compile_text(NAMELESS).ok
    name, _, beside = written.partition(",")
    found = compile_text(NAMELESS.replace(f"{name},{beside}", f'"",{beside}')).diagnostics
    assert (slug, line) in {(d.code.slug, d.span.line) for d in found if d.span}


@pytest.mark.parametrize("number", ["1e308", "-1e305"])
def test_a_number_that_is_no_quantity(number: str) -> None:
    """What is no quantity as a text is none as a number: GPUs were counted before anybody had looked."""
    asked = f"        resources: {{requests: {{nvidia.com/gpu: {number}}}}}\n"
    text = NAMELESS.replace("      storageUri: s3://models/iris\n", f"      storageUri: s3://models/iris\n{asked[2:]}")
    (found,) = compile_text(text).diagnostics
    assert found.code.slug.startswith("schema/")
    assert found.span is not None
    assert found.span.line == 9


def test_a_kind_of_kubernetes_in_another_group_says_nothing_of_the_cluster() -> None:
    """It may be of any shape."""
    odd = "apiVersion: example.com/v1\nkind: ServiceAccount\nmetadata: {name: default, namespace: ml}\nsecrets: s\n"
    plain = NAMELESS.encode()
    made = compile_files([File("a.yaml", plain)], target=Target(platform=[File("odd.yaml", odd.encode())]))
    assert made.yaml == compile_text(NAMELESS).yaml
