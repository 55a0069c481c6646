"""What of input files may be shown in reports: no value of a Secret, whatever state the file is in."""

from __future__ import annotations

import pytest

from kservec.documents.confidential import showable

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


def test_keys_of_a_secret_stay_readable() -> None:
    """A finding about a key of a Secret can still point at it."""
    assert showable("kind: Secret\ndata:\n  token: hush\n").splitlines()[2] == "  token: (not shown)"


def test_a_cluster_document_hides_its_secrets_only() -> None:
    """Mistakes in the rest of a Cluster document are shown with their lines."""
    shown = showable("kind: Cluster\nsecrets:\n- name: a\nclusterdomain: x\n")
    assert shown == "kind: Cluster\nsecrets:\n- name: (not shown)\nclusterdomain: x\n"
