"""The frontend: documents in; catalog, configuration, cluster and units out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kservec.core.diagnostics import Severity
from kservec.core.registry import load_plugs
from kservec.core.text.source import parse
from kservec.core.unit import Mode
from kservec.frontend import Front, Options, read
from kservec.io.packaged import packaged_schemas

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.text.source import Document

PLUGS = load_plugs()

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  deploy: '{"defaultDeploymentMode": "Standard"}'
  security: '{"autoMountServiceAccountToken": true}'
  ingress: '{"ingressDomain": "example.com", "urlScheme": "http"}'
"""

SERVICE = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris, namespace: ml}
spec:
  predictor:
    model: {modelFormat: {name: sklearn}, storageUri: "s3://models/iris"}
"""

RUNTIME = """
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: house}
spec:
  supportedModelFormats: [{name: sklearn, version: "1"}]
  containers: [{name: kserve-container, image: "%s"}]
"""


def documents(text: str, file: str) -> tuple[Document, ...]:
    """The documents of a text that must be well formed."""
    found, faults = parse(text.encode(), file)
    assert not faults
    return found


def front(specs: str = "", platform: str = CONFIG, builtin: str = "", absent: tuple[str, ...] = ()) -> Front:
    """What the frontend makes of three texts."""
    return read(
        documents(specs, "specs.yaml"),
        documents(platform, "platform.yaml"),
        documents(builtin, "builtin.yaml"),
        Options(absent=absent),
        packaged_schemas(),
        PLUGS,
    )


def serious(found: Front) -> list[Diagnostic]:
    """Everything but the notes."""
    return [d for d in found.diagnostics if d.code.severity > Severity.NOTE]


def slugs(found: Front) -> list[str]:
    """The codes of everything but the notes."""
    return [d.code.slug for d in serious(found)]


def cluster_document(body: str) -> str:
    """A platform with a Cluster document."""
    return f"{CONFIG}\n---\napiVersion: kservec.dev/v1alpha1\nkind: Cluster\n{body}"


def test_an_inferenceservice_becomes_a_unit() -> None:
    """A unit carries the defaulted spec, the mode, the metadata, and the way back to the text."""
    found = front(SERVICE)
    (unit,) = found.units
    assert not serious(found)
    assert (unit.name, unit.namespace, unit.mode, unit.stopped) == ("iris", "ml", Mode.STANDARD, False)
    assert unit.annotations["serving.kserve.io/deploymentMode"] == "Standard"
    assert unit.spec.spec.predictor.model is not None
    assert unit.spec.spec.predictor.model.storage_uri == "s3://models/iris"
    assert unit.source.span("spec", "predictor", "model", "storageUri")[:2] == ("specs.yaml", 7)


def test_a_moved_model_is_located_where_the_user_wrote_it() -> None:
    """After the shorthand became `model`, its parts still point at the shorthand."""
    text = SERVICE.replace("model: {modelFormat: {name: sklearn},", "sklearn: {")
    (unit,) = front(text).units
    assert unit.spec.spec.predictor.model is not None
    assert unit.spec.spec.predictor.model.model_format.name == "sklearn"
    assert unit.source.written(("spec", "predictor", "model", "storageUri"))[2] == "sklearn"


@pytest.mark.parametrize(("written", "namespace"), [("", "default"), (", namespace: ml", "ml")])
def test_a_service_without_a_namespace_is_in_default(written: str, namespace: str) -> None:
    """Kubectl puts a document without a namespace into `default`, so the compiler does."""
    (unit,) = front(SERVICE.replace(", namespace: ml", written)).units
    assert (unit.namespace, unit.spec.metadata.namespace) == (namespace, namespace)


def test_metadata_without_a_value_counts_as_missing() -> None:
    """The API server takes `labels:` with nothing behind it for no labels."""
    (unit,) = front(SERVICE.replace("namespace: ml", "namespace: ml, labels: , annotations: ")).units
    assert (unit.labels, list(unit.annotations)) == ({}, ["serving.kserve.io/deploymentMode", "modelFormat"])


@pytest.mark.parametrize(("value", "stopped"), [("'true'", True), ("'True'", True), ("'false'", False)])
def test_a_service_can_be_stopped(value: str, stopped: bool) -> None:
    """The stop annotation counts whatever its letter case."""
    text = SERVICE.replace("namespace: ml", f"namespace: ml, annotations: {{serving.kserve.io/stop: {value}}}")
    assert front(text).units[0].stopped is stopped


def test_units_come_in_the_order_of_their_identities() -> None:
    """The order of documents in files does not matter."""
    texts = [SERVICE.replace("iris", name) for name in ("zinc", "alum", "iron")]
    assert [u.name for u in front("---".join(texts)).units] == ["alum", "iron", "zinc"]


@pytest.mark.parametrize(
    ("text", "slug", "line"),
    [
        (SERVICE.replace("storageUri:", "storageURI:"), "schema/unknown-field", 7),
        (SERVICE.replace("v1beta1", "v1alpha2"), "schema/unknown-kind", 2),
        (SERVICE.replace("kserve.io", "kubeflow.org"), "schema/unknown-kind", 2),
        (SERVICE.replace("kind: InferenceService", "kind: InferenceServise"), "schema/unknown-kind", 3),
        (SERVICE.replace("name: iris", "generateName: iris-"), "metadata/missing-name", 4),
        (SERVICE.replace("name: iris", "name: Iris"), "metadata/invalid-name", 4),
        ("kind: Deployment\nmetadata: {name: web}", "schema/unknown-kind", 1),
        (f"{SERVICE}\n---\n{SERVICE}", "input/object-twice", 13),
    ],
)
def test_documents_that_cannot_be_used_are_errors(text: str, slug: str, line: int) -> None:
    """What is wrong with a document as a whole is located in it."""
    faults = [d for d in front(text).diagnostics if d.is_error]
    assert [(d.code.slug, d.span.line if d.span else 0) for d in faults] == [(slug, line)]


def test_an_object_written_twice_names_both_places() -> None:
    """The second document is blamed, the first is named."""
    (fault,) = serious(front(f"{SERVICE}\n---\n{SERVICE}"))
    assert fault.message == "InferenceService ml/iris is described twice"
    assert [span.line for span, _ in fault.related] == [4]


def test_other_documents_are_context_with_one_note_per_file() -> None:
    """Documents that are not output are kept, and named in one note."""
    other = "apiVersion: {}\nkind: {}\nmetadata: {{name: x, namespace: ml}}\n"
    texts = [other.format("v1", "ServiceAccount"), other.format("apps/v1", "StatefulSet")]
    found = front("---\n".join([SERVICE, *texts]))
    (note,) = found.diagnostics
    assert note.code.slug == "input/context"
    assert note.message == "read, but not output: ServiceAccount ml/x, StatefulSet ml/x"
    assert [d.value["kind"] for d in found.context] == ["ServiceAccount", "StatefulSet"]


def test_irrelevant_platform_documents_are_passed_over() -> None:
    """A platform folder may hold anything."""
    text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n---\nresources: [a.yaml]\n---\nkind: List\n"
    assert not front("", f"{CONFIG}\n---\n{text}").diagnostics


def test_annotations_without_effect_are_warnings() -> None:
    """Annotations and labels of the service and of its components are looked at where they stand."""
    text = SERVICE.replace("namespace: ml", "namespace: ml, annotations: {serving.kserve.io/autoscalerclass: hpa}")
    text = text.replace("predictor:\n", "predictor:\n    labels: {networking.knative.dev/visibility: cluster-local}\n")
    found = serious(front(text))
    assert [(d.code.slug, d.span and d.span.line) for d in found] == [
        ("metadata/unknown-key", 4),
        ("metadata/key-without-effect", 7),
    ]


def test_the_mode_that_a_mode_warning_goes_by_is_the_units() -> None:
    """A Knative annotation passes in Knative mode and not in Standard mode."""
    mode = "serving.kserve.io/deploymentMode: {}, autoscaling.knative.dev/target: '5'"
    texts = [SERVICE.replace("namespace: ml", f"namespace: ml, annotations: {{{mode.format(m)}}}") for m in Mode]
    assert [slugs(front(text)) for text in texts[:2]] == [["metadata/key-without-effect"], []]


@pytest.mark.parametrize(
    ("kind", "annotation", "slugs_due"),
    [
        ("ServingRuntime", "serving.kserve.io/server-type: mlserver", []),
        ("ServingRuntime", "prometheus.kserve.io/port: '8080'", ["metadata/key-without-effect"]),
        ("Secret", "serving.kserve.io/s3-endpoint: minio", []),
        ("Secret", "serving.kserve.io/s3-endpiont: minio", ["metadata/unknown-key"]),
        ("ServiceAccount", "serving.kserve.io/deploymentMode: Standard", ["metadata/key-without-effect"]),
    ],
)
def test_annotations_of_other_documents_are_looked_at_too(kind: str, annotation: str, slugs_due: list[str]) -> None:
    """Runtimes, Secrets and ServiceAccounts have annotations of their own."""
    version = "serving.kserve.io/v1alpha1" if kind == "ServingRuntime" else "v1"
    body = "spec: {containers: [{name: kserve-container}]}" if kind == "ServingRuntime" else ""
    metadata = f"metadata: {{name: x, namespace: ml, annotations: {{{annotation}}}}}"
    assert slugs(front(f"apiVersion: {version}\nkind: {kind}\n{metadata}\n{body}")) == slugs_due


def images(found: Front) -> list[tuple[str, str, str]]:
    """Namespace, name and image of every runtime of a catalog."""
    return [(r.namespace, r.name, r.spec.containers[0]["image"]) for r in found.env.catalog.runtimes]


def test_runtimes_of_the_input_win_over_the_platform_and_the_builtin_catalog() -> None:
    """Of several runtimes of one name one is left; only a runtime of the input that shadows another is noted."""
    builtin, platform = RUNTIME % "built-in", f"{CONFIG}\n---\n{RUNTIME % 'earlier'}\n---\n{RUNTIME % 'later'}"
    assert images(front("", CONFIG, builtin)) == [("", "house", "built-in")]
    silent = front("", platform, builtin)
    assert (images(silent), silent.diagnostics) == ([("", "house", "later")], ())
    loud = front(RUNTIME % "own", platform, builtin)
    assert images(loud) == [("", "house", "own")]
    (note,) = [d for d in loud.diagnostics if d.code.slug == "catalog/shadowed"]
    assert [span.file for span, _ in note.related] == ["platform.yaml"]


def test_a_namespaced_runtime_shadows_no_cluster_runtime() -> None:
    """The two scopes are two objects; the catalog looks into the namespace first."""
    own = (RUNTIME % "own").replace("Cluster", "").replace("name: house", "name: house, namespace: ml")
    found = front(own, f"{CONFIG}\n---\n{RUNTIME % 'shared'}")
    assert images(found) == [("", "house", "shared"), ("ml", "house", "own")]
    runtime = found.env.catalog.find("ml", "house")
    assert runtime is not None
    assert runtime.namespace == "ml"


def test_crd_defaults_are_filled_into_runtimes() -> None:
    """Ports of a runtime's containers get the protocol that the API server would fill in."""
    text = (RUNTIME % "x").replace("name: kserve-container", "name: kserve-container, ports: [{containerPort: 8080}]")
    (runtime,) = front(text).env.catalog.runtimes
    assert runtime.spec.containers[0]["ports"] == [{"containerPort": 8080, "protocol": "TCP"}]


def test_storage_containers_are_read() -> None:
    """A storage container knows its formats, and whether it is switched off."""
    text = """
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterStorageContainer
metadata: {name: git}
disabled: true
spec: {container: {name: storage-initializer, image: git}, supportedUriFormats: [{prefix: "git://"}]}
"""
    (container,) = front("", text).env.catalog.storage_containers
    assert (container.name, container.disabled, container.supports("git://x")) == ("git", True, True)
    assert container.spec.workload_type == "initContainer"


def test_later_configuration_overrides_single_data_keys() -> None:
    """A second inferenceservice-config replaces the keys that it has and leaves the others."""
    later = CONFIG.replace("namespace: kserve", "namespace: opendatahub").split("  security:")[0]
    later = later.replace("Standard", "Knative")
    platform = front("", f"{CONFIG}\n---\n{later}").env.platform
    assert platform.deploy.default_deployment_mode == "Knative"
    assert platform.ingress.ingress_domain == "example.com"
    assert platform.kserve_namespace == "opendatahub"


def test_cluster_documents_lay_single_fields_over_the_configuration() -> None:
    """A field of a section is overridden whatever its letter case; its neighbours stay."""
    body = "inferenceServiceConfig: {ingress: {IngressDomain: prod.example.com}, service: {serviceClusterIPNone: true}}"
    platform = front("", cluster_document(body)).env.platform
    assert (platform.ingress.ingress_domain, platform.ingress.url_scheme) == ("prod.example.com", "http")
    assert platform.service.service_cluster_ip_none
    assert platform.texts["service"].span.line == 13


def test_knative_config_maps_are_read_without_their_examples() -> None:
    """Knative's config maps are taken from its own namespace, and a Cluster document adds to them."""
    knative = """
apiVersion: v1
kind: ConfigMap
metadata: {name: config-features, namespace: %s}
data: {_example: text, kubernetes.podspec-affinity: %s}
"""
    platform = f"{knative % ('knative-serving', 'enabled')}\n---\n{knative % ('elsewhere', 'disabled')}"
    cluster = "---\napiVersion: kservec.dev/v1alpha1\nkind: Cluster\nknative: {features: {multi-container: disabled}}"
    assert front("", f"{platform}\n{cluster}").env.platform.knative == {
        "config-features": {"kubernetes.podspec-affinity": "enabled", "multi-container": "disabled"}
    }


def test_facts_of_the_target_come_from_cluster_documents_and_options() -> None:
    """Scalars are overridden by later documents; absent kinds add up."""
    first = 'kubernetesVersion: "v1.34"\nclusterDomain: corp.local\nabsent: [VirtualService]\n'
    second = "---\napiVersion: kservec.dev/v1alpha1\nkind: Cluster\nabsent: [Ingress.networking.k8s.io]\n"
    platform = front("", cluster_document(first) + second, absent=("keda.sh/v1alpha1/ScaledObject",)).env.platform
    assert (platform.kubernetes_version, platform.cluster_domain) == ("1.34", "corp.local")
    assert not platform.has("networking.istio.io/v1beta1", "VirtualService")
    assert not platform.has("networking.k8s.io/v1", "Ingress")
    assert not platform.has("keda.sh/v1alpha1", "ScaledObject")
    assert platform.has("apps/v1", "Deployment")


@pytest.mark.parametrize(
    ("body", "slug", "hint"),
    [
        ("clusterdomain: x", "schema/unknown-field", "did you mean clusterDomain?"),
        ("secrets: [{name: a, key: [b]}]", "schema/unknown-field", "did you mean keys?"),
        ("secrets: [{keys: [b]}]", "schema/required", "add name"),
        ("kubernetesVersion: 1.34", "schema/type", ""),
        ("kubernetesVersion: latest", "schema/pattern", ""),
        ("secrets: [{name: a, settings: {AWS_SECRET_ACCESS_KEY: hush}}]", "cluster/secret-value", "name other keys"),
        ("secrets: [{name: a, entries: {default: {secret_access_key: hush}}}]", "cluster/secret-value", "type, bucket"),
    ],
)
def test_mistakes_in_cluster_documents_are_located(body: str, slug: str, hint: str) -> None:
    """A misspelt or misplaced fact is an error on its line, and no value of a Secret is repeated."""
    (fault,) = serious(front("", cluster_document(body)))
    assert (fault.code.slug, fault.span and fault.span.line) == (slug, 13)
    assert hint in fault.help
    assert "hush" not in fault.message + fault.help


def test_the_documented_example_is_valid() -> None:
    """The Cluster document of docs/platform.md is read without a word, from the platform and from the input."""
    page = Path(__file__).parents[1] / "docs" / "platform.md"
    example = page.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    found = front("", example)
    assert not found.diagnostics
    assert found.env.cluster.secrets["ml", "storage-config"].entries == {"default": {"type": "s3", "bucket": "models"}}
    assert not front(example).diagnostics


def test_a_misspelt_own_kind_is_an_error() -> None:
    """A document of kservec's own group that is none of its kinds would be a fact silently lost."""
    (fault,) = serious(front("", cluster_document("").replace("kind: Cluster", "kind: Clutser")))
    assert (fault.code.slug, fault.help) == ("schema/unknown-kind", "did you mean Cluster in kservec.dev/v1alpha1?")


def test_cluster_objects_are_read_by_shape() -> None:
    """Namespaces, gateways, config maps and ServiceAccounts are known by what specs ask of them."""
    text = """
apiVersion: v1
kind: Namespace
metadata: {name: ml, labels: {istio-injection: enabled}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: kserve}
spec: {gatewayClassName: envoy, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ca, namespace: ml}
data: {cabundle.crt: PEM}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: loader, namespace: ml, annotations: {eks.amazonaws.com/role-arn: arn}}
secrets: [{name: s3}, {name: gcs}]
imagePullSecrets: [{name: registry}]
"""
    cluster = front("", text).env.cluster
    assert cluster.namespaces == {"ml": {"istio-injection": "enabled"}}
    assert cluster.gateways == {("kserve", "public")}
    assert cluster.config_maps == {("ml", "ca"): {"cabundle.crt": "PEM"}}
    account = cluster.service_accounts["ml", "loader"]
    assert (account.secrets, account.image_pull_secrets) == (("s3", "gcs"), ("registry",))
    assert account.annotations == {"eks.amazonaws.com/role-arn": "arn"}
    assert [gateway["metadata"]["name"] for gateway in cluster.others["Gateway"]] == ["public"]


def test_cluster_objects_can_be_declared() -> None:
    """A Cluster document stands for objects that are in no file."""
    body = """
namespaces: {ml: {labels: {team: a}}, empty: }
gateways: [{name: public, namespace: kserve}]
configMaps: [{name: ca, namespace: ml, data: {cabundle.crt: PEM}}]
serviceAccounts: [{name: loader, namespace: ml, secrets: [s3], imagePullSecrets: [registry]}]
secrets:
- name: s3
  namespace: ml
  keys: [AWS_SECRET_ACCESS_KEY]
  annotations: {serving.kserve.io/s3-region: eu}
  settings: {S3_ENDPOINT: minio}
  entries: {default: {type: s3}}
"""
    cluster = front("", cluster_document(body)).env.cluster
    assert cluster.namespaces == {"ml": {"team": "a"}, "empty": {}}
    assert cluster.gateways == {("kserve", "public")}
    assert cluster.config_maps["ml", "ca"] == {"cabundle.crt": "PEM"}
    assert cluster.service_accounts["ml", "loader"].secrets == ("s3",)
    secret = cluster.secrets["ml", "s3"]
    assert secret.keys == {"AWS_SECRET_ACCESS_KEY", "S3_ENDPOINT", "default"}
    assert (secret.settings, secret.annotations["serving.kserve.io/s3-region"]) == ({"S3_ENDPOINT": "minio"}, "eu")
    assert secret.entries == {"AWS_SECRET_ACCESS_KEY": None, "default": {"type": "s3"}}


def test_of_a_secrets_values_only_plain_settings_are_kept() -> None:
    """Keys and annotations are known; no secret value is anywhere in the result."""
    text = """
apiVersion: v1
kind: Secret
metadata: {name: s3, namespace: ml, annotations: {serving.kserve.io/s3-endpoint: minio}}
data: {AWS_SECRET_ACCESS_KEY: aHVzaA==, S3_USE_HTTPS: MA==}
stringData:
  S3_USE_HTTPS: "1"
  https-host: models.example.com
  headers: "Authorization: hush"
  default: '{"type": "s3", "bucket": "b", "access_key_id": "hush", "secret_access_key": "hush"}'
  broken: '{"type": 3}'
"""
    secret = front(text).env.cluster.secrets["ml", "s3"]
    assert secret.keys == {"AWS_SECRET_ACCESS_KEY", "S3_USE_HTTPS", "https-host", "headers", "default", "broken"}
    assert secret.settings == {"S3_USE_HTTPS": "1", "https-host": "models.example.com"}
    assert secret.entries == {"default": {"type": "s3", "bucket": "b"}}
    assert secret.annotations == {"serving.kserve.io/s3-endpoint": "minio"}
    assert "hush" not in repr(secret)


def test_a_value_that_is_no_base64_is_an_error_at_its_key() -> None:
    """The message names the key and never the value."""
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s3, namespace: ml}\ndata:\n  token: hush hush\n"
    (fault,) = serious(front(text))
    assert fault.span is not None
    assert fault.span.line == 5
    assert "token" in fault.message
    assert "hush" not in fault.message + fault.help


def test_a_sealed_secret_is_known_by_the_keys_that_it_seals() -> None:
    """Encrypted keys have unknown content; those of the template are plain."""
    text = """
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: s3, namespace: ml}
spec:
  encryptedData: {AWS_SECRET_ACCESS_KEY: AgB}
  template:
    metadata: {annotations: {serving.kserve.io/s3-region: eu}}
    data: {S3_ENDPOINT: minio, S3_USE_HTTPS: "{{ index . }}"}
"""
    secret = front(text).env.cluster.secrets["ml", "s3"]
    assert secret.keys == {"AWS_SECRET_ACCESS_KEY", "S3_ENDPOINT", "S3_USE_HTTPS"}
    assert (secret.settings, secret.annotations) == ({"S3_ENDPOINT": "minio"}, {"serving.kserve.io/s3-region": "eu"})
    assert secret.complete


def test_a_certificate_is_a_secret_by_shape() -> None:
    """cert-manager makes a Secret of it, named in the spec, with three keys."""
    text = """
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: chat, namespace: ml}
spec: {secretName: chat-tls, issuerRef: {name: ca}, dnsNames: [chat.ml.svc]}
"""
    secret = front(text).env.cluster.secrets["ml", "chat-tls"]
    assert secret.keys == {"tls.crt", "tls.key", "ca.crt"}
    assert secret.complete


EXTERNAL = """
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: %s, namespace: ml, annotations: {serving.kserve.io/s3-region: eu}}
spec:
  target: %s
  data: [{secretKey: AWS_SECRET_ACCESS_KEY, remoteRef: {key: a}}]
"""


@pytest.mark.parametrize(
    ("name", "target", "keys", "annotations"),
    [
        ("s3", "{}", {"AWS_SECRET_ACCESS_KEY"}, {"serving.kserve.io/s3-region": "eu"}),
        ("other", "{name: s3}", {"AWS_SECRET_ACCESS_KEY"}, {"serving.kserve.io/s3-region": "eu"}),
        ("s3", "{template: {data: {S3_ENDPOINT: minio}}}", {"S3_ENDPOINT"}, {}),
        (
            "s3",
            "{template: {mergePolicy: Merge, data: {S3_ENDPOINT: minio}}}",
            {"S3_ENDPOINT", "AWS_SECRET_ACCESS_KEY"},
            {},
        ),
        (
            "s3",
            "{template: {metadata: {annotations: {serving.kserve.io/s3-region: us}}}}",
            {"AWS_SECRET_ACCESS_KEY"},
            {"serving.kserve.io/s3-region": "us"},
        ),
    ],
)
def test_an_external_secret_is_known_by_the_keys_that_it_will_create(
    name: str, target: str, keys: set[str], annotations: dict[str, str]
) -> None:
    """A template replaces the fetched keys unless it merges; without one the annotations are inherited."""
    secret = front(EXTERNAL % (name, target)).env.cluster.secrets["ml", "s3"]
    assert (secret.keys, secret.annotations, secret.complete) == (keys, annotations, True)


def test_an_external_secret_with_keys_from_elsewhere_is_incomplete() -> None:
    """Keys that nobody wrote down are noted, and can be declared."""
    text = EXTERNAL % ("s3", "{}") + "  dataFrom: [{extract: {key: all}}]\n"
    found = front(text)
    assert not found.env.cluster.secrets["ml", "s3"].complete
    assert "secret/keys-unknown" in [d.code.slug for d in found.diagnostics]
    declared = front(text, cluster_document("secrets: [{name: s3, namespace: ml, keys: [HF_TOKEN]}]"))
    assert declared.env.cluster.secrets["ml", "s3"].keys == {"HF_TOKEN"}


def test_a_broken_configuration_rejects_the_service_that_needs_it() -> None:
    """A section that is no JSON is blamed, not the service."""
    found = front(SERVICE, CONFIG.replace('{"autoMount', "{autoMount"))
    (fault,) = serious(found)
    assert fault.span is not None
    assert (fault.code.slug, fault.span.file, found.units) == ("platform/configuration", "platform.yaml", ())
