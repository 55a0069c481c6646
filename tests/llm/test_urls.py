"""Which texts Go takes for URLs."""

from __future__ import annotations

import pytest

from kservec.admission.llm.conversion import convert
from kservec.core.golang.urls import url_fault


@pytest.mark.parametrize(
    "text",
    [
        "", "models/chat", "/mnt/models", "hf://acme/chat", "hf:acme", "s3://bucket/a b", "oci://reg:5000/a:v1",
        "oci://reg:/a", "oci://[::1]:80/a", "oci://me:secret@reg/a", "hf://acme/chat%20x", "hf://ä/ö", "pvc://a?b=%zz",
        "hf://acme/{{ .Name }}", "///a:b", "<patch-me>", "hf://acme/chat@v1#top", "1hf/a",
    ],
)  # fmt: skip
def test_what_go_reads(text: str) -> None:
    """Nearly everything is a URL."""
    assert url_fault(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("oci://registry:tag", "'tag'"),
        ("oci://[::1", "bracket"),
        ("oci://[::1]x/a", "no port"),
        ("hf://{{ .Name }}/chat", "'{'"),
        ("hf://a b/c", "' '"),
        ("hf://a%20b/c", "escape"),
        ("hf://acme/100%", "%25"),
        ("hf://acme/chat#%z", "%25"),
        ("hf://m e@acme/chat", "@"),
        ("hf://m%e@acme/chat", "%25"),
        ("://acme", "colon"),
        ("1hf:acme", "scheme"),
        ("hf://acme/\n", "line breaks"),
    ],
)
def test_what_go_does_not_read(text: str, reason: str) -> None:
    """Each is refused with what is wrong with it."""
    assert reason in (url_fault(text) or "")


def test_the_case_of_a_scheme_does_not_count() -> None:
    """In services, adapters and configs of both versions; the rest of a URI stays as it is written."""
    adapters = [{"name": "sql", "uri": "S3://Bucket/A b"}, {"name": "own", "uri": "pvc://a"}]
    service = {"apiVersion": "serving.kserve.io/v1alpha2", "spec": {"model": {"uri": "HF://Acme/Chat"}}}
    assert convert(service).value["spec"] == {"model": {"uri": "hf://Acme/Chat"}}
    model = {"uri": "OCI+Native://Reg/A:V1", "lora": {"adapters": adapters}}
    old = {"apiVersion": "serving.kserve.io/v1alpha1", "spec": {"model": model}}
    assert convert(old).value["spec"]["model"] == {
        "uri": "oci+native://Reg/A:V1",
        "lora": {"adapters": [{"name": "sql", "uri": "s3://Bucket/A b"}, adapters[1]]},
    }
    assert (
        convert({**service, "spec": {"model": {"uri": "{{ .Name }}"}}}).value["spec"]["model"]["uri"] == "{{ .Name }}"
    )
