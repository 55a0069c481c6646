"""Twins: which environments are on one cluster."""

from __future__ import annotations

import pytest

from kservec.gitops.twins import cluster_of

from .trees import settings_of

REPO = "repoURL: https://git.example.com/ml.git"


@pytest.mark.parametrize(
    ("gitops", "cluster"),
    [
        ("{tool: none}", ""),
        (f"{{tool: argocd, {REPO}}}", "https://kubernetes.default.svc"),
        (f"{{tool: flux, {REPO}}}", ""),
        (f"{{tool: flux, {REPO}, cluster: eu}}", "eu"),
        ("{cluster: 'eu-{env}'}", "eu-prod"),
        (f"{{tool: argocd, {REPO}, argocd: {{destination: eu}}}}", "eu"),
        (f"{{tool: argocd, {REPO}, argocd: {{destination: 'https://10.0.0.1'}}}}", "https://10.0.0.1"),
        (f"{{tool: argocd, {REPO}, cluster: us, argocd: {{destination: eu}}}}", "us"),
    ],
)
def test_the_cluster_of_an_environment(gitops: str, cluster: str) -> None:
    """The name that is given, or Argo CD's destination; each Argo CD's or Flux's own cluster may be any."""
    assert cluster_of(settings_of(gitops).gitops) == cluster
