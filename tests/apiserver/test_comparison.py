"""The comparison finds what it should: these need no server."""

from __future__ import annotations

from typing import Any

import pytest

from .comparison import added, content, not_kept

WRITTEN = {"spec": {"replicas": 1, "ports": [{"port": 80}], "paused": False}}


@pytest.mark.parametrize(
    ("read", "found"),
    [
        (WRITTEN, []),
        ({"spec": {**WRITTEN["spec"], "strategy": {}}}, []),
        ({"spec": {"replicas": 1, "ports": [{"port": 80, "protocol": "TCP"}], "paused": False}}, []),
        ({"spec": {"replicas": 2, "ports": [{"port": 80}], "paused": False}}, ["spec.replicas: 1 reads 2"]),
        ({"spec": {"replicas": 1, "ports": [{"port": 80}]}}, ["spec.paused: False is gone"]),
        ({"spec": {"replicas": 1, "ports": [{"port": 80}], "paused": 0}}, ["spec.paused: False reads 0"]),
        (
            {"spec": {"replicas": 1, "ports": [{"port": 80}, {"port": 81}], "paused": False}},
            ["spec.ports: [{'port': 80}] reads [{'port': 80}, {'port': 81}]"],
        ),
    ],
)
def test_not_kept(read: Any, found: list[str]) -> None:
    """A change, a loss and a longer list are found; what the server adds to a map is not."""
    assert list(not_kept(WRITTEN, read)) == found


def test_added_at_any_depth() -> None:
    """Fields that the server fills in are found, inside of lists too, each at its top."""
    read = {"spec": {"replicas": 1, "ports": [{"port": 80, "protocol": "TCP"}], "paused": False, "strategy": {"a": 1}}}
    assert list(added(WRITTEN, read)) == ["spec.ports[0].protocol", "spec.strategy"]


def test_content_leaves_out_what_only_a_server_knows() -> None:
    """Status and the server's own metadata are no part of what is compared; labels are."""
    stored = {"metadata": {"name": "a", "uid": "1", "labels": {"b": "c"}}, "status": {}, "spec": {}}
    assert content(stored) == {"metadata": {"name": "a", "labels": {"b": "c"}}, "spec": {}}
