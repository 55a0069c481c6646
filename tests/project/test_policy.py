"""What an environment takes from its project's policy, and how long Flux waits."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Severity
from kservec.core.policy import Policy
from kservec.project.gitops import FluxSettings, GitOpsSettings
from kservec.project.policy import sync_timeout
from kservec.project.reading import read_project

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
security: {podSecurity: baseline}
policy:
  rules: {policy/image-tag: error, policy/image-digest: warning, policy/gpu-fit: off}
  podSecurity: {namespaces: {a: baseline, b: baseline}}
  maxRestarts: 5
  maxGpus: 8
  waivers: [{code: policy/image-tag, object: "*", reason: all}]
environments:
  dev: {}
  prod:
    security: {podSecurity: restricted}
    policy:
      rules: {policy/image-tag: "off", policy/gpu-fit: error}
      podSecurity: {level: privileged, namespaces: {b: restricted}}
      maxRestarts: 0
      annotationWaivers: false
      waivers: [{code: policy/gpu-fit, object: Deployment a/b, reason: own, expires: 2027-01-31}]
"""


def policies() -> tuple[Policy, Policy]:
    """The policies of the two environments."""
    project, found = read_project(PROJECT.encode(), "kservec.yaml")
    assert project is not None, found
    dev, prod = project.environments.values()
    return dev.policy, prod.policy


def test_rules_of_an_environment_win() -> None:
    """Each for itself; those of the project hold for the rest."""
    dev, prod = policies()
    digest = {"policy/image-digest": Severity.WARNING}
    assert dev.severities == {"policy/image-tag": Severity.ERROR, **digest, "policy/gpu-fit": None}
    assert prod.severities == {"policy/image-tag": None, **digest, "policy/gpu-fit": Severity.ERROR}


def test_levels() -> None:
    """That of the pods is what kservec writes settings for, unless the policy says another."""
    dev, prod = policies()
    assert (dev.level, dev.levels) == ("baseline", {"a": "baseline", "b": "baseline"})
    assert (prod.level, prod.levels) == ("privileged", {"a": "baseline", "b": "restricted"})


def test_limits_and_waivers() -> None:
    """0 is a limit; waivers of both count, and know where they stand."""
    dev, prod = policies()
    assert (dev.max_restarts, prod.max_restarts, prod.max_gpus, prod.max_services) == (5, 0, 8, None)
    assert (dev.annotations_waive, prod.annotations_waive) == (True, False)
    assert [w.at for w in prod.waivers] == [
        ("policy", "waivers", 0),
        ("environments", "prod", "policy", "waivers", 0),
    ]


@pytest.mark.parametrize(
    ("for_flux", "wait", "timeout", "seconds"),
    [(True, True, "30m", 1800), (True, True, "1h30m", 5400), (True, False, "30m", None), (False, True, "30m", None)],
)
def test_how_long_flux_waits(for_flux: bool, wait: bool, timeout: str, seconds: int | None) -> None:
    """Where there are objects for it that wait."""
    flux = FluxSettings(wait=wait, timeout=timeout)
    assert sync_timeout(GitOpsSettings(tool="flux" if for_flux else "argocd", flux=flux)) == seconds
