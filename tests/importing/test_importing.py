"""The parts of an import: cleaning, facts, what is referred to, and what a hand-over would do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests import libyaml
from tests.cli.running import SERVICE, kservec

from kservec.core.diagnostics import ObjectRef
from kservec.importer import facts_in, import_dump
from kservec.importing.cleaning import LAST_APPLIED, cleaned
from kservec.importing.handover import hand_over
from kservec.io.reading import File

from .dumps import dump_of

if TYPE_CHECKING:
    from pathlib import Path

ISVC: dict[str, Any] = libyaml.load(SERVICE)
SECRET = {
    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "models", "namespace": "payments"},
    "data": {"AWS_SECRET_ACCESS_KEY": "dGhlLXZhbHVlLW11c3Qtbm90LWFwcGVhcg==", "AWS_ACCESS_KEY_ID": "Zm9v"},
}  # fmt: skip
ACCOUNT = {
    "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "payments"},
    "secrets": [{"name": "models"}],
}  # fmt: skip


def test_server_fields_and_notes_go() -> None:
    """What is left is what somebody would write; labels and annotations of users stay."""
    served = {
        **ISVC,
        "metadata": {
            **ISVC["metadata"],
            "uid": "x", "resourceVersion": "1", "managedFields": [], "finalizers": ["f"], "generation": 3,
            "labels": {"team": "risk", "app.kubernetes.io/instance": "models"},
            "annotations": {
                **ISVC["metadata"]["annotations"],
                "argocd.argoproj.io/tracking-id": "models:serving.kserve.io/InferenceService:payments/fraud",
                LAST_APPLIED: "{}",
            },
        },
        "status": {"url": "http://fraud"},
    }  # fmt: skip
    served["spec"]["predictor"]["model"] |= {"name": "", "resources": {}}
    expected = {**ISVC, "metadata": {**ISVC["metadata"], "labels": {"team": "risk"}}}
    assert cleaned(served) == {
        **expected,
        "spec": {"predictor": {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://models/fraud/v7"}}},
    }


def with_note(applied: dict[str, Any]) -> dict[str, Any]:
    """The service as a cluster has it, with more in it than somebody applied, and kubectl's note of that."""
    stored = libyaml.load(SERVICE)
    stored["spec"]["predictor"]["minReplicas"] = 1
    stored["metadata"]["annotations"][LAST_APPLIED] = json.dumps(applied)
    return dict(stored)


def test_what_was_applied_is_preferred_where_it_means_the_same() -> None:
    """The spec is as its author wrote it, unless it was changed in the cluster since."""
    applied = libyaml.load(SERVICE)
    made = import_dump([dump_of([with_note(applied)], [])]).files
    text = made["services/payments/inferenceservice-payments-fraud.yaml"]
    assert libyaml.load(text) == applied
    applied["spec"]["predictor"]["model"]["storageUri"] = "s3://models/fraud/v6"
    stale = import_dump([dump_of([with_note(applied)], [])]).files
    assert "fraud/v7" in stale["services/payments/inferenceservice-payments-fraud.yaml"]


def test_secrets_are_imported_by_shape() -> None:
    """Keys are listed, values appear nowhere."""
    other = {**SECRET, "metadata": {"name": "unrelated", "namespace": "payments"}}
    secret = {**SECRET, "metadata": {**SECRET["metadata"], "annotations": {LAST_APPLIED: json.dumps(SECRET)}}}
    made = import_dump([dump_of([ISVC, secret, other, ACCOUNT], [])]).files
    cluster = libyaml.load(made["platform/cluster.yaml"])
    assert [(s["name"], s["keys"]) for s in cluster["secrets"]] == [
        ("models", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
    ]
    assert cluster["serviceAccounts"] == [{"name": "default", "namespace": "payments", "secrets": ["models"]}]
    assert not [p for p, text in made.items() if "dGhl" in text or "the-value-must-not-appear" in text]


def test_facts_of_a_cluster() -> None:
    """Version, domain, missing kinds and namespaces come from what kubectl prints."""
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "scaledobjects.keda.sh"},
        "spec": {
            "group": "keda.sh", "names": {"kind": "ScaledObject"}, "versions": [{"name": "v1alpha1", "served": True}],
        },
    }  # fmt: skip
    core = {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "coredns", "namespace": "kube-system"},
        "data": {"Corefile": ".:53 {\n    kubernetes corp.local in-addr.arpa {\n    }\n}\n"},
    }  # fmt: skip
    spaces = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name, **more}},
        }
        for name, more in (("payments", {"pod-security.kubernetes.io/enforce": "restricted"}), ("kube-system", {}))
    ]
    version = {"clientVersion": {"gitVersion": "v1.36.0"}, "serverVersion": {"gitVersion": "v1.34.2-eks-1234"}}
    files = [dump_of([crd, core, *spaces], []), File("version.json", json.dumps(version).encode())]
    document, found = facts_in(files)
    assert not found
    assert (document["kubernetesVersion"], document["clusterDomain"]) == ("1.34.2", "corp.local")
    assert document["namespaces"] == {"payments": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    assert "keda.sh/v1alpha1/ScaledObject" not in document["absent"]
    assert "gateway.networking.k8s.io/v1/HTTPRoute" in document["absent"]
    assert "apps/v1/Deployment" not in document["absent"]


DEPLOYMENT = ObjectRef("apps/v1", "Deployment", "ml", "a")


@pytest.mark.parametrize(
    ("changes", "changed", "restarts"),
    [
        ({}, (), ()),
        ({"replicas": 2}, ("spec.replicas",), ()),
        ({"template": {"spec": {"containers": [{"name": "c", "image": "x:2"}]}}},
         ("spec.template.spec.containers[c].image",), ("containers[c].image",)),
        ({"template": {"spec": {"initContainers": [{"name": "i"}]}}},
         ("spec.template.spec.initContainers",), ("initContainers",)),
    ],
)  # fmt: skip
def test_what_a_hand_over_changes(changes: dict[str, Any], changed: tuple[str, ...], restarts: tuple[str, ...]) -> None:
    """Only what the tree has and the cluster has not; of that, pod templates restart pods."""
    live = {"spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "x:1", "tty": True}]}}}}
    (taken,) = hand_over({DEPLOYMENT: {"spec": changes}}, {DEPLOYMENT: live}).taken
    assert (taken.is_new, taken.changes, taken.restarts) == (False, changed, restarts)


def test_new_and_left_objects() -> None:
    """What the cluster lacks is new; what only KServe made is left behind."""
    service = ObjectRef("v1", "Service", "ml", "a")
    done = hand_over({DEPLOYMENT: {}}, {service: {}})
    assert [taken.is_new for taken in done.taken] == [True]
    assert done.left == (service,)


def test_the_command_makes_a_project_that_builds(tmp_path: Path) -> None:
    """The new folder builds as it is, and the recipe is beside it; a folder in use is refused."""
    (tmp_path / "dump.json").write_bytes(dump_of([ISVC, SECRET, ACCOUNT], []).content)
    ran = kservec(tmp_path, "import", "dump.json", "--output", "models")
    assert ran.status == 0, ran.err
    assert "0 objects to take over, of which 0 would restart" in ran.err
    assert kservec(tmp_path / "models", "build").status == 0
    assert (tmp_path / "models" / "HANDOVER.md").read_text().startswith("# Hand-over from KServe\n")
    again = kservec(tmp_path, "import", "dump.json", "--output", "models")
    assert (again.status, "it is not empty" in again.err) == (2, True)


def test_facts_are_printed(tmp_path: Path) -> None:
    """They go to standard output, ready to be a platform file."""
    (tmp_path / "dump.json").write_bytes(dump_of([SECRET], []).content)
    ran = kservec(tmp_path, "import", "--facts", "dump.json")
    assert ran.status == 0
    assert libyaml.load(ran.out)["secrets"][0]["name"] == "models"
    (tmp_path / "broken.yaml").write_text("a: [\n")
    assert kservec(tmp_path, "import", "--facts", "broken.yaml").status == 1
    assert kservec(tmp_path, "import", "broken.yaml").status == 2


CLUSTER = """\
apiVersion: kservec.dev/v1alpha1
kind: Cluster
kubernetesVersion: "1.33"
secrets: [{name: models, namespace: payments, keys: [AWS_ACCESS_KEY_ID, lost]}]
serviceAccounts: [{name: gone, namespace: payments}]
knative: {features: {kubernetes.podspec-init-containers: enabled}}
"""


def test_lint_says_what_no_longer_fits(tmp_path: Path) -> None:
    """Declared facts are compared with a dump: the version, kinds, keys of Secrets, accounts, settings."""
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    features = {
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "config-features", "namespace": "knative-serving"},
        "data": {"kubernetes.podspec-init-containers": "disabled"},
    }  # fmt: skip
    served = {"kind": "APIResourceList", "groupVersion": "keda.sh/v1alpha1", "resources": [{"kind": "ScaledObject"}]}
    (tmp_path / "dump.json").write_bytes(dump_of([SECRET, ACCOUNT, features], []).content)
    (tmp_path / "served.json").write_text(json.dumps({**served, "apiVersion": "v1"}))
    (tmp_path / "version.json").write_text(json.dumps({"serverVersion": {"gitVersion": "v1.34.2"}}))
    facts = [word for name in ("dump", "served", "version") for word in ("--facts", f"{name}.json")]
    ran = kservec(tmp_path, "lint", "fraud.yaml", "--platform", "cluster.yaml", *facts)
    assert ran.status == 0, ran.err
    for said in (
        "the cluster runs Kubernetes 1.34.2, and 1.33 is compiled for",
        "Secret payments/models has no lost in the cluster",
        "the cluster has no ServiceAccount payments/gone, which is declared",
        "kubernetes.podspec-init-containers of Knative's config-features is disabled in the cluster; "
        "enabled is declared",
    ):
        assert f"warning[cluster/unfit]: {said}" in ran.err
    assert kservec(tmp_path, "lint", "fraud.yaml", "--platform", "cluster.yaml").err.count("cluster/unfit") == 0


OWNED = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "fraud-predictor", "namespace": "payments"},
}  # fmt: skip


def owned_by(service: str) -> dict[str, Any]:
    """A workload that KServe made of a service."""
    owner = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "name": service, "uid": "1"}
    return {**OWNED, "metadata": {"name": f"{service}-predictor", "namespace": "payments", "ownerReferences": [owner]}}


def renamed(name: str, **metadata: str) -> dict[str, Any]:
    """The service under another name."""
    made = libyaml.load(SERVICE)
    made["metadata"] |= {"name": name, **metadata}
    return dict(made)


def test_what_belongs_to_services_that_do_not_compile_is_not_decided() -> None:
    """Nobody is told to delete it; others are decided."""
    broken = renamed("broken")
    broken["spec"]["predictor"]["model"]["modelFormat"]["name"] = "nosuch"
    made = import_dump([dump_of([ISVC, broken, owned_by("broken"), owned_by("fraud"), owned_by("gone")], [])])
    assert made.hand_over is not None
    assert [ref.name for ref in made.hand_over.undecided] == ["broken-predictor"]
    assert [ref.name for ref in made.hand_over.left] == ["gone-predictor"]
    assert "### Not decided\n" in made.files["HANDOVER.md"]


@pytest.mark.parametrize("place", [{"name": "../../pwned"}, {"name": "a/b"}, {"name": "ok", "namespace": "../../x"}])
def test_names_lead_nowhere(tmp_path: Path, place: dict[str, str]) -> None:
    """A dump with a name that is none is refused; nothing is written, least of all elsewhere."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "dump.json").write_bytes(dump_of([ISVC, renamed(**place)], []).content)
    ran = kservec(tmp_path / "in", "import", "dump.json", "--output", "deep/out")
    assert (ran.status, "error[import/name]" in ran.err) == (1, True)
    assert [p.name for p in tmp_path.rglob("*")] == ["in", "dump.json"]


def test_a_dump_of_something_else(tmp_path: Path) -> None:
    """Without anything that compiles there is no project; without KServe's configuration there is a warning."""
    (tmp_path / "dump.yaml").write_text("a: 1\n")
    ran = kservec(tmp_path, "import", "dump.yaml", "--output", "out")
    assert (ran.status, "error[import/nothing]" in ran.err, (tmp_path / "out").exists()) == (1, True, False)
    found = import_dump([dump_of([ISVC], [])]).diagnostics
    assert "import/no-configuration" in [d.code.slug for d in found]


ODD: list[Any] = [1, "x", [1], {"a": [1]}, None, True, {"name": [1]}]


@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.parametrize(
    "path",
    [
        "metadata.labels",
        "metadata.annotations",
        "metadata.ownerReferences",
        "data",
        "secrets",
        "imagePullSecrets",
        "spec",
    ],
)
def test_odd_objects_do_no_harm(path: str, odd: Any) -> None:
    """Whatever stands in an object of the dump, the others are imported."""
    *above, last = path.split(".")
    odds = []
    for kind in ("ConfigMap", "ServiceAccount", "Secret", "Namespace", "CustomResourceDefinition", "Gateway"):
        value: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "odd", "namespace": "payments"}}
        (value["metadata"] if above else value)[last] = odd
        odds.append(value)
    content = json.dumps({"apiVersion": "v1", "kind": "List", "items": [ISVC, *odds]})
    made = import_dump([File("dump.json", content.encode())])
    assert "services/payments/inferenceservice-payments-fraud.yaml" in made.files
