"""kservec canary: the ladder of a rollout as edits of the spec, and back, in both modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import pytest
from tests import libyaml

from kservec.cli.main import run as main

from .running import PROJECT, kservec, tree

if TYPE_CHECKING:
    from pathlib import Path

CLUSTER = """\
apiVersion: kservec.dev/v1alpha1
kind: Cluster
knative:
  features: {kubernetes.podspec-init-containers: enabled}
  domain: {example.com: ""}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  ingress: |
    {"enableGatewayApi": true, "kserveIngressGateway": "kserve/gateway", "ingressGateway": "knative-serving/gateway",
     "ingressDomain": "example.com"}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gateway, namespace: kserve}
spec: {gatewayClassName: envoy, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""
SERVICE = """\
# Fraud: asked by the payment service.
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: fraud   # in dashboards, too
  namespace: payments
  annotations:
    serving.kserve.io/deploymentMode: {mode}
spec:
  predictor:
    minReplicas: 4
    {framework}
      # the version in use
      storageUri: "s3://models/fraud/v7"
---
# Other teams' services below.
"""
SAME = "s3://models/fraud/v7"
LADDER = (10, 30, 50, 80, 100)
MODEL = "model:\n      modelFormat: {name: sklearn}"


def made(folder: Path, mode: str = "Standard", framework: str = MODEL) -> Path:
    """A repository with one service, rendered."""
    for name in ("services", "platform"):
        (folder / name).mkdir()
    (folder / "kservec.yaml").write_text(PROJECT)
    (folder / "platform" / "cluster.yaml").write_text(CLUSTER)
    (folder / "services" / "fraud.yaml").write_text(SERVICE.replace("{mode}", mode).replace("{framework}", framework))
    assert kservec(folder, "build").status == 0
    return folder


def spec(folder: Path) -> bytes:
    """The file of the service."""
    return (folder / "services" / "fraud.yaml").read_bytes()


def run(folder: Path, *arguments: str) -> None:
    """Take a step of the canary, and build."""
    ran = kservec(folder, "canary", *arguments)
    assert (ran.status, ran.out.startswith("--- a/services/fraud.yaml")) == (0, True), ran
    assert kservec(folder, "build").status == 0


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["Standard", "Knative"])
@pytest.mark.parametrize("framework", [MODEL, "sklearn:"])
def test_a_canary_that_is_rolled_back_leaves_nothing(tmp_path: Path, mode: str, framework: str) -> None:
    """After any step of the ladder, spec and rendered tree are byte for byte those of before."""
    repo = made(tmp_path, mode, framework)
    before, rendered = spec(repo), tree(repo / "rendered")
    run(repo, "start", "fraud", "--model", "s3://models/fraud/v8")
    for percent in LADDER:
        run(repo, "step", "fraud", "--to", str(percent))
        assert f" {percent}% (prod)\n" in kservec(repo, "canary", "status").out
    run(repo, "rollback", "fraud")
    assert (spec(repo), tree(repo / "rendered")) == (before, rendered)


@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_a_step_changes_one_number(tmp_path: Path, mode: str) -> None:
    """A reviewer sees one line, in the spec, and in the tree nothing but weights and the replicas that follow."""
    repo = made(tmp_path, mode)
    run(repo, "start", "fraud", "--model", "s3://models/fraud/v8", "--to", "10")
    before = spec(repo).splitlines()
    run(repo, "step", "fraud", "--to", "30")
    differing = [new for old, new in zip(before, spec(repo).splitlines(), strict=True) if old != new]
    assert [line.strip().rpartition(b": ")[2] for line in differing] == [b"30"]


def test_a_promoted_canary_is_the_stable_version(tmp_path: Path) -> None:
    """In Standard mode it keeps its name, so that its pods stay; the rest of the spec is untouched."""
    repo = made(tmp_path)
    run(repo, "start", "fraud", "--model", "s3://models/fraud/v8", "--to", "50")
    pods = template(repo, "deployment-fraud-v8-predictor.yaml")
    run(repo, "promote", "fraud")
    value = libyaml.load(spec(repo).split(b"---")[0])
    assert value["spec"]["predictor"]["name"] == "v8"
    assert value["spec"]["predictor"]["model"]["storageUri"] == "s3://models/fraud/v8"
    assert "canary" not in value["spec"]
    assert b'# the version in use\n      storageUri: "s3://models/fraud/v8"\n' in spec(repo)
    assert template(repo, "deployment-fraud-v8-predictor.yaml") == pods


def test_a_promoted_revision_gets_all_traffic(tmp_path: Path) -> None:
    """In Knative mode the latest revision does, and stays the one that it was."""
    repo = made(tmp_path, "Knative")
    run(repo, "start", "fraud", "--model", "s3://models/fraud/v8", "--to", "50")
    name = "service.serving.knative.dev-fraud-predictor.yaml"
    revision = template(repo, name)
    run(repo, "promote", "fraud")
    assert template(repo, name) == revision
    assert b"kservec.dev" not in spec(repo)


def template(repo: Path, name: str) -> bytes:
    """The pod template of a rendered workload."""
    value = libyaml.load((repo / "rendered/prod/payments/fraud" / name).read_bytes())
    return libyaml.dump(value["spec"]["template"]).encode()


def test_several_canaries_are_named(tmp_path: Path) -> None:
    """With two of them a step says which is meant."""
    repo = made(tmp_path)
    run(repo, "start", "fraud", "--model", "s3://models/fraud/v8", "--to", "10")
    before = spec(repo)
    run(repo, "start", "fraud", "--model", "s3://models/fraud/nightly", "--canary", "nightly")
    asked = kservec(repo, "canary", "step", "fraud", "--to", "5")
    assert (asked.status, "which canary is meant? it has v8, nightly" in asked.err) == (1, True)
    run(repo, "step", "fraud", "--to", "5", "--canary", "nightly")
    run(repo, "rollback", "fraud", "--canary", "nightly")
    assert spec(repo) == before


def test_a_dry_run_shows_and_writes_nothing(tmp_path: Path) -> None:
    """The edit is printed as a diff that git can apply."""
    repo = made(tmp_path)
    before = spec(repo)
    ran = kservec(repo, "canary", "start", "fraud", "--model", "s3://models/fraud/v8", "--dry-run")
    assert (ran.status, "+        storageUri: s3://models/fraud/v8\n" in ran.out, spec(repo)) == (0, True, before)


@pytest.mark.parametrize("step", [("start", "fraud", "--model", "s3://models/fraud/v8"), ("rollback", "fraud")])
def test_a_dry_run_says_what_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], step: tuple[str, ...]
) -> None:
    """As the step itself would: of a folder that nobody may write into, here for want of such a user."""
    repo = made(tmp_path)
    if step[0] != "start":
        run(repo, "start", "fraud", "--model", "s3://models/fraud/v8")

    def closed(*_: object, **given: object) -> NoReturn:
        raise PermissionError(13, "Permission denied", str(given.get("dir", "")))

    monkeypatch.chdir(repo)
    monkeypatch.setattr("tempfile.mkstemp", closed)
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    statuses = [main(["canary", *step, *dry]) for dry in ((), ("--dry-run",))]
    assert statuses == [2, 2]
    assert capfd.readouterr().err == "error: cannot write services/fraud.yaml: Permission denied\n" * 2


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("step", "fraud", "--to", "10"), 1, "edit/refused]: fraud has no canary"),
        (
            ("start", "frauds", "--model", "s3://x/y"),
            2,
            "the project has no InferenceService frauds; did you mean fraud?",
        ),
        (("start", "fraud"), 2, "nothing differs: name a --model"),
        (("start", "fraud", "--model", ""), 2, "--model is empty"),
        (
            ("start", "fraud", "--model", SAME),
            1,
            f"nothing differs: fraud has {SAME} already",
        ),
        (("start", "fraud", "--model", "ftp://x/y"), 1, "storage/unknown-scheme"),
        (("step", "fraud", "--to", "101"), 2, "101"),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, arguments: tuple[str, ...], status: int, said: str) -> None:
    """It is said, and nothing is written."""
    repo = made(tmp_path)
    before = spec(repo)
    ran = kservec(repo, "canary", *arguments)
    assert (ran.status, said in ran.err, spec(repo)) == (status, True, before), ran.err


@pytest.mark.parametrize(
    ("given", "slug"),
    [
        (("--model", "s3:/models/fraud/v8"), "storage/scheme-misspelt"),
        (("--model", "s3 ://models/fraud/v8"), "storage/scheme-misspelt"),
        (("--model", "${BUCKET}/fraud/v8"), "storage/unfilled-placeholder"),
        (("--model", "hf://distilgpt2"), "storage/uri-incomplete"),
        (("--image", "registry.example.com/Fraud Server:1"), "pod/image"),
    ],
)
def test_what_is_hardly_meant_is_not_written(tmp_path: Path, given: tuple[str, str], slug: str) -> None:
    """A build would only warn of it, but it was typed this moment: the file stays as it was."""
    repo = made(tmp_path)
    before = spec(repo)
    ran = kservec(repo, "canary", "start", "fraud", *given)
    assert (ran.status, ran.out, spec(repo)) == (1, "", before), ran.err
    assert f"warning[{slug}]" in ran.err
    assert "nothing was written, for that is hardly meant" in ran.err


@pytest.mark.parametrize(
    "given",
    [
        ("--model", "s4://models/fraud/v8"),
        ("--model", "s3 ://models/fraud/v8"),
        ("--image", "registry.example.com/Fraud Server:1"),
        ("--model", "https://reader:Sesame-1234@models.example.com/v8.pkl"),
    ],
)
def test_a_dry_run_finds_what_the_edit_would(tmp_path: Path, given: tuple[str, str]) -> None:
    """Findings and exit status are those of the edit itself; no file is touched, not even for a moment."""
    repo = made(tmp_path)
    before, listed = spec(repo), (repo / "services").stat().st_mtime_ns
    dry = kservec(repo, "canary", "start", "fraud", *given, "--dry-run")
    assert (spec(repo), (repo / "services").stat().st_mtime_ns) == (before, listed)
    real = kservec(repo, "canary", "start", "fraud", *given)
    findings = [ran.err.rpartition("\n\n")[0] for ran in (dry, real)]
    assert (dry.status, dry.out, findings[0]) == (real.status, real.out, findings[1])
    assert "[" in findings[0]


def test_what_was_odd_before_stops_no_canary(tmp_path: Path) -> None:
    """The stable version's own URI is warned of, and not what was typed."""
    repo = made(tmp_path)
    file = repo / "services" / "fraud.yaml"
    file.write_text(file.read_text().replace(SAME, "s3:/models/fraud/v7"))
    ran = kservec(repo, "canary", "start", "fraud", "--model", "s3://models/fraud/v8")
    assert (ran.status, "storage/scheme-misspelt" in ran.err) == (0, True), ran.err
    assert "storageUri: s3://models/fraud/v8" in file.read_text()


TWO = """\
  canary:
    - trafficPercent: 10
      predictor: {name: v8, model: {name: kserve-container, modelFormat: {name: sklearn}, storageUri: s3://m/8}}
    - trafficPercent: 10
      predictor: {name: v9, model: {name: kserve-container, modelFormat: {name: sklearn}, storageUri: s3://m/9}}
"""


@pytest.mark.parametrize(
    ("old", "new", "arguments", "place"),
    [
        ("", "", ("start", "fraud", "--model", SAME), "storageUri: "),
        (
            f'    {MODEL}\n      # the version in use\n      storageUri: "{SAME}"\n',
            "    containers: [{name: kserve-container, image: example.com/server:1}]\n",
            ("start", "fraud", "--model", "s3://models/fraud/v8"),
            "  predictor:",
        ),
        ("---\n#", f"{TWO}---\n#", ("step", "fraud", "--to", "10"), "  canary:"),
    ],
    ids=["the same model", "no model", "two canaries"],
)
def test_what_cannot_be_done_is_said_at_its_place(
    tmp_path: Path, old: str, new: str, arguments: tuple[str, ...], place: str
) -> None:
    """At the value that is meant, or at the key of a map or list, and not at whatever stands first in it."""
    repo = made(tmp_path)
    file = repo / "services" / "fraud.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(
        text.replace(old, new, 1).replace("predictor:\n", "predictor:\n    serviceAccountName: reader\n", 1)
    )
    ran = kservec(repo, "canary", *arguments)
    line = next(i for i, line in enumerate(file.read_text().splitlines(), 1) if place in line)
    assert (ran.status, f" --> services/fraud.yaml:{line}:" in ran.err) == (1, True), ran.err


def test_a_knative_canary_needs_a_rendered_revision(tmp_path: Path) -> None:
    """Without a tree nothing says which revision serves now."""
    repo = made(tmp_path, "Knative")
    (repo / "kservec.yaml").write_text(PROJECT.replace("prod:", "test:"))
    ran = kservec(repo, "canary", "start", "fraud", "--model", "s3://models/fraud/v8")
    assert (ran.status, "edit/refused" in ran.err, "kservec build test" in ran.err) == (1, True, True)


def test_environments_that_run_different_revisions(tmp_path: Path) -> None:
    """One spec can name one stable revision only."""
    repo = made(tmp_path, "Knative")
    (repo / "kservec.yaml").write_text(PROJECT + "  test: {images: {rewrite: {kserve/: mirror.example.com/kserve/}}}\n")
    assert kservec(repo, "build").status == 0
    ran = kservec(repo, "canary", "start", "fraud", "--model", "s3://models/fraud/v8")
    assert (ran.status, "environments differ in the stable revision" in ran.err) == (1, True)


def test_anchors_are_left_to_the_user(tmp_path: Path) -> None:
    """A value that may stand in several places is not edited."""
    repo = made(tmp_path, "Knative")
    path = repo / "services" / "fraud.yaml"
    path.write_bytes(spec(repo).replace(b'"s3://models/fraud/v7"', b"&uri s3://models/fraud/v7"))
    ran = kservec(repo, "canary", "start", "fraud", "--model", "s3://models/fraud/v8")
    assert (ran.status, "it has an anchor or a tag" in ran.err) == (1, True)


def test_without_a_project(tmp_path: Path) -> None:
    """There is nothing to roll out."""
    ran = kservec(tmp_path, "canary", "status")
    assert (ran.status, "there is no kservec.yaml here or above" in ran.err) == (2, True)


@pytest.mark.parametrize("step", [("status",), ("rollback", "fraud"), ("step", "fraud", "--to", "5")])
def test_specs_that_are_refused(tmp_path: Path, step: tuple[str, ...]) -> None:
    """Their errors are shown, at their lines, and nothing is written."""
    repo = made(tmp_path)
    path = repo / "services" / "fraud.yaml"
    path.write_bytes(spec(repo).replace(b"minReplicas: 4", b"minReplicas: 4\n    maxReplicas: 2"))
    before = spec(repo)
    ran = kservec(repo, "canary", *step)
    assert (ran.status, ran.out, spec(repo)) == (1, "", before)
    assert "error[scaling/min-above-max]" in ran.err
    assert "services/fraud.yaml:" in ran.err
