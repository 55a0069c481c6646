"""kservec promote: pins go from one environment to another, wherever they are written, and nothing else does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest
from tests import libyaml

from kservec.io.kustomize import HOW_TO, tools

from .running import SERVICE, kservec, tree

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
environments:
  staging: {overlay: overlays/staging}
  prod: {overlay: overlays/prod}
"""
TRANSFORMER = """\
  transformer:
    containers:
      - name: first
        image: example.com/first:1
        args: [--revision, abc]
      - name: second
        image: example.com/second:1
"""
HEAD = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: fraud, namespace: payments}\n"
BASE = "resources: [../../services]\n"
PINS = "overlays/prod/pins-payments-fraud.yaml"
KUSTOMIZATION = "overlays/prod/kustomization.yaml"
OWN = BASE + "patches: [{path: own.yaml}]\n"


def patch(spec: str) -> str:
    """A patch of the service."""
    return f"{HEAD}spec:\n{spec}"


def predictor(uri: str) -> str:
    """A patch of where the model lies."""
    return patch(f"  predictor:\n    model:\n      storageUri: {uri}\n")


def operation(path: str, value: str) -> str:
    """An overlay with an inline operation on the service."""
    return (
        f"{BASE}patches:\n  - target: {{kind: InferenceService}}\n    patch: |-\n      # why\n"
        f"      - op: add\n        path: /spec/{path}\n        value: {value}  # this one\n"
    )


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A repository with two environments, rendered."""
    if not list(tools()):
        pytest.skip(f"NOT TESTED: overlays need kustomize, and there is none here; {HOW_TO}")
    for path, text in {
        "kservec.yaml": PROJECT,
        "services/fraud.yaml": SERVICE + TRANSFORMER,
        "services/kustomization.yaml": "resources: [fraud.yaml]\n",
        "overlays/staging/kustomization.yaml": BASE,
        "overlays/prod/kustomization.yaml": BASE,
        **files,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    ran = kservec(folder, "build")
    assert ran.status == 0, ran.err
    return folder


STAGED = {
    "overlays/staging/kustomization.yaml": BASE + "patches: [{path: fraud.yaml}]\n",
    "overlays/staging/fraud.yaml": predictor("s3://models/fraud/v8"),
}


class Case(NamedTuple):
    """Files beside those of STAGED, and a file that is edited with a text in it before and after."""

    files: dict[str, str]
    file: str
    before: str
    after: str


CASES = {
    "a patch of a file": Case(
        {KUSTOMIZATION: OWN, "overlays/prod/own.yaml": predictor("'s3://m/1'  # now")},
        "overlays/prod/own.yaml", "'s3://m/1'  # now", "'s3://models/fraud/v8'  # now",
    ),
    "an inline operation": Case(
        {KUSTOMIZATION: operation("predictor/model/storageUri", "s3://m/1")},
        KUSTOMIZATION, "        value: s3://m/1  # this one\n", "        value: s3://models/fraud/v8  # this one\n",
    ),
    "an inline operation in quotes": Case(
        {KUSTOMIZATION: BASE + """patches:
  - target: {kind: InferenceService}
    patch: '[{"op": "replace", "path": "/spec/predictor/model/storageUri", "value": "s3://m/1"}]'
"""},
        KUSTOMIZATION, '"value": "s3://m/1"', '"value": "s3://models/fraud/v8"',
    ),
    "an inline patch": Case(
        {KUSTOMIZATION: f"{BASE}patches:\n- patch: |\n" + "".join(
            f"    {line}\n" for line in predictor("s3://m/1").splitlines())},
        KUSTOMIZATION, "storageUri: s3://m/1\n", "storageUri: s3://models/fraud/v8\n",
    ),
    "an old list of patches": Case(
        {KUSTOMIZATION: BASE + "patchesStrategicMerge: [own.yaml]\n", "overlays/prod/own.yaml": predictor("s3://m/1")},
        "overlays/prod/own.yaml", "s3://m/1", "s3://models/fraud/v8",
    ),
    "an image that is set": Case(
        {
            KUSTOMIZATION: BASE + "images:\n  - {name: example.com/second, newTag: '7'}\n",
            "overlays/staging/fraud.yaml": patch(
                "  transformer: {containers: [{name: first}, {name: second, image: 'example.com/second:2'}]}\n"),
        },
        KUSTOMIZATION, "newTag: '7'", "newTag: '2'",
    ),
    "the source has the base's": Case(
        {
            "overlays/staging/kustomization.yaml": BASE,
            KUSTOMIZATION: OWN, "overlays/prod/own.yaml": predictor("s3://m/1"),
        },
        "overlays/prod/own.yaml", "s3://m/1", "s3://models/fraud/v7",
    ),
    "a revision among arguments": Case(
        {
            "overlays/staging/fraud.yaml": patch(
                "  transformer: {containers: [{name: first, args: ['--revision=def']}, {name: second}]}\n"),
            KUSTOMIZATION: OWN,
            "overlays/prod/own.yaml": patch(
                "  transformer: {containers: [{name: first, args: [-v, --revision, abc]}, {name: second}]}\n"),
        },
        "overlays/prod/own.yaml", "[-v, --revision, abc]", "[-v, --revision, def]",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_pin_is_set_where_the_overlay_wrote_it(tmp_path: Path, name: str) -> None:
    """One file differs, in one value; then nothing is left to promote, and the other environment is as it was."""
    case = CASES[name]
    repo = repository(tmp_path, {**STAGED, **case.files})
    before, staging = tree(repo), tree(repo / "rendered" / "staging")
    ran = kservec(repo, "promote", "prod", "--from", "staging")
    assert (ran.status, "1 pin promoted" in ran.err) == (0, True), ran.err
    after = tree(repo)
    assert [path for path in after if before.get(path) != after[path]] == [case.file]
    assert after[case.file].decode() == before[case.file].decode().replace(case.before, case.after)
    assert kservec(repo, "build").status == 0
    assert tree(repo / "rendered" / "staging") == staging
    again = kservec(repo, "promote", "prod", "--from", "staging", "--check")
    assert (again.status, "nothing to promote" in again.err) == (0, True)


def test_pins_of_the_base_go_into_a_patch(tmp_path: Path) -> None:
    """It is named by the kustomization, keeps the order of containers, and is edited by the next promotion."""
    spec = """\
  predictor: {model: {storageUri: s3://models/fraud/v8, runtimeVersion: 1.2.3}}
  transformer: {containers: [{name: first}, {name: second, image: 'example.com/second:2'}]}
"""
    repo = repository(tmp_path, {**STAGED, "overlays/staging/fraud.yaml": patch(spec)})
    base = (repo / "services/fraud.yaml").read_bytes()
    ran = kservec(repo, "promote", "prod", "--from", "staging")
    assert (ran.status, "3 pins promoted" in ran.err) == (0, True), ran.err
    assert (repo / KUSTOMIZATION).read_text() == BASE + "patches:\n- path: pins-payments-fraud.yaml\n"
    value = libyaml.load((repo / PINS).read_text())
    assert value["spec"]["predictor"] == {"model": {"runtimeVersion": "1.2.3", "storageUri": "s3://models/fraud/v8"}}
    assert [c["name"] for c in value["spec"]["transformer"]["containers"]] == ["first", "second"]
    assert (repo / "services/fraud.yaml").read_bytes() == base
    changed = patch(spec.replace("v8", "v9").replace("name: first", "name: first, image: 'example.com/first:9'"))
    (repo / "overlays/staging/fraud.yaml").write_text(changed)
    again = kservec(repo, "promote", "prod", "--from", "staging")
    assert (again.status, "2 pins promoted" in again.err) == (0, True), again.err
    containers = libyaml.load((repo / PINS).read_text())["spec"]["transformer"]["containers"]
    assert containers[0] == {"name": "first", "image": "example.com/first:9"}


def test_namespaces_that_differ_by_environment(tmp_path: Path) -> None:
    """Services of one kind and name belong together, and the patch is laid over what the base calls it."""
    files = {KUSTOMIZATION: BASE + "namespace: prod-payments\n"}
    repo = repository(tmp_path, {**STAGED, **files})
    ran = kservec(repo, "promote", "prod", "--from", "staging", "prod-payments/fraud")
    assert ran.status == 0, ran.err
    value = libyaml.load((repo / "overlays/prod/pins-prod-payments-fraud.yaml").read_text())
    assert value["metadata"] == {"name": "fraud", "namespace": "payments"}


def test_nothing_but_pins_is_promoted(tmp_path: Path) -> None:
    """Replicas, resources and variables of the other environment stay there."""
    spec = (
        "  predictor:\n    minReplicas: 5\n    model: {env: [{name: X, value: x}], resources: {limits: {cpu: '2'}}}\n"
    )
    repo = repository(tmp_path, {**STAGED, "overlays/staging/fraud.yaml": patch(spec)})
    ran = kservec(repo, "promote", "prod", "--from", "staging", "--check")
    assert (ran.status, "nothing to promote from staging to prod: their pins are the same" in ran.err) == (0, True)


def test_models_of_language_services(tmp_path: Path) -> None:
    """URI and name of the model, and images, are their pins."""
    kind = "apiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceService\nmetadata: {name: chat, namespace: llm}\n"
    files = {
        "services/chat.yaml": f"{kind}spec:\n  model: {{uri: 'hf://org/model', name: model}}\n  replicas: 1\n"
        "  template: {containers: [{name: main, image: 'example.com/vllm:1'}]}\n  router: {}\n",
        "services/kustomization.yaml": "resources: [fraud.yaml, chat.yaml]\n",
        "overlays/staging/fraud.yaml": f"{kind}spec:\n  model: {{uri: 'hf://org/model-2', name: model-2}}\n"
        "  template: {containers: [{name: main, image: 'example.com/vllm:2'}]}\n",
    }
    repo = repository(tmp_path, {**STAGED, **files})
    ran = kservec(repo, "promote", "prod", "--from", "staging")
    assert (ran.status, "3 pins promoted" in ran.err) == (0, True), ran.err
    value = libyaml.load((repo / "overlays/prod/pins-llm-chat.yaml").read_text())
    assert value["spec"]["model"] == {"name": "model-2", "uri": "hf://org/model-2"}


def test_a_check_tells_by_its_exit_status(tmp_path: Path) -> None:
    """Neither it nor a dry run writes anything."""
    repo = repository(tmp_path, STAGED)
    before = tree(repo)
    ran = kservec(repo, "promote", "prod", "--from", "staging", "--check")
    line = "payments/fraud spec.predictor.model.storageUri: s3://models/fraud/v7 -> s3://models/fraud/v8"
    assert (ran.status, ran.out) == (3, f"{line} (services/fraud.yaml:12)\n")
    dry = kservec(repo, "promote", "prod", "--from", "staging", "--dry-run")
    assert (dry.status, f"--- /dev/null\n+++ b/{PINS}\n" in dry.out) == (0, True)
    assert tree(repo) == before


def test_a_dry_run_says_what_cannot_be_written(tmp_path: Path) -> None:
    """As the promotion itself would: here of a patch that is a link to where no folder is."""
    repo = repository(tmp_path, STAGED)
    (repo / PINS).symlink_to("gone/pins.yaml")
    before = tree(repo)
    ran, dry = (kservec(repo, "promote", "prod", "--from", "staging", *more) for more in ((), ("--dry-run",)))
    assert (ran.status, ran.out, ran.err) == (2, "", f"error: cannot write {PINS}: No such file or directory\n")
    assert (dry, tree(repo)) == (ran, before)


def test_a_promotion_for_programs(tmp_path: Path) -> None:
    """As JSON there are the pins, the files, and the diff."""
    repo = repository(tmp_path, STAGED)
    report = json.loads(kservec(repo, "promote", "prod", "--from", "staging", "--format", "json").out)
    (pin,) = report["promoted"]
    assert (pin["object"]["name"], pin["before"], pin["after"]) == (
        "fraud",
        "s3://models/fraud/v7",
        "s3://models/fraud/v8",
    )
    assert (report["files"], PINS in report["diff"]) == ([KUSTOMIZATION, PINS], True)
    again = json.loads(kservec(repo, "promote", "prod", "--from", "staging", "--format", "json").out)
    assert again == {"promoted": [], "files": [], "remarks": [], "diff": ""}


def test_a_pin_that_the_target_alone_has_stays(tmp_path: Path) -> None:
    """It is said, and nothing is removed."""
    files = {
        KUSTOMIZATION: OWN,
        "overlays/prod/own.yaml": patch("  predictor: {model: {runtimeVersion: '1'}}\n"),
    }
    repo = repository(tmp_path, {**STAGED, **files})
    ran = kservec(repo, "promote", "prod", "--from", "staging")
    remark = "spec.predictor.model.runtimeVersion is 1 in prod and not set in staging; left as it is"
    assert (ran.status, remark in ran.err) == (0, True), ran.err


COMPONENT = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: own.yaml}]\n"
REFUSED = {
    "a list of the base": (
        {"overlays/staging/fraud.yaml": patch(
            "  transformer: {containers: [{name: first, args: [--revision, def]}, {name: second}]}\n")},
        "services/fraud.yaml:17:28",
        "is in a list that the overlay of prod has not",
    ),
    "a value by an anchor": (
        {KUSTOMIZATION: OWN, "overlays/prod/own.yaml": predictor("&uri s3://m/1")},
        "overlays/prod/own.yaml:7:",
        "it has an anchor or a tag",
    ),
    "a canary of the target": (
        {KUSTOMIZATION: OWN, "overlays/prod/own.yaml": patch(
            "  canary: [{trafficPercent: 1, predictor: {name: x, model: {name: kserve-container, modelFormat: "
            "{name: sklearn}, storageUri: 's3://m/1'}}}]\n")},
        "services/fraud.yaml:1:1",
        "a canary of payments/fraud runs in prod",
    ),
    "patches that are an empty list": (
        {KUSTOMIZATION: BASE + "patches: []\n"}, KUSTOMIZATION, "cannot be edited",
    ),
    "an overlay that another one builds on": (
        {
            "kservec.yaml": PROJECT + "  eu: {overlay: overlays/eu}\n",
            "overlays/eu/kustomization.yaml": "resources: [../prod]\nnamespace: eu\n",
        },
        KUSTOMIZATION, "other environments build on overlays/prod/kustomization.yaml",
    ),
    "a patch of all services": (
        {
            "services/kustomization.yaml": "resources: [fraud.yaml, other.yaml]\n",
            "services/other.yaml": SERVICE.replace("name: fraud", "name: other"),
            KUSTOMIZATION: operation("predictor/model/storageUri", "s3://m/1"),
        },
        KUSTOMIZATION, "the edit would not make of InferenceService payments/other in prod what was meant",
    ),
    "a replacement afterwards": (
        {KUSTOMIZATION: BASE + """\
replacements:
  - source: {kind: InferenceService, fieldPath: metadata.name}
    targets: [{select: {kind: InferenceService}, fieldPaths: [spec.predictor.model.storageUri], options: {
      delimiter: /, index: 4}}]
"""},
        "services/fraud.yaml:12:19", "is changed after services/fraud.yaml has set it, by a replacement",
    ),
    "a file that is in the way": ({PINS: "kind: Other\n"}, KUSTOMIZATION, "is there, and"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_promoted(tmp_path: Path, name: str) -> None:
    """It is said, with the line, and nothing is written."""
    files, place, said = REFUSED[name]
    repo = repository(tmp_path, {**STAGED, **files})
    before = tree(repo)
    ran = kservec(repo, "promote", "prod", "--from", "staging", "fraud")
    assert (ran.status, place in ran.err, said in ran.err, tree(repo) == before) == (1, True, True, True), ran.err
    dry = kservec(repo, "promote", "prod", "--from", "staging", "fraud", "--dry-run")
    assert (dry.status, dry.err) == (1, ran.err)


def test_a_component_that_both_have_is_not_edited(tmp_path: Path) -> None:
    """Its value is overridden in the target's own overlay."""
    files = {
        "overlays/staging/kustomization.yaml": BASE + "components: [../shared]\npatches: [{path: fraud.yaml}]\n",
        KUSTOMIZATION: BASE + "components: [../shared]\n",
        "overlays/shared/kustomization.yaml": COMPONENT,
        "overlays/shared/own.yaml": predictor("s3://m/1"),
    }
    repo = repository(tmp_path, {**STAGED, **files})
    ran = kservec(repo, "promote", "prod", "--from", "staging")
    assert (ran.status, (repo / PINS).is_file()) == (0, True), ran.err
    assert (repo / "overlays/shared/own.yaml").read_text() == predictor("s3://m/1")


def test_a_promotion_that_does_not_compile_is_taken_back(tmp_path: Path) -> None:
    """The files are as they were, and the findings are shown."""
    runtime = (
        "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: own, namespace: payments}\n"
    )
    runtime += (
        "spec:\n  supportedModelFormats: [{name: sklearn, version: '1'}]\n  containers: [{name: kserve-container, "
    )
    runtime += "image: 'example.com/own:1'}]\n"
    files = {
        "kservec.yaml": PROJECT.replace("staging}", "staging, platform: [platform]}"),
        "platform/runtime.yaml": runtime,
        "overlays/staging/fraud.yaml": patch("  predictor: {model: {runtime: own}}\n"),
    }
    repo = repository(tmp_path, {**STAGED, **files})
    before = tree(repo)
    ran = kservec(repo, "promote", "prod", "--from", "staging")
    assert (ran.status, "own" in ran.err, "nothing was written" in ran.err) == (1, True, True), ran.err
    assert tree(repo) == before


def test_environments_without_overlays_are_alike(tmp_path: Path) -> None:
    """They compile the same sources, so there is nothing to promote."""
    plain = PROJECT.replace("{overlay: overlays/staging}", "{}").replace("{overlay: overlays/prod}", "{}")
    repo = repository(tmp_path, {"kservec.yaml": plain})
    ran = kservec(repo, "promote", "prod", "--from", "staging")
    assert (ran.status, "they compile the same sources, without overlays" in ran.err) == (0, True), ran.err


def test_a_target_without_overlay(tmp_path: Path) -> None:
    """Its pins are those of the sources, which are never edited."""
    repo = repository(tmp_path, {**STAGED, "kservec.yaml": PROJECT.replace("{overlay: overlays/prod}", "{}")})
    ran = kservec(repo, "promote", "prod", "--from", "staging")
    assert (ran.status, "prod has no overlay to set it in" in ran.err) == (1, True), ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("prdo", "--from", "staging"), "prdo is no environment of kservec.yaml; did you mean prod?"),
        (("production", "--from", "staging"), "production is no environment of kservec.yaml; did you mean prod?"),
        (
            ("prod", "--from", "staging", "fraud-detector"),
            "neither environment has fraud-detector; did you mean fraud?",
        ),
        (("prod", "--from", "prod"), "prod is promoted from itself"),
        (("prod", "--from", "staging", "frauds"), "neither environment has frauds; did you mean fraud?"),
        (("prod",), "Missing option '--from'"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """It is told apart from what is wrong in the files."""
    repo = repository(tmp_path, STAGED)
    ran = kservec(repo, "promote", *arguments)
    assert (ran.status, said in ran.err) == (2, True), ran.err
