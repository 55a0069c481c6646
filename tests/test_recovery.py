"""Recovery: what is left of a refused unit is looked at, and counts for nothing else."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest

from kservec import File, Target, compile_files, compile_text, pipeline, recovery
from kservec.core.diagnostics import Code, Diagnostic, Needed, Reject, Severity, Span
from kservec.core.unit import Step
from kservec.frontend import merged
from kservec.pipeline import ADDITIONS, PASSES, POD_ADDITIONS, errors_in, pass_of
from kservec.recovery import APART, ATTACHING, CONFINED, OPTIONAL, SHAPING, WISHES, errors_of, overlap
from kservec.workshop import alone

from .test_codes import CODES
from .test_frontend import front

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.pipeline import Work
    from kservec.workshop import Made, Workshop

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: fraud, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  predictor:
    minReplicas: 3
    maxReplicas: 1
    containers: [{name: kserve-container, image: "registry.example.com/fraud:1"}]
  transformer:
    containers:
      - name: kserve-container
        image: registry.example.com/features:1
        env: [{name: STORAGE_URI, value: "ftp://models/words"}]
"""
GRAPH = """\
---
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {name: path, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec: {nodes: {root: {routerType: Sequence, steps: [{serviceName: fraud}]}}}
"""
PLAIN = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: fraud, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  predictor:
    model: {modelFormat: {name: sklearn}, storageUri: s3://models/fraud}
"""
ADMITTED = SERVICE.replace("minReplicas: 3", "minReplicas: 1")
OF_ADMISSION, OF_A_PASS = "scaling/min-above-max", "storage/unknown-scheme"
HERE, THERE = Span("a.yaml", 1, 1, 1, 9), Span("a.yaml", 3, 1, 3, 9)


def wrong(place: Span | None = HERE, *missing: str) -> Diagnostic:
    """An error at a place, about missing objects."""
    code = Code("some/thing", Severity.ERROR, "some thing")
    return Diagnostic(
        code=code, message="wrong", span=place, rests_on=tuple(Needed("Secret", "ml", m) for m in missing)
    )


def slugs(text: str) -> list[str]:
    """The codes of what is found in a text."""
    return sorted(d.code.slug for d in compile_text(text).diagnostics)


def test_a_service_that_admission_refuses_is_looked_at_and_no_more() -> None:
    """Its passes find what else is wrong, and all is said in one run. It is no unit that others could see."""
    begun = front(SERVICE)
    assert begun.units == ()
    (refused,) = begun.faulty
    assert [d.code.slug for d in refused.diagnostics] == [OF_ADMISSION]
    assert errors_in(refused.unit, begun.env, refused.diagnostics)[0].code.slug == OF_A_PASS
    assert slugs(SERVICE) == [OF_ADMISSION, OF_A_PASS]


@pytest.mark.parametrize("is_moved", [True, False], ids=["moved", "not moved"])
def test_a_refused_service_is_looked_at_for_the_platform_that_it_is_compiled_for(is_moved: bool) -> None:
    """Where an upgrade is under way it is looked at once, for what it has or for what comes."""
    now, then = front(SERVICE), front(SERVICE)
    moved = frozenset(step.unit.ref for step in then.faulty if is_moved)
    both = merged(now, then, moved, is_all=False)
    assert both.faulty == (then if is_moved else now).faulty
    assert both.env_of(both.faulty[0].unit.ref) is (then if is_moved else now).env


@pytest.mark.parametrize("text", [SERVICE, ADMITTED], ids=["admission", "a pass"])
def test_a_graph_keeps_silent_about_a_service_that_was_refused(text: str) -> None:
    """Neither that it is missing nor that it cannot be called follows from its errors."""
    assert not [slug for slug in slugs(text + GRAPH) if slug.startswith("graph/")]


def test_a_graph_that_admission_refuses_is_looked_at_among_the_services_of_the_run() -> None:
    """Services that it does not find are told of, beside steps that lead nowhere; a node that is meant is looked at."""
    graph = """\
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {name: path, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  nodes:
    root: {routerType: Sequence, steps: [{serviceName: fraud}, {nodeName: chose}, {nodeName: nowhere}]}
    choose: {routerType: Switch, steps: [{condition: $.a, serviceName: absent}]}
"""
    expected = ["graph/condition-syntax", "graph/service-not-found", "graph/unknown-node", "graph/unknown-node"]
    sound = SERVICE.replace("minReplicas: 3", "minReplicas: 1").replace("ftp:", "s3:")
    assert slugs(f"{sound}---\n{graph}") == expected
    assert slugs(f"{SERVICE}---\n{graph}") == sorted([*expected, OF_ADMISSION, OF_A_PASS])


def test_whoever_does_the_work_finds_the_same() -> None:
    """What is found afterwards comes through a pipe, and comes once."""

    def through_a_pipe(workshop: Workshop) -> Iterator[list[Made]]:
        for made in alone(workshop):
            assert all(not one.objects for one in made)
            yield pickle.loads(pickle.dumps(made))  # noqa: S301 - our own

    files = [File("a.yaml", (ADMITTED + "---\n" + SERVICE.replace("fraud", "other") + GRAPH).encode())]
    other = compile_files(files, target=Target(), crew=through_a_pipe)
    assert other.diagnostics == compile_files(files, target=Target()).diagnostics
    assert not other.objects


def test_what_a_pass_stumbles_over_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that cannot do with what is left of a unit ends the recovery, and what was found until then counts."""
    (unit,), env = front(ADMITTED).units, front(ADMITTED).env

    def refusing(unit: Unit, env: Env) -> Step:
        del unit, env
        raise Reject(wrong())

    def stumbling(unit: Unit, env: Env) -> Step:
        del unit, env
        raise KeyError("containers")

    works = [("expose", refusing), ("render_workloads", stumbling), ("seal", refusing)]
    with pytest.raises(KeyError):
        errors_of(unit, works, env)
    monkeypatch.setattr(recovery, "STUMBLES", (Exception,))
    assert errors_of(unit, works, env) == (wrong(),)


@pytest.mark.parametrize(
    ("spoilt", "refusing", "again"),
    [
        (("storageUri: s3:", "storageUri: ftp:"), "attach_models", 2),
        (("model:", "dnsPolicy: Nowhere\n    model:"), "seal", 0),
    ],
    ids=["raised", "returned"],
)
def test_what_is_known_of_a_unit_is_not_looked_for_again(
    spoilt: tuple[str, str], refusing: str, again: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The passes before the one that refuses a unit are through, and what that returned is known. Others are tried."""
    ran: list[str] = []

    def counted(name: str) -> Work:
        def work(unit: Unit, env: Env) -> Step:
            ran.append(name)
            return pass_of(name)(unit, env)

        return work

    monkeypatch.setattr(pipeline, "pass_of", counted)
    assert not compile_text(PLAIN.replace(*spoilt)).ok
    names = PASSES["InferenceService"]
    at = names.index(refusing)
    assert {name: ran.count(name) for name in names} == {**dict.fromkeys(names, 1), refusing: 1 + again}
    assert ran[: at + 1] == list(names[: at + 1])


@pytest.mark.parametrize(
    ("later", "counts"),
    [
        (wrong(THERE), True),
        (wrong(HERE), False),
        (wrong(Span("a.yaml", 1, 4, 1, 6)), False),
        (wrong(Span("a.yaml", 1, 1, 9, 1)), False),
        (wrong(None), False),
        (wrong(THERE, "other"), True),
        (wrong(THERE, "token"), False),
    ],
)
def test_a_later_error_counts_if_it_is_one_of_its_own(later: Diagnostic, counts: bool) -> None:
    """It is not about a place that an earlier one is about, nor about an object that an earlier one misses."""
    (unit,), env = front(ADMITTED).units, front(ADMITTED).env
    earlier = wrong(HERE, "token")
    works = [("claim_copies", lambda u, _: Step(u, (earlier,))), ("seal", lambda u, _: Step(u, (later, later)))]
    assert errors_of(unit, works, env) == ((earlier, later) if counts else (earlier,))


def test_places_without_lines_overlap_with_all_of_their_file() -> None:
    """Where the line is not known it may be any."""
    assert overlap(HERE, Span("a.yaml"))
    assert not overlap(HERE, Span("b.yaml"))


def test_the_tables_name_passes_and_codes() -> None:
    """Nothing in them is left from what was renamed."""
    passes = {*ADDITIONS, *POD_ADDITIONS, *(name for names in PASSES.values() for name in names)}
    named = {*WISHES, *APART, *OPTIONAL, *SHAPING, *ATTACHING, *(name for names in CONFINED.values() for name in names)}
    assert named <= passes
    assert WISHES.keys() <= APART
    errors = [code.slug for code, _ in CODES if code.severity is Severity.ERROR]
    assert [start for start in CONFINED if not any(slug.startswith(start) for slug in errors)] == []


def test_what_pods_lack_counts_but_for_the_component_that_nothing_was_attached_to() -> None:
    """The volume of a model that cannot be had is missed by nobody; others miss what they miss by themselves."""
    mount = 'image: "registry.example.com/fraud:1", volumeMounts: [{name: own, mountPath: /own}]'
    predictor = f'{{name: kserve-container, {mount}, env: [{{name: STORAGE_URI, value: "ftp://models/fraud"}}]}}'
    explainer = f"  explainer: {{containers: [{{name: kserve-container, {mount}}}]}}\n"
    text = f"{SERVICE[: SERVICE.index('    minReplicas')]}    containers: [{predictor}]\n{explainer}"
    found = [(d.code.slug, d.span.line) for d in compile_text(text).diagnostics if d.is_error and d.span is not None]
    assert found == [(OF_A_PASS, 6), ("pod/no-volume", 7)]
