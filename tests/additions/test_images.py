"""Images from other registries."""

from __future__ import annotations

import pytest

from kservec.core.lock import Lock
from kservec.core.pods.image_names import rewritten
from kservec.core.registry import load_plugs
from kservec.passes.pin_versions import model

RULES = {
    "docker.io/": "m.example/hub/",
    "docker.io/kserve": "m.example/kserve",
    "ghcr.io/acme/tool": "m.example/tool",
    "reg.example:5000/": "m.example/reg/",
    "quay.io/a/b:1": "m.example/b:2",
}


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("nginx", "m.example/hub/library/nginx"),
        ("nginx:1.27", "m.example/hub/library/nginx:1.27"),
        ("fluent/fluent-bit@sha256:ab", "m.example/hub/fluent/fluent-bit@sha256:ab"),
        ("kserve/agent:v1", "m.example/kserve/agent:v1"),
        ("docker.io/kserve/agent:v1", "m.example/kserve/agent:v1"),
        ("kserves/agent:v1", "m.example/hub/kserves/agent:v1"),
        ("ghcr.io/acme/tool@sha256:ab", "m.example/tool@sha256:ab"),
        ("ghcr.io/acme/tools:1", "ghcr.io/acme/tools:1"),
        ("reg.example:5000/x:1", "m.example/reg/x:1"),
        ("reg.example/x:1", "reg.example/x:1"),
        ("quay.io/a/b:1", "m.example/b:2"),
        ("localhost/x", "localhost/x"),
    ],
)
def test_the_longest_rule_counts(image: str, expected: str) -> None:
    """Rules fit full names up to the end of a part; tags and digests stay."""
    assert rewritten(image, RULES) == expected


def test_a_short_rule_fits_short_names() -> None:
    """`kserve/` is a beginning of what is written, and the longer rule of two that fit counts."""
    assert rewritten("kserve/agent:v1", {"docker.io/": "a/", "kserve/": "b/"}) == "b/agent:v1"


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("uri", "pinned"),
    [
        ("hf://acme/chat", f"hf://acme/chat:{COMMIT}"),
        ("hf://acme/chat:main", f"hf://acme/chat:{COMMIT}"),
        ("s3://models/iris", "s3://models/iris"),
        ("--serve", "--serve"),
    ],
)
def test_only_uris_with_revisions_get_a_commit(uri: str, pinned: str) -> None:
    """A lock may list what it likes: a bucket has no revisions, and what is no URI has none either."""
    assert model(uri, Lock(models={uri: COMMIT}), load_plugs()) == pinned
