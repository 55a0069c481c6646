"""What is declared and broken explains why it is missing; everything else that is missing is still reported."""

from __future__ import annotations

import pytest

from kservec.api import Target, compile_files
from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.io.reading import File

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: fraud
  namespace: payments
  annotations: {serving.kserve.io/deploymentMode: Standard}
spec:
  predictor:
    serviceAccountName: reader
    model:
      modelFormat: {name: sklearn}
      storageUri: s3://models/fraud
"""
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: reader, namespace: payments}\nsecrets: [{name: s3}]\n"
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: s3, namespace: payments}\nstringData: {a: b}\n"  # noqa: S105 - a document
EXTERNAL = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: s3, namespace: payments}\n"
NOT_DECLARED = "secret/not-declared"


def codes(*platform: str | bytes | File) -> list[str]:
    """The codes of the errors of a run with the account and further platform files."""
    files = [p if isinstance(p, File) else File(f"{i}.yaml", as_bytes(p)) for i, p in enumerate(platform)]
    compilation = compile_files(
        [File("in.yaml", SERVICE.encode())], target=Target(platform=[File("account.yaml", ACCOUNT.encode()), *files])
    )
    return [d.code.slug for d in compilation.diagnostics if d.is_error]


def as_bytes(text: str | bytes) -> bytes:
    """The content of a file."""
    return text.encode() if isinstance(text, str) else text


BROKEN = {
    "a field that does not exist": (SECRET.replace("stringData", "strinData"), "schema/unknown-field"),
    "a value that is no base64": (SECRET.replace("stringData", "data"), "secret/not-base64"),
    "text that is not YAML": (SECRET.replace("{a: b}", '{a: "b'), "yaml/unclosed"),
    "text that is a template": (SECRET.replace("{a: b}", "{{ .Values.secret }}"), "yaml/template"),
    "another encoding": (SECRET.encode("utf-16"), "yaml/not-utf8"),
    "a misspelt kind": (SECRET.replace("kind: Secret", "kind: Secrt"), "schema/unknown-kind"),
    "a Cluster document with a mistake": (
        "apiVersion: kservec.dev/v1alpha1\nkind: Cluster\nsecret: [{name: s3, namespace: payments}]\n",
        "schema/unknown-field",
    ),
    "an ExternalSecret with a mistake": (
        f"{EXTERNAL}spec: {{a: 1}}\n",
        "schema/unknown-field",
    ),
    "a file that could not be read": (
        File(
            "x.yaml",
            b"",
            Diagnostic(code=Code("input/unreadable", Severity.ERROR, ""), message="", span=Span("x.yaml")),
        ),
        "input/unreadable",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_secret_is_not_called_undeclared(what: str) -> None:
    """One mistake gives one kind of error."""
    document, code = BROKEN[what]
    assert set(codes(document)) == {code}


OTHERS = {
    "nothing": (),
    "a broken Secret of another name": (SECRET.replace("name: s3", "name: s4").replace("stringData", "strinData"),),
    "a broken Secret of another namespace": (SECRET.replace(": payments", ": crm").replace("stringData", "strinData"),),
    "a broken object of another kind": (SECRET.replace("kind: Secret", "kind: ConfigMap").replace("{a: b}", "[["),),
    "a text that does not name it": (SECRET.replace("name: s3", "name: s33").replace("{a: b}", '{a: "b'),),
    "a broken document beside it": (f"{ACCOUNT.replace('reader', 'other')}---\na: [\n",),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_nothing_declares_is_reported_whatever_else_is_broken(what: str) -> None:
    """Mistakes elsewhere hide nothing."""
    assert NOT_DECLARED in codes(*OTHERS[what])


def test_the_weaker_one_does_not_take_the_place_of_a_broken_one() -> None:
    """A service is not judged by the built-in runtime that a broken one of the same name was to replace."""
    runtime = (
        "apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\nmetadata: {name: kserve-sklearnserver}\n"
    )
    service = SERVICE.replace("    serviceAccountName: reader\n", "").replace(
        "sklearn}", "own}\n      runtime: kserve-sklearnserver"
    )
    files = [File("in.yaml", f"{service}---\n{runtime}spec: {{contaners: []}}\n".encode())]
    errors = [d for d in compile_files(files).diagnostics if d.is_error]
    assert {d.code.slug for d in errors} <= {"schema/unknown-field", "schema/required"}
