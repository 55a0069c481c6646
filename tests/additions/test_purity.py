"""The passes of a project are functions as well."""

from __future__ import annotations

import pytest
from tests.golden.cases import Case, cases
from tests.golden.digests import digest
from tests.golden.test_purity import outcome, units_of

from kservec.core.diagnostics import has_errors
from kservec.core.records import evolve
from kservec.pipeline import ADDITIONS, POD_ADDITIONS, pass_of, passes_of

from .test_all_cases import ALL

NAMES = (
    "graph-knative", "isvc-agent-pulls-models", "isvc-canary-two", "isvc-knative-transformer-explainer",
    "isvc-multinode-ray", "isvc-oci-modelcar", "llm-prefill-decode-leader-worker-sets", "llm-scheduler",
    "localmodelcache-node-group",
)  # fmt: skip


@pytest.mark.parametrize("case", [case for case in cases() if case.name in NAMES], ids=str)
def test_additions_are_pure(case: Case) -> None:
    """They answer the same when asked again, and change neither the unit nor the shared values."""
    units, env = units_of(case)
    env = evolve(env, additions=ALL)
    shared = digest(env)
    for unit in units:
        for name in passes_of(unit.ref.kind, env):
            before = digest(unit) if name in (*ADDITIONS, *POD_ADDITIONS) else ""
            step = outcome(pass_of(name), unit, env)
            if before:
                assert outcome(pass_of(name), unit, env) == step, f"{name} answered twice, and differently"
                assert digest(unit) == before, f"{name} changed its unit"
            if has_errors(step.diagnostics):
                break
            unit = step.unit  # noqa: PLW2901 - the fold of the pipeline
    assert digest(env) == shared, "a pass changed the values that units share"


def test_every_addition_is_a_pass() -> None:
    """The names of the table are those of files, and no pass of a project is one of every run."""
    assert all(callable(pass_of(name)) for name in (*ADDITIONS, *POD_ADDITIONS))
