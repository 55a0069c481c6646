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
