"""What an environment takes from its project."""

from __future__ import annotations

from kservec.project.reading import read_project
from kservec.project.settings import Settings


def settings(text: str) -> dict[str, Settings]:
    """The settings of the environments of a project, from the fields of its document."""
    project, found = read_project(f"apiVersion: kservec.dev/v1alpha1\nkind: Project\n{text}".encode(), "kservec.yaml")
    assert project is not None, found
    return dict(project.environments)


def test_a_project_without_environments_has_one() -> None:
    """It is called default, and is rendered below its name."""
    (only,) = settings("sources: [services]\n").values()
    assert (only.name, only.output, only.catalog, only.names_revisions) == (
        "default",
        "rendered/default",
        "builtin",
        True,
    )


def test_lists_come_after_those_of_the_project() -> None:
    """Later documents override earlier ones, so those of the environment are the stronger."""
    made = settings(
        "sources: [s]\nplatform: [a]\nabsent: [HTTPRoute]\nenvironments:\n  p: {platform: [b], absent: [Ingress]}\n"
    )
    assert (tuple(made["p"].platform), tuple(made["p"].absent)) == (("a", "b"), ("HTTPRoute", "Ingress"))


def test_maps_are_laid_over_those_of_the_project() -> None:
    """An environment replaces single entries."""
    text = "sources: [s]\nimages: {rewrite: {a/: x/, b/: y/}}\nenvironments:\n  p: {images: {rewrite: {b/: z/}}}\n"
    assert dict(settings(text)["p"].image_rewrites) == {"a/": "x/", "b/": "z/"}


def test_other_values_are_replaced() -> None:
    """The environment's own value counts, else the project's."""
    text = (
        "sources: [s]\ncatalog: none\nsecurity: {podSecurity: baseline}\nknative: {revisionNames: server}\n"
        "gitops: {tool: flux, repoURL: https://git.example.com/ml.git}\n"
        "environments:\n  p: {catalog: builtin, gitops: {tool: argocd}}\n  q: {}\n"
    )
    p, q = settings(text).values()
    assert (p.catalog, q.catalog, p.pod_security, q.names_revisions) == ("builtin", "none", "baseline", False)
    assert (p.gitops.tool, q.gitops.tool, p.gitops.repo_url) == ("argocd", "flux", "https://git.example.com/ml.git")


def test_additions_are_laid_over_those_of_the_project() -> None:
    """Each field of an option by itself: what the environment leaves out, the project says."""
    text = (
        "sources: [s]\nnetworkPolicy: {enabled: true, storagePorts: [9000], clients: [{podSelector: {}}]}\n"
        "podMonitor: {enabled: true, labels: {a: one, b: two}, interval: 30s}\npodDisruptionBudget: {minAvailable: 2}\n"
        "security: {securityContexts: all, automountServiceAccountToken: false}\n"
        "topologySpread: [{topologyKey: zone}]\n"
        "environments:\n"
        "  p: {networkPolicy: {storagePorts: [443]}, podMonitor: {labels: {b: three}}, topologySpread: [],"
        " podDisruptionBudget: {maxUnavailable: 1}, security: {automountServiceAccountToken: true}}\n"
        "  q: {networkPolicy: {enabled: false}, podDisruptionBudget: {singleReplica: true}}\n"
    )
    p, q = (s.additions for s in settings(text).values())
    assert p.network is not None
    assert (p.network.storage_ports, p.network.clients, q.network) == ((443,), ({"podSelector": {}},), None)
    assert p.monitor is not None
    assert (dict(p.monitor.labels), p.monitor.interval) == ({"a": "one", "b": "three"}, "30s")
    assert p.budget is not None
    assert q.budget is not None
    assert (p.budget.field, q.budget.field, q.budget.singles) == ("maxUnavailable", "minAvailable", True)
    assert (p.spread, q.spread) == ((), ({"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"},))
    assert (p.secures_all, p.hides_tokens, q.hides_tokens) == (True, False, True)


def test_a_project_that_asks_for_nothing_adds_settings_of_pods_alone() -> None:
    """The containers that kservec adds pass the level restricted; all else is an option."""
    (only,) = settings("sources: [services]\n").values()
    made = only.additions
    assert (made.pod_security, made.secures_all, made.hides_tokens) == ("restricted", False, False)
    assert (made.network, made.budget, made.monitor, made.spread, made.namespaces) == (None, None, None, (), ())
