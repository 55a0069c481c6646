"""The library: texts, files and folders in, typed results out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import libyaml

import kservec
from kservec import File, Target, compile_files, compile_text, compile_tree
from kservec.core.diagnostics import ObjectRef
from kservec.core.text.source import Limits

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: fraud
  namespace: payments
  annotations:
    serving.kserve.io/deploymentMode: Standard
spec:
  predictor:
    model:
      modelFormat: {name: sklearn}
      storageUri: s3://models/fraud/v7
"""
FRAUD = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "payments", "fraud")


def named(name: str) -> str:
    """The service under another name."""
    return SERVICE.replace("name: fraud", f"name: {name}")


def test_a_text_becomes_objects() -> None:
    """Objects come in their total order, with identity, text, owner and path in the tree."""
    compiled = compile_text(SERVICE)
    assert compiled.ok
    assert compiled.diagnostics == ()
    assert [o.ref.kind for o in compiled.objects] == ["Deployment", "HorizontalPodAutoscaler", "Ingress", "Service"]
    assert {o.owner for o in compiled.objects} == {FRAUD}
    for rendered in compiled.objects:
        body = libyaml.load(rendered.text)
        assert (body["apiVersion"], body["kind"]) == rendered.ref[:2]
        assert (body["metadata"]["namespace"], body["metadata"]["name"]) == rendered.ref[2:]
        assert compiled.tree[rendered.path] == rendered.text.encode()


def test_the_stream_has_every_object() -> None:
    """`yaml` is one document for each object, in their order."""
    compiled = compile_text(SERVICE)
    assert compiled.yaml == "".join(f"---\n{o.text}" for o in compiled.objects)
    assert len(list(libyaml.load_all(compiled.yaml))) == len(compiled.objects)


def test_urls_are_those_of_the_status() -> None:
    """Each service that is exposed has the URL that KServe would write into its status; a stopped one has none."""
    inside = named("inside").replace(
        "name: inside\n", "name: inside\n  labels: {networking.kserve.io/visibility: cluster-local}\n"
    )
    stopped = named("stopped").replace("annotations:\n", 'annotations:\n    serving.kserve.io/stop: "true"\n')
    compiled = compile_text("---\n".join((SERVICE, inside, stopped)))
    assert {ref.name: url for ref, url in compiled.urls.items()} == {
        "fraud": "http://fraud-payments.example.com",
        "inside": "http://inside-predictor.payments.svc.cluster.local",
    }


def test_an_error_leaves_no_objects() -> None:
    """With an error there are findings, with the texts that they point into, and nothing else."""
    compiled = compile_text("---\n".join((SERVICE, named("other").replace("s3:", "ftp:"))), name="isvc.yaml")
    assert not compiled.ok
    assert (compiled.objects, compiled.yaml, dict(compiled.urls)) == ((), "", {})
    (found,) = compiled.diagnostics
    assert found.span is not None
    assert (found.code.slug, found.span.file, found.span.line) == ("storage/unknown-scheme", "isvc.yaml", 25)
    assert list(compiled.sources) == ["isvc.yaml"]


def test_files_of_a_folder_are_compiled(tmp_path: Path) -> None:
    """Files and folders are read, the platform is taken into account, and the order does not matter."""
    (tmp_path / "a.yaml").write_text(SERVICE)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yml").write_text(named("other"))
    (tmp_path / "sub" / ".hidden.yaml").write_text("kind: [")
    (tmp_path / "sub" / "notes.txt").write_text("kind: [")
    (tmp_path / "cluster.yaml").write_text(
        "apiVersion: kservec.dev/v1alpha1\nkind: Cluster\n"
        "inferenceServiceConfig: {ingress: {ingressDomain: models.example.com}}\n"
    )
    paths = [tmp_path / "a.yaml", tmp_path / "sub"]
    compiled = compile_tree(paths, platform=[tmp_path / "cluster.yaml"])
    assert [*compiled.urls.values()] == [
        "http://fraud-payments.models.example.com", "http://other-payments.models.example.com",
    ]  # fmt: skip
    assert compile_tree(paths[::-1], platform=[tmp_path / "cluster.yaml"]).yaml == compiled.yaml


@pytest.mark.parametrize(("path", "reason"), [("nope", "No such file"), ("empty", "no YAML or JSON file")])
def test_a_path_that_cannot_be_read_is_an_os_error(tmp_path: Path, path: str, reason: str) -> None:
    """The error names the path."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(OSError, match=reason) as caught:
        compile_tree([tmp_path / path])
    assert caught.value.filename == str(tmp_path / path)


def test_a_rendered_tree_is_no_input(tmp_path: Path) -> None:
    """A tree that kservec wrote is passed over where it lies in a folder of the input."""
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    (tmp_path / "rendered").mkdir()
    (tmp_path / "rendered" / "kservec.index.json").write_text("{}")
    (tmp_path / "rendered" / "deployment.yaml").write_text("kind: Deployment\n")
    assert compile_tree([tmp_path]).diagnostics == ()


def test_files_over_the_limit_are_refused() -> None:
    """The limit of the target counts for every file."""
    compiled = compile_text(SERVICE, target=Target(limits=Limits(max_bytes=100)))
    assert [d.code.slug for d in compiled.diagnostics] == ["yaml/too-large"]


def test_two_services_that_lead_to_one_object() -> None:
    """Both are named, with their places, whichever is compiled first."""
    split = SERVICE.replace("  predictor:\n", "  predictor:\n    name: blue\n")
    for texts in ((split, named("fraud-blue")), (named("fraud-blue"), split)):
        compiled = compile_files([File(f"{i}.yaml", text.encode()) for i, text in enumerate(texts)])
        twice = [d for d in compiled.diagnostics if d.code.slug == "output/object-twice"]
        assert len(twice) == len(compiled.diagnostics) > 0
        assert {tuple(sorted(s.file for s in d.spans)) for d in twice} == {("0.yaml", "1.yaml")}
        assert twice[0].message == (
            "InferenceService payments/fraud-blue and InferenceService payments/fraud both lead to "
            "Deployment payments/fraud-blue-predictor"
        )


def test_values_of_secrets_are_not_kept_in_sources() -> None:
    """The texts that come with a result do not show what a Secret holds."""
    hidden = (
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: payments}\nstringData: {token: hunter2}\n"
    )
    compiled = compile_text(SERVICE.replace("s3:", "ftp:") + hidden)
    assert compiled.sources
    assert "hunter2" not in repr(compiled.sources) + repr(compiled.diagnostics)


def test_the_package_names_what_it_offers() -> None:
    """What `__all__` lists can be imported; anything else cannot."""
    assert all(getattr(kservec, name) for name in kservec.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kservec.nothing  # noqa: B018
