"""The deep merge of canaries: which of two values wins."""

from __future__ import annotations

import copy

import pytest

from kservec.core.pods.deep_merge import deep_merge

CASES = {
    "a scalar of the override wins": ({"a": 1, "b": 2}, {"a": 3}, {"a": 3, "b": 2}),
    "a new field is taken": ({}, {"a": 1}, {"a": 1}),
    "structs merge field by field": (
        {"model": {"modelFormat": {"name": "sklearn", "version": "1"}}},
        {"model": {"modelFormat": {"name": "xgboost"}}},
        {"model": {"modelFormat": {"name": "xgboost", "version": "1"}}},
    ),
    "false cannot replace true": (
        {"securityContext": {"runAsNonRoot": True}},
        {"securityContext": {"runAsNonRoot": False}},
        {"securityContext": {"runAsNonRoot": True}},
    ),
    "false is kept where there was nothing": (
        {},
        {"automountServiceAccountToken": False},
        {"automountServiceAccountToken": False},
    ),
    "true replaces false": ({"hostNetwork": False}, {"hostNetwork": True}, {"hostNetwork": True}),
    "zero cannot replace a number": (
        {"terminationGracePeriodSeconds": 30},
        {"terminationGracePeriodSeconds": 0},
        {"terminationGracePeriodSeconds": 30},
    ),
    "an empty text cannot replace a text": ({"priorityClassName": "online"}, {"priorityClassName": ""}, None),
    "a list replaces a list as a whole": (
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"env": [{"name": "A", "value": "3"}]},
        {"env": [{"name": "A", "value": "3"}]},
    ),
    "an empty list cannot replace a list": ({"args": ["--x"]}, {"args": []}, None),
    "an empty struct changes nothing": ({"affinity": {"nodeAffinity": {}}}, {"affinity": {}}, None),
    "labels merge by key": ({"labels": {"a": "1", "b": "2"}}, {"labels": {"b": "3"}}, {"labels": {"a": "1", "b": "3"}}),
    "an empty entry of a map wins": (
        {"nodeSelector": {"pool": "gpu"}},
        {"nodeSelector": {"pool": ""}},
        {"nodeSelector": {"pool": ""}},
    ),
    "quantities merge by resource, and zero wins": (
        {"resources": {"limits": {"cpu": "2", "memory": "2Gi"}}},
        {"resources": {"limits": {"cpu": "0"}}},
        {"resources": {"limits": {"cpu": "0", "memory": "2Gi"}}},
    ),
    "parameters of a storage spec merge by key": (
        {"storage": {"parameters": {"type": "s3", "bucket": "a"}}},
        {"storage": {"parameters": {"bucket": "b"}}},
        {"storage": {"parameters": {"type": "s3", "bucket": "b"}}},
    ),
    "a struct is taken whole where there was none": (
        {"model": {}},
        {"model": {"storage": {"key": "warehouse"}}},
        {"model": {"storage": {"key": "warehouse"}}},
    ),
    "null changes nothing": ({"runtimeClassName": "nvidia"}, {"runtimeClassName": None}, None),
    "a value replaces null": ({"hostname": None}, {"hostname": "scorer"}, {"hostname": "scorer"}),
}


@pytest.mark.parametrize(("base", "override", "expected"), CASES.values(), ids=CASES.keys())
def test_merge(base, override, expected):
    """Each pair merges as mergo does it with Go's types; None stands for the base, unchanged."""
    assert deep_merge(base, override) == (base if expected is None else expected)


@pytest.mark.parametrize(("base", "override", "expected"), CASES.values(), ids=CASES.keys())
def test_arguments_stay(base, override, expected):
    """Neither value is changed by the merge."""
    del expected
    before = copy.deepcopy((base, override))
    deep_merge(base, override)
    assert (base, override) == before
