"""What is reported: waivers, objects that were changed after they were compiled, and quotas of namespaces."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.api import Target, compile_text
from kservec.core.additions import Additions
from kservec.core.diagnostics import ObjectRef, Severity, Span
from kservec.core.policy import Policy, Waiver
from kservec.gitops.rendered import Rendered
from kservec.io.reading import File
from kservec.policy.verdicts import Verdicts, verdicts
from kservec.policy.waivers import Excuse, excused, waiver_findings

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: own
  namespace: ml
  annotations:
    serving.kserve.io/deploymentMode: Standard
    ANNOTATION: "REASON"
spec:
  predictor:
    minReplicas: 2
    maxReplicas: 4
    containers:
      - name: kserve-container
        image: registry.example.com/own:latest
        resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2", memory: 2Gi}}
"""
TAG = "policy/image-tag"
REF = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "ml", "own")


def judged(
    policy: Policy,
    *,
    annotation: tuple[str, str] = ("serving.kserve.io/stop", "false"),
    platform: str = "",
    **edit: str,
) -> Verdicts:
    """The verdicts about a service, in whose rendered objects texts were replaced by others."""
    target = Target(
        additions=Additions(policy=policy), platform=[File("platform.yaml", platform.encode())] if platform else []
    )
    text = SERVICE.replace("ANNOTATION", annotation[0]).replace("REASON", annotation[1])
    compilation = compile_text(text, name="own.yaml", target=target)
    assert compilation.ok, compilation.diagnostics
    objects = tuple(o._replace(text=replaced(o.text, edit)) for o in compilation.objects)
    assert compilation.result.judge is not None
    return verdicts(compilation.result.judge, objects, lambda waiver: Span("kservec.yaml", 1 + len(waiver.at)))


def replaced(text: str, edit: dict[str, str]) -> str:
    """A text with others in place of parts; underscores stand for what a name in Python cannot have."""
    for old, new in edit.items():
        text = text.replace(f":{old}", f":{new}")
    return text


def slugs(found: Verdicts) -> list[str]:
    """The codes of what is reported."""
    return [d.code.slug for d in found.diagnostics]


def test_a_finding_names_the_line_of_the_input() -> None:
    """And the user's object."""
    (found,) = judged(Policy()).diagnostics
    assert (found.code.slug, found.code.severity, found.subject) == (TAG, Severity.WARNING, REF)
    assert found.span is not None
    assert (found.span.file, found.span.line, found.span.column) == ("own.yaml", 15, 16)


def test_severities_are_the_projects() -> None:
    """An error, or nothing at all."""
    (found,) = judged(Policy(severities={TAG: Severity.ERROR})).diagnostics
    assert found.is_error
    assert judged(Policy(severities={TAG: None})).diagnostics == ()


@pytest.mark.parametrize(
    ("named", "is_excused"),
    [
        ("InferenceService ml/own", True),
        ("Deployment ml/own-predictor", True),
        ("Deployment ml/*", True),
        ("* ml/own", True),
        ("*", True),
        ("Deployment ml/own", False),
        ("InferenceService lab/own", False),
        ("InferenceService ml/o.n", False),
    ],
)
def test_waivers_of_the_project(named: str, is_excused: bool) -> None:
    """They name the rendered object or the one that it is made of, exactly or with stars."""
    waiver = Waiver(TAG, named, "a test", at=("policy",))
    found = judged(Policy(waivers=(waiver,)))
    assert (slugs(found) == []) is is_excused
    (excuse,) = found.excuses
    assert excuse[:3] == (waiver, Span("kservec.yaml", 2), is_excused)
    assert [(d.code.slug, d.subject) for d in excuse.found] == ([(TAG, REF)] if is_excused else [])


def test_waivers_of_the_object() -> None:
    """An annotation says the reason, and an end if it has one; it is rendered nowhere."""
    found = judged(Policy(), annotation=("kservec.dev/waive.image-tag", "until 2027-01-31: a test"))
    assert found.diagnostics == ()
    (excuse,) = found.excuses
    assert (excuse.used, excuse.waiver.reason, excuse.waiver.expires) == (True, "a test", "2027-01-31")
    assert excuse.span is not None
    assert excuse.span.line == 8


def test_objects_that_may_not_excuse_themselves() -> None:
    """The annotation is an error then."""
    target = Target(additions=Additions(policy=Policy(annotations_waive=False)))
    text = SERVICE.replace("ANNOTATION", "kservec.dev/waive.image-tag").replace("REASON", "a test")
    found = compile_text(text, target=target).diagnostics
    assert [d.code.slug for d in found if d.is_error] == ["policy/waiver-invalid"]


def test_what_a_patch_mends_is_not_reported() -> None:
    """An object that was changed after it was compiled is judged by what it is now."""
    assert judged(Policy(), latest="v1").diagnostics == ()


def test_what_a_patch_leaves_is_where_it_was() -> None:
    """A finding that is still true keeps its place in the input."""
    (found,) = judged(Policy()).diagnostics
    assert found.span is not None
    assert found.span.line == 15
    (again,) = judged(Policy(), **{" registry.example.com/own": " registry.example.com/other"}).diagnostics
    named = "Deployment ml/own-predictor, container kserve-container"
    assert again.message == f"{named}: image registry.example.com/other:latest has the tag latest"
    assert again.span == found.span


def test_what_a_patch_adds_is_found() -> None:
    """Where that comes from nobody knows here."""
    found = judged(Policy(), **{" IfNotPresent\n": " IfNotPresent\n        args: [--trust-remote-code]\n"})
    assert slugs(found) == [TAG, "policy/trust-remote-code-unpinned"]
    assert found.diagnostics[1].span is None


def test_objects_that_were_not_compiled_are_judged() -> None:
    """Plain manifests are held against the same rules."""
    compilation = compile_text(SERVICE, target=Target(additions=Additions(policy=Policy())))
    assert compilation.result.judge is not None
    ref = ObjectRef("policy/v1beta1", "PodDisruptionBudget", "ml", "own")
    text = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: own, namespace: ml}\n"
    plain, delivered = Rendered(ref, text, ref), Rendered(ref, text, ref, place="_gitops/flux")
    found = verdicts(compilation.result.judge, (plain, delivered), lambda _waiver: None)
    assert slugs(found) == ["policy/api-not-served"]


def quota(**hard: str) -> str:
    """A ResourceQuota; underscores stand for dots."""
    limits = "".join(f'    {name.replace("_", ".")}: "{amount}"\n' for name, amount in hard.items())
    return f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: q, namespace: ml}}\nspec:\n  hard:\n{limits}"


OFF: dict[str, Any] = {"severities": {TAG: None}}


@pytest.mark.parametrize(
    ("hard", "expected"),
    [
        ({"cpu": "4"}, []),
        ({"cpu": "3"}, ["policy/quota-at-max"]),
        ({"requests_cpu": "1500m"}, ["policy/quota-exceeded"]),
        ({"limits_memory": "8Gi", "pods": "4"}, []),
        ({"limits_memory": "7Gi", "pods": "1"}, ["policy/quota-at-max", "policy/quota-exceeded"]),
        ({"requests_storage": "1Gi", "services": "1"}, []),
        ({"ephemeral-storage": "1Gi"}, ["policy/quota-unstated"]),
    ],
)
def test_quotas(hard: dict[str, str], expected: list[str]) -> None:
    """The fewest and the most replicas of the autoscaler, times what each pod asks for."""
    found = judged(Policy(**OFF), platform=quota(**hard))
    assert slugs(found) == expected
    assert {d.span.file for d in found.diagnostics if d.span} <= {"platform.yaml", "own.yaml"}


def test_a_quota_for_some_pods_is_passed_over() -> None:
    """Which pods it counts is not known."""
    text = quota(cpu="1").replace("spec:\n", "spec:\n  scopes: [BestEffort]\n")
    assert judged(Policy(**OFF), platform=text).diagnostics == ()


def test_a_waived_quota() -> None:
    """The quota itself is the object then."""
    waiver = Waiver("policy/quota-exceeded", "ResourceQuota ml/q", "it is raised next week")
    assert judged(Policy(**OFF, waivers=(waiver,)), platform=quota(cpu="1")).diagnostics == ()


@pytest.mark.parametrize(
    ("several", "today", "whole", "expected"),
    [
        ([[True]], "2027-01-31", True, []),
        ([[True]], "2027-02-01", True, ["policy/waiver-expired"]),
        ([[True]], "", True, []),
        ([[False]], "2027-01-01", True, ["policy/waiver-unused"]),
        ([[False]], "2027-01-01", False, []),
        ([[False], [True]], "2027-01-01", True, []),
        ([[False]], "2027-02-01", True, ["policy/waiver-expired"]),
    ],
)
def test_waivers_over_several_environments(
    several: list[list[bool]], today: str, whole: bool, expected: list[str]
) -> None:
    """One that any environment needs is needed; one that has expired is named once."""
    waiver = Waiver(TAG, "*", "a test", "2027-01-31")
    excuses = [[Excuse(waiver, None, used=used) for used in environment] for environment in several]
    assert [d.code.slug for d in waiver_findings(excuses, today, whole=whole)] == expected


def test_the_first_waiver_that_fits_counts() -> None:
    """So that one of two alike is told to be unused."""
    waivers = [Waiver(TAG, "Deployment *", "no"), Waiver("policy/x", "*", "no"), Waiver(TAG, "*", "yes")]
    assert excused(waivers, TAG, [REF]) == waivers[2]
