"""kservec explain and urls: where values come from, why a runtime was chosen, and where services are reached."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests import libyaml

from kservec.explain.reasons import Asked
from kservec.io.kustomize import HOW_TO, tools

from .running import ROOT, SERVICE, kservec

if TYPE_CHECKING:
    from .running import Ran

IMAGE = "Deployment/fraud-predictor.spec.template.spec.containers[kserve-container].image"
EXAMPLES = ("examples/services", "--platform", "examples/platform")


def explain(work: Path, name: str, *arguments: str) -> Ran:
    """Ask about a name in the folder's service."""
    return kservec(work, "explain", name, "fraud.yaml", *arguments)


def test_a_value_and_where_it_comes_from(work: Path) -> None:
    """The layer, what put it there, and the file with line and column."""
    ran = explain(work, IMAGE)
    assert ran.status == 0
    head, line = ran.out.splitlines()
    assert head == "Deployment payments/fraud-predictor"
    assert "runtime by kserve-sklearnserver (builtin/kserve-sklearnserver.yaml:" in line


def test_a_value_of_the_spec(work: Path) -> None:
    """A value that the user wrote is found in the user's file, one that follows from it is told apart."""
    written = explain(work, "Deployment/fraud-predictor.metadata.annotations.serving.kserve.io/deploymentMode")
    assert '["serving.kserve.io/deploymentMode"]: "Standard"' in written.out
    assert written.out.endswith("  spec (fraud.yaml:7:39)\n")
    derived = explain(work, "Deployment/fraud-predictor.metadata.name")
    assert "derived (fraud.yaml:" in derived.out


def test_all_values_of_an_object(work: Path) -> None:
    """Without a field every value is listed, as text and as JSON."""
    told = json.loads(explain(work, "payments/Deployment/fraud-predictor", "--format", "json").out)
    (made,) = [
        value for value in libyaml.load_all(kservec(work, "build", "fraud.yaml").out) if value["kind"] == "Deployment"
    ]
    assert told["object"]["name"] == "fraud-predictor"
    by_path = {entry["path"]: entry for entry in told["values"]}
    assert (
        by_path["spec.template.spec.containers.kserve-container.image"]["value"]
        == (made["spec"]["template"]["spec"]["containers"][0]["image"])
    )
    assert all(entry["layer"] != "unknown" for entry in told["values"])


def test_why_a_runtime_was_chosen(work: Path) -> None:
    """All runtimes are listed in the order in which they are tried, with the reason for each."""
    ran = explain(work, "InferenceService/fraud")
    assert ran.status == 0
    assert (
        "InferenceService payments/fraud, in Standard mode\nfraud-predictor: a runtime for format sklearn\n" in ran.out
    )
    assert "  * kserve-sklearnserver (ClusterServingRuntime): first that fits\n" in ran.out
    assert "    kserve-mlserver (ClusterServingRuntime): speaks v2, not v1\n" in ran.out
    assert "leads to\n" in ran.out
    told = json.loads(explain(work, "InferenceService/fraud", "--format", "json").out)
    assert [r["name"] for r in told["runtimes"][0]["runtimes"] if r["chosen"]] == ["kserve-sklearnserver"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Deployment/fraud-predictor.spec.foo", "Deployment payments/fraud-predictor has no spec.foo"),
        ("Deployment/fraud-predictor.spec[", "Deployment payments/fraud-predictor has no spec["),
        ("InferenceService/frauds", "there is no object InferenceService/frauds; did you mean InferenceService/fraud?"),
        ("Deployment/other", "there is no object Deployment/other"),
        ("InferenceService/iris", "there is no object InferenceService/iris; there are "),
        ("InferenceService/zzz", "there is no object InferenceService/zzz; there are "),
        ("Deployment/iris-predictor.spec", "there is no object Deployment/iris-predictor.spec; there are "),
        ("Deployment/abs-predicto", "there is no object Deployment/abs-predicto; there are "),
        ("Deployment/frau-predictor.spec", "did you mean Deployment/fraud-predictor?"),
        ("Deployment/fraud-predicto", "did you mean Deployment/fraud-predictor?"),
        ("Deployment/fr-aud-predictor", "did you mean Deployment/fraud-predictor?"),
        ("Deploymnt/fraud-predictor", "did you mean Deployment/fraud-predictor?"),
        ("Deployment/fraud", "did you mean InferenceService/fraud?"),
        ("Deployment/pay/fraud-predictor", "did you mean Deployment/payments/fraud-predictor?"),
        ("InferenceService/", "'InferenceService/' names no object, as KIND/NAME does; there are "),
        ("payments/InferenceService/.spec", "names no object, as KIND/NAME does; there are "),
        ("", "'' names no object, as KIND/NAME does; there are "),
        ("InferenceService/fraud.nonsense", "InferenceService payments/fraud is not rendered, so no fields of it"),
        ("Deployment/fraud-predictor.spec.replica", "did you mean spec.replicas? There is none; its autoscaler"),
        ("Deployment/fraud-predictor.spec.replicas", "has no spec.replicas; its autoscaler owns the number"),
        ("Deployment/fraud-predictor.spec.templat.sepc", "has no spec.templat.sepc; did you mean spec.template.spec?"),
        (
            "Deployment/fraud-predictor.spec.template.spec.containers[kserve-containr].imag",
            "did you mean spec.template.spec.containers.kserve-container.image?",
        ),
        (
            "Deployment/fraud-predictor.metadata.annotations.serving.kserve.io/deploymentMod",
            'did you mean metadata.annotations["serving.kserve.io/deploymentMode"]?',
        ),
    ],
)
def test_what_is_not_there(work: Path, name: str, said: str) -> None:
    """A name or field that means nothing is wrong usage, with a suggestion."""
    ran = explain(work, name)
    assert (ran.status, said in ran.err) == (2, True), ran.err


def test_the_object_of_a_refused_service_may_be_meant(work: Path) -> None:
    """A slip in the name of an object that is not made, since its service has errors, is known as well."""
    sound = work / "sound.yaml"
    sound.write_text(SERVICE.replace("name: fraud", "name: iris"))
    ran = kservec(work, "explain", "Deployment/wrng-predictor", "sound.yaml", "wrong.yaml")
    said = "did you mean an object of InferenceService/wrong, which has errors?"
    assert (ran.status, said in ran.err) == (2, True), ran.err
    ran = kservec(work, "explain", "InferenceService/wrng", "sound.yaml", "wrong.yaml")
    assert (ran.status, "did you mean InferenceService/wrong?" in ran.err) == (2, True), ran.err


def test_a_service_that_is_refused(work: Path) -> None:
    """Its errors are the explanation."""
    ran = kservec(work, "explain", "Deployment/wrong-predictor", "wrong.yaml")
    assert (ran.status, "storage/unknown-scheme" in ran.err) == (1, True)


@pytest.mark.parametrize("layout", ["text", "json"])
def test_a_field_of_a_service_that_is_refused(work: Path, layout: str) -> None:
    """It is there, and has no fields because of its errors; so these are told, as `lint` tells them."""
    ran = kservec(work, "explain", "InferenceService/wrong.spec.predictor", "wrong.yaml", "--format", layout)
    assert ran.status == 1, ran.err
    if layout == "json":
        linted = told(kservec(work, "lint", "wrong.yaml", "--format", "json"))
        assert told(ran) == [d for d in linted if d["severity"] == "error"]
    else:
        assert "error[storage/unknown-scheme]" in ran.err
        assert "--> wrong.yaml:" in ran.err
        assert "InferenceService payments/wrong has errors, so it leads to no objects that have fields" in ran.err


def test_a_service_that_is_broken(work: Path) -> None:
    """What is told of it leads to nothing, so its errors are told, too: beside the text, and within the JSON."""
    ran = kservec(work, "explain", "InferenceService/wrong", "wrong.yaml")
    assert (ran.status, "leads to nothing" in ran.out, "error[storage/unknown-scheme]" in ran.err) == (1, True, True)
    ran = kservec(work, "explain", "InferenceService/wrong", "wrong.yaml", "--format", "json")
    told = json.loads(ran.out)
    assert (ran.status, ran.err, told["objects"]) == (1, "", [])
    assert [d["code"] for d in told["diagnostics"]] == ["storage/unknown-scheme"]


def test_findings_of_others_are_not_told(work: Path) -> None:
    """Of a sound service the document says that there are none, whatever is wrong beside it."""
    ran = kservec(work, "explain", "InferenceService/fraud", "fraud.yaml", "wrong.yaml", "--format", "json")
    assert (ran.status, json.loads(ran.out)["diagnostics"]) == (0, [])
    refused = work / "refused.yaml"
    refused.write_text(SERVICE.replace("name: fraud", "name: refused").replace("model:", "minReplicas: -1\n    model:"))
    ran = kservec(work, "explain", "InferenceService/refused", "refused.yaml", "wrong.yaml", "--format", "json")
    assert (ran.status, ran.err) == (1, "")
    assert {d["code"] for d in json.loads(ran.out)["diagnostics"]} == {"scaling/negative-count"}


REFUSED = SERVICE.replace("name: fraud", "name: refused").replace("model:", "minReplicas: -1\n    model:", 1)
FAULTY = REFUSED.replace("s3://models", "ftp://models")
UNREADABLE = SERVICE.replace("name: fraud", "name: bad").replace("spec:", "spec: [")
FILES = ("fraud.yaml", "wrong.yaml", "refused.yaml", "bad.yaml", "odd.yaml")


@pytest.fixture
def faulty(work: Path) -> Path:
    """A folder with services of every kind of fault beside a sound one."""
    (work / "refused.yaml").write_text(FAULTY)
    (work / "bad.yaml").write_text(UNREADABLE)
    (work / "odd.yaml").write_text(SERVICE.replace("name: fraud", "name: odd").replace("Service\n", "Servise\n"))
    return work


def told(ran: Ran) -> list[Any]:
    """The findings of a document."""
    found: list[Any] = json.loads(ran.out)["diagnostics"]
    return found


@pytest.mark.parametrize("name", ["wrong", "refused", "fraud"])
def test_errors_are_those_of_lint(faulty: Path, name: str) -> None:
    """Of a service the same findings are told as lint tells, in its order, however early the service is refused."""
    linted = told(kservec(faulty, "lint", *FILES, "--format", "json"))
    own = [d for d in linted if d["object"] is not None and d["object"]["name"] == name]
    assert {"wrong": 1, "refused": 2, "fraud": 0}[name] == len(own)
    for asked in (f"InferenceService/{name}", f"Deployment/{name}-predictor"):
        ran = kservec(faulty, "explain", asked, *FILES, "--format", "json")
        assert (ran.status, told(ran)) == (1 if own else 0, own), asked


def test_findings_stand_in_the_order_of_lint(work: Path) -> None:
    """Of an object as well as of a service, whichever part of the compiler found them."""
    odd = "      image: a b\n      resources: {limits: {cpu: 99999999999999999999Gi}}\n"
    (work / "odd.yaml").write_text(SERVICE.replace("s3://models", "gs//models") + odd)
    (work / "kservec.yaml").write_text(
        "apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [odd.yaml]\nenvironments: {prod: {}}\n"
    )
    for name in ("InferenceService/fraud", "Deployment/fraud-predictor"):
        for place in ("odd.yaml", "prod"):
            linted = told(kservec(work, "lint", place, "--format", "json"))
            own = [d for d in linted if d["object"] is not None]
            assert len(own) > 2
            assert told(kservec(work, "explain", name, place, "--format", "json")) == own


def test_errors_about_all_objects_are_told(work: Path) -> None:
    """Two services that lead to one object are both at fault; what only a whole run finds is found."""
    (work / "fraud.yaml").write_text(SERVICE.replace("  predictor:\n", "  predictor:\n    name: blue\n"))
    (work / "twin.yaml").write_text(SERVICE.replace("name: fraud", "name: fraud-blue"))
    linted = told(kservec(work, "lint", "fraud.yaml", "twin.yaml", "--format", "json"))
    assert "output/object-twice" in {d["code"] for d in linted}
    for name in ("InferenceService/fraud", "InferenceService/fraud-blue"):
        ran = kservec(work, "explain", name, "fraud.yaml", "twin.yaml", "--format", "json")
        assert (ran.status, "output/object-twice" in {d["code"] for d in told(ran)}) == (1, True), name


@pytest.mark.parametrize(
    ("name", "status", "codes", "said"),
    [
        ("InferenceService/frauds", 2, set(), "did you mean InferenceService/fraud?"),
        ("Deployment/fraud-predicto.spec", 2, set(), "did you mean Deployment/fraud-predictor?"),
        ("fraud", 2, set(), "did you mean InferenceService/fraud?"),
        ("pay/InferenceService/fraud", 2, set(), "did you mean payments/InferenceService/fraud?"),
        ("Deployment/zzz", 2, set(), "; there are "),
        ("InferenceService/bad", 1, {"yaml/unclosed"}, "there is no object InferenceService/bad"),
        ("payments/Deployment/bad-predictor.spec", 1, {"yaml/unclosed"}, "there is no object payments/Deployment/bad"),
        ("InferenceService/odd", 1, {"schema/unknown-kind"}, "there is no object InferenceService/odd"),
        ("Deployment/refused-predictor", 1, {"scaling/negative-count", "storage/unknown-scheme"}, "there is no object"),
        ("other/Deployment/refused-predictor", 2, set(), "there is no object"),
        ("LLMInferenceService/wrong", 2, set(), "there is no object"),
    ],
)
def test_only_what_may_be_the_reason_is_told(faulty: Path, name: str, status: int, codes: set[str], said: str) -> None:
    """Of an object that is not there: what there is, and errors only where they may be why it is not."""
    ran = kservec(faulty, "explain", name, *FILES)
    assert (ran.status, said in ran.err) == (status, True), ran.err
    assert {line[6:].split("]")[0] for line in ran.err.splitlines() if line.startswith("error[")} == codes


@pytest.mark.parametrize(
    ("name", "is_its"),
    [
        ("Deployment/a-predictor", True),
        ("payments/Service/a-blue-predictor", True),
        ("ConfigMap/modelconfig-a-0", True),
        ("ConfigMap/modelconfig-a-01", False),
        ("ConfigMap/kserve-banana", False),
        ("Secret/iris-a", False),
        ("Deployment/nope-a", False),
        ("Deployment/aa-predictor", False),
        ("Gateway/kserve-ingress-gateway", False),
    ],
)
@pytest.mark.parametrize("kind", ["InferenceService", "InferenceGraph"])
def test_only_objects_that_are_called_like_a_service_may_be_its_own(
    work: Path, kind: str, name: str, is_its: bool
) -> None:
    """A short name stands in many others by chance."""
    refused = REFUSED.replace("name: refused", "name: a")
    if kind == "InferenceGraph":
        refused = (
            "apiVersion: serving.kserve.io/v1alpha1\nkind: InferenceGraph\nmetadata: {name: a, namespace: payments}\n"
            "spec: {nodes: {other: {routerType: Sequence, steps: [{serviceName: fraud}]}}}\n"
        )
    (work / "refused.yaml").write_text(refused)
    ran = kservec(work, "explain", name, "fraud.yaml", "refused.yaml")
    assert (ran.status, "error[" in ran.err) == ((1, True) if is_its else (2, False)), ran.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Gateway/kserve-ingress-gateway", "there is no object Gateway/kserve-ingress-gateway; there are "),
        ("Gateway/kserve", "did you mean InferenceService/kserve?"),
        ("Service/kserve-predictr", ""),
    ],
)
def test_a_gateway_comes_of_no_service(work: Path, name: str, said: str) -> None:
    """Whatever a refused service is called: services are reached by Gateways, and lead to none."""
    (work / "refused.yaml").write_text(REFUSED.replace("name: refused", "name: kserve"))
    ran = kservec(work, "explain", name, "fraud.yaml", "refused.yaml")
    assert (ran.status, said in ran.err, "error[" in ran.err) == (2 if said else 1, True, not said), ran.err


def test_a_refused_service_of_just_the_name_is_the_reason(work: Path) -> None:
    """Another one whose name the name begins with is none then."""
    (work / "short.yaml").write_text(REFUSED.replace("name: refused", "name: card"))
    (work / "long.yaml").write_text(REFUSED.replace("name: refused", "name: card-fraud"))
    for name, subjects in (("Ingress/card-fraud", {"card-fraud"}), ("Ingress/card-predictor", {"card"})):
        ran = kservec(work, "explain", name, "short.yaml", "long.yaml", "--format", "json")
        assert (ran.status, {d["object"]["name"] for d in told(ran)}) == (1, subjects), ran.err


RIVALS = """apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: NAME}
spec:
  supportedModelFormats: [{name: FORMAT, version: "VERSION", autoSelect: true, priority: 1}]
  protocolVersions: [v1]
  containers: [{name: kserve-container, image: "registry.example.com/NAME:1"}]
---
"""


@pytest.mark.parametrize("named", [False, True])
def test_what_is_wrong_with_the_runtimes_of_a_service(work: Path, named: bool) -> None:
    """Errors about those that may serve it are its own; of those that serve others they are not."""
    runtimes = (("alpha", "sklearn", "1"), ("omega", "sklearn", "1"), ("other", "xgboost", "2"))
    text = "".join(
        RIVALS.replace("NAME", name).replace("FORMAT", serves).replace("VERSION", version)
        for name, serves, version in runtimes
    )
    if named:
        (work / "fraud.yaml").write_text(SERVICE.replace("model:", "model:\n      runtime: omega", 1))
    (work / "runtimes.yaml").write_text(text)
    linted = told(kservec(work, "lint", "fraud.yaml", "runtimes.yaml", "--format", "json"))
    ran = kservec(work, "explain", "InferenceService/fraud", "fraud.yaml", "runtimes.yaml", "--format", "json")
    meant = {"omega"} if named else {"alpha", "omega"}
    own = [d for d in linted if d["object"]["name"] in {"fraud", *meant}]
    assert {d["code"] for d in own if d["severity"] == "error"} == {"runtime/same-priority"}
    assert (ran.status, told(ran)) == (1, own)
    assert "other" in {d["object"]["name"] for d in linted}


def test_a_binding_has_the_namespace_in_front() -> None:
    """Those objects of a service that do not begin like it are known as its own."""
    binding = Asked.of("ClusterRoleBinding/ml-chat-epp-auth-rb.roleRef")
    assert [binding.may_come_of(name) for name in ("chat", "at", "rb")] == [True, False, False]


def test_an_object_is_found_whatever_services_are_called(work: Path) -> None:
    """A service with a short name does not hide the objects of the others."""
    (work / "short.yaml").write_text(SERVICE.replace("name: fraud", "name: modelconfig"))
    (work / "trained.yaml").write_text(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: TrainedModel\nmetadata: {name: one, namespace: payments}\n"
        "spec:\n  inferenceService: fraud\n"
        "  model: {framework: sklearn, storageUri: 's3://models/one', memory: 1Gi}\n"
    )
    (work / "fraud.yaml").write_text(SERVICE.replace("      storageUri: s3://models/fraud/v7\n", ""))
    ran = kservec(work, "explain", "ConfigMap/modelconfig-fraud-0", "fraud.yaml", "short.yaml", "trained.yaml")
    assert (ran.status, "ConfigMap payments/modelconfig-fraud-0" in ran.out) == (0, True), ran.err


def test_a_file_that_holds_no_text_may_be_the_reason(faulty: Path) -> None:
    """Nobody knows what stands in a file that cannot be read; a document of another kind is of no concern."""
    (faulty / "binary.yaml").write_bytes(b"\xff\xfe\x00\x01\x02")
    (faulty / "secret.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata: {name: gone\n")
    ran = kservec(faulty, "explain", "InferenceService/gone", *FILES, "binary.yaml", "secret.yaml", "--format", "json")
    assert {d["location"]["file"] for d in told(ran)} == {"binary.yaml"}


def test_what_a_service_lacks_is_told_by_the_document_that_is_broken(work: Path) -> None:
    """A service that only lacks what a broken document declares is explained by the error of that document."""
    (work / "runtime.yaml").write_text(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: own, namespace: payments}\n"
        "spec: {containers: [{name: kserve-container, image: 'a:1'}], supportedModelFormats: 7}\n"
    )
    (work / "fraud.yaml").write_text(SERVICE.replace("model:", "model:\n      runtime: own", 1))
    for name in ("InferenceService/fraud", "Deployment/fraud-predictor"):
        ran = kservec(work, "explain", name, "fraud.yaml", "runtime.yaml", "wrong.yaml", "--format", "json")
        assert (ran.status, {d["location"]["file"] for d in told(ran)}) == (1, {"runtime.yaml"}), ran.out


def test_what_a_policy_finds_is_told(work: Path) -> None:
    """In an environment an object has the findings of all stages."""
    (work / "kservec.yaml").write_text(
        "apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [fraud.yaml]\nenvironments: {prod: {}}\n"
        "policy: {rules: {policy/image-digest: error}}\n"
    )
    linted = told(kservec(work, "lint", "prod", "--format", "json"))
    ran = kservec(work, "explain", "Deployment/fraud-predictor", "prod", "--format", "json")
    assert (ran.status, told(ran)) == (1, [d for d in linted if d["object"] is not None])
    assert "policy/image-digest" in {d["code"] for d in told(ran)}
    assert json.loads(ran.out)["values"]


@pytest.mark.parametrize("command", [("urls",), ("graph", "--view", "deployed")])
def test_other_questions_find_all_mistakes_as_well(faulty: Path, command: tuple[str, ...]) -> None:
    """Where there is no answer the errors are all that lint finds."""
    linted = kservec(faulty, "lint", *FILES).err
    ran = kservec(faulty, command[0], *FILES, *command[1:])
    heads = [[line for line in text.splitlines() if line.startswith("error[")] for text in (linted, ran.err)]
    assert (ran.status, heads[1]) == (1, heads[0])


@pytest.mark.parametrize("asked", [("explain", "Deployment/wrong-predictor"), ("urls",), ("capacity",)])
def test_what_cannot_be_answered_is_a_document_as_well(work: Path, asked: tuple[str, ...]) -> None:
    """Whoever asks for JSON gets the errors as JSON, where the answer would be."""
    ran = kservec(work, *asked, "wrong.yaml", "--format", "json")
    assert (ran.status, ran.err) == (1, "")
    assert [d["code"] for d in json.loads(ran.out)["diagnostics"]] == ["storage/unknown-scheme"]
    (work / "kservec.yaml").write_text("apiVersion: kservec.dev/v1alpha1\nkind: Project\nsourcs: [a]\n")
    ran = kservec(work, *asked, "--format", "json")
    assert (ran.status, ran.err, bool(json.loads(ran.out)["diagnostics"])) == (1, "", True)


def test_secrets_are_not_shown(work: Path) -> None:
    """A value that looks like a credential is hidden, in text and JSON."""
    text = (work / "fraud.yaml").read_text()
    env = "      env: [{name: API_TOKEN, value: the-value-must-not-appear}]\n"
    (work / "fraud.yaml").write_text(text + env)
    for layout in ("text", "json"):
        ran = explain(work, "Deployment/fraud-predictor", "--format", layout)
        assert (ran.status, "the-value-must-not-appear" in ran.out) == (0, False)
        assert "API_TOKEN" in ran.out


def test_urls_of_all_kinds() -> None:
    """Services, graphs and large models: outside, inside, the protocols, and a command that asks."""
    ran = kservec(ROOT, "urls", *EXAMPLES)
    assert ran.status == 0
    assert "  outside   https://fraud-detector-payments.models.example.com\n" in ran.out
    assert "  inside    http://payment-screening.payments.svc.cluster.local\n" in ran.out
    assert "/v1/models/fraud-detector:predict\n" in ran.out
    listed = json.loads(kservec(ROOT, "urls", *EXAMPLES, "--format", "json").out)["urls"]
    told = {entry["object"]["name"]: entry for entry in listed}
    assert [q["protocol"] for q in told["chat-assistant"]["questions"]] == ["openai"]
    assert told["chat-assistant"]["paths"]


def test_smoke_tests_are_jobs() -> None:
    """One for each service that can be asked; what they print is applied as it is."""
    ran = kservec(ROOT, "urls", *EXAMPLES, "--smoke-test")
    jobs = list(libyaml.load_all(ran.out))
    names = {job["metadata"]["name"] for job in jobs}
    assert {"fraud-detector-smoke-test", "chat-assistant-smoke-test"} <= names
    for job in jobs:
        (container,) = job["spec"]["template"]["spec"]["containers"]
        assert container["command"][-1].startswith(("http://", "https://"))
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_urls_of_what_does_not_compile(work: Path) -> None:
    """Errors are shown, and no URL."""
    ran = kservec(work, "urls", "wrong.yaml")
    assert (ran.status, ran.out) == (1, "")


PATCHED = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
images: {rewrite: {docker.io/: mirror.example.com/}}
environments:
  prod: {patches: patches}
"""


def test_what_patches_change_is_said(tmp_path: Path) -> None:
    """A value that a patch over rendered objects sets is the patch's; all others keep their places."""
    skip_without_kustomize()
    for folder in ("services", "patches"):
        (tmp_path / folder).mkdir()
    (tmp_path / "kservec.yaml").write_text(PATCHED)
    (tmp_path / "services" / "fraud.yaml").write_text(SERVICE)
    (tmp_path / "patches" / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: Deployment}\n"
        "  patch: |-\n    - {op: add, path: /spec/minReadySeconds, value: 7}\n"
    )
    ran = kservec(tmp_path, "explain", "Deployment/fraud-predictor", "prod")
    assert ran.status == 0, ran.err
    lines = {line.split(":")[0].strip(): line.split()[2:] for line in ran.out.splitlines()[1:]}
    assert lines["spec.minReadySeconds"] == ["patch", "by", "patches", "(patches/kustomization.yaml:6:53)"]
    assert lines["metadata.name"][0] == "derived"
    jobs = kservec(tmp_path, "urls", "prod", "--smoke-test").out
    assert "image: mirror.example.com/curlimages/curl:" in jobs


SPOILED = "{op: add, path: /spec/minReadySeconds, value: soon}"
BESIDE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: payments}
data:
  mode: slow
"""


def with_beside(folder: Path, change: str) -> None:
    """The project of `patched_project` with an object that is included, and one that patches add."""
    patched_project(folder, ", name: iris-predictor", change)
    (folder / "kservec.yaml").write_text(f"{PATCHED}include: [plain]\n")
    (folder / "plain").mkdir()
    (folder / "plain" / "plain.yaml").write_text(BESIDE.replace("NAME", "plain"))
    (folder / "patches" / "more.yaml").write_text(BESIDE.replace("NAME", "more"))
    kustomization = folder / "patches" / "kustomization.yaml"
    kustomization.write_text(
        f"{kustomization.read_text()}- target: {{kind: ConfigMap, name: plain}}\n  patch: |-\n"
        "    - {op: add, path: /data/size, value: large}\nresources: [more.yaml]\n"
    )


def test_objects_that_come_of_no_service(tmp_path: Path) -> None:
    """Those that patches add and those that are included are told of like all others, patched values and all."""
    skip_without_kustomize()
    with_beside(tmp_path, "{op: add, path: /spec/minReadySeconds, value: 7}")
    added = kservec(tmp_path, "explain", "ConfigMap/more.data", "prod")
    assert (added.status, added.out) == (
        0, 'ConfigMap payments/more\n  data.mode: "slow"  patch by patches (patches/more.yaml:5:9)\n',
    ), added.err  # fmt: skip
    included = kservec(tmp_path, "explain", "ConfigMap/plain.data", "prod")
    assert (included.status, included.out.splitlines()[1:]) == (
        0, ['  data.mode: "slow"   included (plain/plain.yaml:5:9)',
            '  data.size: "large"  patch by patches (patches/kustomization.yaml:9:42)'],
    ), included.err  # fmt: skip
    told_of = json.loads(kservec(tmp_path, "explain", "payments/ConfigMap/more", "prod", "--format", "json").out)
    assert (told_of["object"]["name"], told_of["diagnostics"]) == ("more", [])
    wrong = kservec(tmp_path, "explain", "ConfigMap/more.data.mod", "prod")
    assert (wrong.status, "did you mean data.mode?" in wrong.err) == (2, True), wrong.err
    wrong = kservec(tmp_path, "explain", "ConfigMap/mor", "prod")
    assert (wrong.status, "did you mean ConfigMap/more?" in wrong.err) == (2, True), wrong.err


@pytest.mark.parametrize("change", ["{op: replace, path: /spec/none/such, value: 7}", SPOILED])
def test_what_is_added_is_unknown_where_patches_cannot_be_laid(tmp_path: Path, change: str) -> None:
    """Then the errors are told that are why; where only another object is spoiled it is known."""
    skip_without_kustomize()
    with_beside(tmp_path, change)
    ran = kservec(tmp_path, "explain", "ConfigMap/more", "prod")
    assert (ran.status, "error[overlay/refused]" in ran.err) == ((0, False) if change == SPOILED else (1, True)), (
        ran.err
    )


def patched_project(folder: Path, target: str, change: str) -> None:
    """A project of two services whose environment has a patch over their objects."""
    for name in ("services", "patches"):
        (folder / name).mkdir()
    (folder / "kservec.yaml").write_text(PATCHED)
    (folder / "services" / "fraud.yaml").write_text(SERVICE)
    (folder / "services" / "iris.yaml").write_text(SERVICE.replace("name: fraud", "name: iris"))
    (folder / "patches" / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n"
        f"- target: {{kind: Deployment{target}}}\n  patch: |-\n    - {change}\n"
    )


SPOILS = {
    "rule": "{op: replace, path: /spec/template/spec/containers/0/resources/requests/memory, value: 999Gi}",
    "schema": "{op: add, path: /spec/minReadySeconds, value: soon}",
    "name": "{op: replace, path: /metadata/name, value: other}",
}


@pytest.mark.parametrize("change", SPOILS)
def test_an_object_that_patches_spoil_is_a_fault_of_its_service(tmp_path: Path, change: str) -> None:
    """What `lint` tells of it is told of its service and its other objects; of other services all is told as ever."""
    skip_without_kustomize()
    patched_project(tmp_path, ", name: iris-predictor", SPOILS[change])
    errors = [d for d in told(kservec(tmp_path, "lint", "prod", "--format", "json")) if d["severity"] == "error"]
    assert len(errors) == 1
    for name in ("InferenceService/iris", "Deployment/iris-predictor.kind", "Service/iris-predictor.kind"):
        ran = kservec(tmp_path, "explain", name, "prod", "--format", "json")
        assert (ran.status, [d for d in told(ran) if d["severity"] == "error"]) == (1, errors), name
        assert ("values" in json.loads(ran.out)) == name.startswith("Service/")
    for name in ("InferenceService/fraud", "Deployment/fraud-predictor.kind"):
        ran = kservec(tmp_path, "explain", name, "prod")
        assert (ran.status, "error[" in ran.err) == (0, False), ran.err
    assert '  kind: "Deployment"' in ran.out


def test_patches_that_spoil_several_objects(tmp_path: Path) -> None:
    """One error about a patch may stand for several objects; it is told of each of their services."""
    skip_without_kustomize()
    patched_project(tmp_path, "", SPOILS["schema"])
    for name in ("fraud", "iris"):
        for asked in (f"InferenceService/{name}", f"Deployment/{name}-predictor.kind"):
            ran = kservec(tmp_path, "explain", asked, "prod")
            assert (ran.status, "error[output/refused]" in ran.err) == (1, True), (asked, ran.err)


def skip_without_kustomize() -> None:
    """Skip a test that needs kustomize, loudly."""
    if not tools():
        pytest.skip(f"NOT TESTED: overlays need kustomize, and there is none here; {HOW_TO}")
