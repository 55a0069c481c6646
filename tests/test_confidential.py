"""What of input files may be shown in reports: no value of a Secret, whatever state the file is in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kservec.api import compile_files
from kservec.core.text import confidential
from kservec.core.text.confidential import showable
from kservec.io.reading import File

if TYPE_CHECKING:
    from collections.abc import Callable

OTHER = "apiVersion: v1\nkind: ConfigMap\ndata: {open: fine}\n"


@pytest.mark.parametrize(
    "secret",
    [
        "apiVersion: v1\nkind: Secret\ndata:\n  token: hush\n",
        "kind: Secret\nstringData: {token: hush, other: hush}\n",
        "stringData:\n  key.json: |\n    {\n      hush\n    }\n    a: hush\nkind: 'Secret'\n",
        '{"kind": "Secret", "data": {"token": "hush"}}\n',
        '{\n"apiVersion": "v1", "kind":"Secret",\n"data": {\n"token":\n"hush"\n}}\n',
        "kind: Secret\ndata:\n  token: 'hush\n broken: [hush\n",
        "kind: List\nitems:\n- kind: Secret\n  data: {token: hush}\n- kind: ConfigMap\n",
        "kind: SecretList\nitems:\n- data: {token: hush}\n",
        "kind: Cluster\nsecrets:\n- name: a\n  settings: {password: hush}\n",
        "kind: Cluster\nclusterDomain: x\nsecrets: [{name: a, settings: {password: hush}}]\n",
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_no_value_of_a_secret_is_shown(secret: str, ending: str) -> None:
    """Values are hidden in every spelling of a Secret; lines and other documents stay as they are."""
    text = f"{OTHER}---\n{secret}---\n{OTHER}".replace("\n", ending)
    shown = showable(text)
    assert "hush" not in shown
    assert len(shown.splitlines()) == len(text.splitlines())
    assert shown.count("open: fine") == 2


@pytest.mark.parametrize(
    "text",
    [
        OTHER,
        "kind: ServiceAccount\nsecrets: [{name: a}]\n",
        "kind: ExternalSecret\nspec: {data: []}\n",
        "kind: InferenceService\nspec: {predictor: {}}\n",
        "",
    ],
)
def test_other_documents_are_shown_as_they_are(text: str) -> None:
    """Only Secrets are confidential."""
    assert showable(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "kind: Secert\ndata:\n  a: hush\n",
        "kind Secret\nmetadata: {name: a}\ndata:\n  a: hush\n",
        "kind:Secret\ndata:\n  a: hush\n",
        "apiVersion: v1\ndata:\n  a: hush\n",
        "apiVersion: v1\nstringData:\n  a: hush\n",
        "kind: Thing\ntype: Opaque\ndata:\n  a: hush\n",
        "kind: Secret\nstringData:\n  key: |\n-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----\n",
        "kind: Secret\nstringData:\n  name: hush\n  hush: 1\nhush\n",
    ],
)
def test_a_broken_secret_is_hidden_too(text: str) -> None:
    """A kind that is misspelt or missing, or text in the wrong column, does not uncover a value."""
    assert "hush" not in showable(text)


@pytest.mark.parametrize(
    "line",
    [
        "  password: hush",
        "  password hush",
        "  db-password: 'hush'",
        "  clientSecret: hush",
        "  hf_token: hush",
        '  "apiKey": "hush",',
        "  AWS_SECRET_ACCESS_KEY=hush",
        "  args: [--token=hush]",
        "  url: postgres://reader:hush@db/models",
        "  Authorization: Bearer hush",
        "  -----BEGIN RSA PRIVATE KEY----- hush",
        "  aHVzaGh1c2hodXNoaHVzaGh1c2hodXNoaHVzaGh1c2hodXNoaHVzaA== ".replace("aHVz", "hush"),
        "  - {name: DB_PASSWORD, value: hush}",
    ],
)
def test_a_line_with_a_credential_is_hidden_wherever_it_stands(line: str) -> None:
    """Config maps and specs may hold credentials as well: their lines are not shown."""
    shown = showable(f"kind: ConfigMap\ndata:\n{line}\n  open: fine\n")
    assert shown == "kind: ConfigMap\ndata:\n(not shown)\n  open: fine\n"


@pytest.mark.parametrize("variable", ["- name: DB_PASSWORD\n  value: hush\n", "- value: hush\n  name: DB_PASSWORD\n"])
def test_the_value_of_a_variable_that_is_named_like_a_credential_is_hidden(variable: str) -> None:
    """The name of a variable and its value stand on lines of their own."""
    assert "hush" not in showable(f"kind: Pod\nspec:\n  env:\n{variable}")


@pytest.mark.parametrize(
    "line",
    [
        "  serviceAccountName: reader",
        "  serving.kserve.io/storageSecretName: s3",
        "  secretName: s3",
        "  automountServiceAccountToken: true",
        '  automountServiceAccountToken: "yes"',
        "  - some-argument-that-is-longer-than-forty-characters",
        "  secretKeyRef: {name: s3, key: user}",
        "  credentials: |-",
        '  "s3AccessKeyIDName": "AWS_ACCESS_KEY_ID",',
        '  "s3SecretAccessKeyName": "AWS_SECRET_ACCESS_KEY",',
        "  secret: {secretName: s3}",
        "  imagePullSecrets: [{name: s3}]",
        "  - name: AWS_ACCESS_KEY_ID",
        "  storageUri: s3://models/tokens/v7",
        "  value: plain",
    ],
)
def test_names_of_credentials_are_shown(line: str) -> None:
    """Where a Secret is, and what its keys are called, is no secret."""
    assert line in showable(f"kind: InferenceService\nspec:\n{line}\n")


def test_a_cluster_document_hides_its_secrets_only() -> None:
    """Mistakes in the rest of a Cluster document are shown with their lines."""
    shown = showable("kind: Cluster\nsecrets:\n- name: a\nclusterdomain: x\n")
    assert shown == "kind: Cluster\nsecrets:\n(not shown)\nclusterdomain: x\n"


def test_another_encoding_does_not_uncover_a_secret() -> None:
    """What is shown of a file that is UTF-16 is hidden like any other."""
    text = '{"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "hush"}}'
    compilation = compile_files([File("secret.json", text.encode("utf-16"))])
    assert [d.code.slug for d in compilation.diagnostics] == ["yaml/not-utf8"]
    assert "hush" not in compilation.sources["secret.json"]


@settings(max_examples=300)
@given(st.one_of(st.from_regex(shape) for shape in confidential._TOKENS.values()))
def test_every_shape_of_a_credential_is_seen(text: str) -> None:
    """The quick look at what may be one passes over none."""
    assume(not {"\n", "\r"} & set(text))
    assert confidential._find_token(text)
    assert "(not shown)" in showable(f"kind: A\nwhat: {text} \n")


NAMES = ["password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential", "credentials"]
KEYS = [f"{of}{by}key" for of in ("api", "access", "private", "secret", "account", "signing") for by in ("", "-", "_")]
ODD = {"s": "\u017f", "k": "\u212a", "i": "\u0131"}
"""Letters that are the same as others to whoever does not look at upper and lower case."""


@pytest.mark.parametrize("name", [*NAMES, "authorization", "bearer", *KEYS])
@pytest.mark.parametrize("change", [str.lower, str.upper, str.capitalize, lambda n: n.translate(str.maketrans(ODD))])
def test_every_name_of_a_credential_is_seen(name: str, change: Callable[[str], str]) -> None:
    """In upper and lower case, and with the letters that count as the same."""
    assert "hush" not in showable(f"kind: A\n  {change(name)}: hush\n")
    assert "hush" not in showable(f"kind: A\n- name: {change(name)}\n  value: hush\n")
