"""Texts of a project file: what whoever reads them in the end would refuse is refused at its place."""

from __future__ import annotations

import pytest

from kservec.project.reading import read_project

HEAD = "apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [services]\n"

REFUSED = {
    "a tag in place of a name": ("images: {rewrite: {ghcr.io/team: registry.example.com/team:v1}}", "tag or digest"),
    "an image with spaces": ("images: {rewrite: {ghcr.io/team: 'a b'}}", "name of an image"),
    "a key of images with spaces": ("images: {rewrite: {'a b': c}}", "name of an image"),
    "addresses without a length": ("networkPolicy: {dns: [{ipBlock: {cidr: 10.0.0.1}}]}", "range of addresses"),
    "addresses with a mask": ("networkPolicy: {dns: [{ipBlock: {cidr: 10.0.0.0/255.0.0.0}}]}", "range of addresses"),
    "all addresses left out": (
        "networkPolicy: {dns: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.0.0.0/8]}}]}",
        "smaller one",
    ),
    "addresses of the other family": (
        "networkPolicy: {dns: [{ipBlock: {cidr: 10.0.0.0/8, except: ['fd00::/64']}}]}",
        "smaller one",
    ),
    "nothing to compare with": (
        "networkPolicy: {dns: [{podSelector: {matchExpressions: [{key: a, operator: In}]}}]}",
        "values belong to In",
    ),
    "a line feed in a URL": ('gitops: {repoURL: "https://git.example.com/a\\n"}', "URL of a repository"),
    "NUL in a URL": ('gitops: {repoURL: "https://git.example.com/a\\0"}', "URL of a repository"),
    "a URL that leads up": ("gitops: {repoURL: 'https://git.example.com/a/../b'}", "URL of a repository"),
    "a word for a URL": ("gitops: {repoURL: models}", "URL of a repository"),
    "a branch with a space": ("gitops: {revision: a b}", "name that git takes"),
    "a branch like a lock": ("gitops: {revision: main.lock}", "name that git takes"),
    "a branch like an option": ("gitops: {revision: --upload-pack}", "name that git takes"),
    "an unknown place-holder of a branch": ("gitops: {revision: 'deploy/{name}'}", "place-holder {name}"),
    "an unknown place-holder of an output": ("environments: {prod: {output: 'a/{}'}}", "place-holder {}"),
    "an empty path": ("platform: ['']", "path on one line"),
    "NUL in a path": ('include: ["a\\0b"]', "path on one line"),
    "NUL in an overlay": ('environments: {prod: {overlay: "a\\0b"}}', "path on one line"),
    "NUL in an output": ('output: "a\\0b"', "path on one line"),
    "a key of a Secret that leads up": ("podMonitor: {token: {name: a, key: ..}}", "key that a Secret"),
}

ACCEPTED = (
    "images: {rewrite: {kserve: localhost:5000/kserve, 'docker.io/': '[fd00::1]:5000/', a/b:v1: c/d:v2}}",
    "networkPolicy: {dns: [{ipBlock: {cidr: 10.1.2.3/8, except: [10.0.0.1/32]}}, {ipBlock: {cidr: 'fd00::/8'}}]}",
    "networkPolicy: {dns: [{podSelector: {matchExpressions: [{key: a.b/c, operator: NotIn, values: [d, '']}]}}]}",
    "gitops: {repoURL: 'git@git.example.com:team/ml.git', revision: 'environment/{env}'}",
    "gitops: {repoURL: 'oci://registry.example.com/ml', revision: 'sha256:" + "0" * 64 + "'}",
    "gitops: {repoURL: /srv/git/ml.git, revision: refs/heads/main, path: 'deploy/{env}', cluster: 'eu {env}'}",
    "gitops: {argocd: {project: 'team-{env}', projects: {'{env}-a': [b]}, syncOptions: [Validate=false]}}",
    "gitops: {protect: [], flux: {substitute: {_region1: 'any text\n'}}}",
    "podMonitor: {labels: {release: '', example.com/team: A.b_c}, token: {name: a.b, key: .token}}",
)


@pytest.mark.parametrize(("text", "said"), REFUSED.values(), ids=REFUSED)
def test_what_nobody_would_take(text: str, said: str) -> None:
    """One error, on the line where it stands, that never quotes the value."""
    project, found = read_project(f"{HEAD}{text}\n".encode(), "kservec.yaml")
    assert project is None
    (only,) = found
    assert said in only.message
    assert only.span is not None
    assert only.span.line == 4


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_is_taken(text: str) -> None:
    """The rules are no narrower than those of whoever reads the texts."""
    project, found = read_project(f"{HEAD}{text}\n".encode(), "kservec.yaml")
    assert (project is not None, found) == (True, ())
