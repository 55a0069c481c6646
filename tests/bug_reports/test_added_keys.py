"""Keys that nobody wrote down, for a controller adds them, or that several documents give one object."""

from __future__ import annotations

from typing import Any

import pytest

from .making import POD, built, deployment, model, service

MISSING = ("pod/key-missing", "secret/key-missing")
PATCH = {"sealedsecrets.bitnami.com/patch": "true"}
BUNDLE = "service.beta.openshift.io/inject-cabundle"
TRUSTED = "config.openshift.io/inject-trusted-cabundle"
PAIR = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def document(
    kind: str, name: str = "db", *, annotations: Any = None, labels: Any = None, **body: Any
) -> dict[str, Any]:
    """An object of a kind that is read."""
    versions = {
        "Certificate": "cert-manager.io/v1",
        "ExternalSecret": "external-secrets.io/v1",
        "SealedSecret": "bitnami.com/v1alpha1",
    }
    metadata = {"name": name, "namespace": "ml", "annotations": annotations or {}, "labels": labels or {}}
    return {"apiVersion": versions.get(kind, "v1"), "kind": kind, "metadata": metadata, **body}


def secret(*keys: str, **more: Any) -> dict[str, Any]:
    """A Secret with some keys."""
    return document("Secret", stringData=dict.fromkeys(keys, "hidden"), **more)


def external(*keys: str, name: str = "db", policy: str | None = None, **spec: Any) -> dict[str, Any]:
    """An ExternalSecret that fetches some keys for the Secret db."""
    target = {"name": "db"} if policy is None else {"name": "db", "creationPolicy": policy}
    data = [{"secretKey": key, "remoteRef": {"key": "a"}} for key in keys]
    return document("ExternalSecret", name, spec={"target": target, "data": data, **spec})


def sealed(*keys: str, template: Any = None, **more: Any) -> dict[str, Any]:
    """A SealedSecret with some keys."""
    spec = {"encryptedData": dict.fromkeys(keys, "AgB"), "template": {"metadata": template or {}}}
    return document("SealedSecret", spec=spec, **more)


def certificate(**spec: Any) -> dict[str, Any]:
    """A Certificate for the Secret db."""
    return document("Certificate", "web", spec={"secretName": "db", "issuerRef": {"name": "ca"}, **spec})


def later(written: dict[str, Any]) -> dict[str, Any]:
    """A document in a version of its kind that came out later, so that no schema knows its fields."""
    return {**written, "apiVersion": written["apiVersion"].replace("/v1", "/v9")}


def config_map(**more: Any) -> dict[str, Any]:
    """A ConfigMap with one key."""
    return document("ConfigMap", data={"mode": "fast"}, **more)


def lacking(*documents: dict[str, Any], key: str, field: str = "secretKeyRef") -> bool:
    """Whether a key of the object db, which a variable refers to, is said to be missing."""
    variable = {"name": "A", "valueFrom": {field: {"name": "db", "key": key}}}
    result = built(*documents, service(model(model={"env": [variable]})))
    assert result.ok, [d.message for d in result.diagnostics]
    return any(d.code.slug in MISSING for d in result.diagnostics)


@pytest.mark.parametrize(
    ("documents", "keys"),
    [
        ([certificate(additionalOutputFormats=[{"type": "CombinedPEM"}])], ["tls-combined.pem", "tls.crt"]),
        ([certificate(additionalOutputFormats=[{"type": "DER"}, {"type": "CombinedPEM"}])], ["key.der"]),
        ([certificate(keystores={"jks": {"create": True}})], ["keystore.jks", "truststore.jks"]),
        ([certificate(keystores={"pkcs12": {"create": True}})], ["keystore.p12", "truststore.p12", "ca.crt"]),
        ([external("a"), external("b", name="more")], ["a", "b"]),
        ([external("b", name="a-first"), external("a")], ["a", "b"]),
        ([external("a", name="more"), secret("b")], ["a", "b"]),
        ([sealed("a"), secret("b")], ["a", "b"]),
        ([secret("a", type="kubernetes.io/service-account-token")], ["a", "token", "ca.crt", "namespace"]),
        ([secret(type="kubernetes.io/service-account-token")], ["token"]),
    ],
)
def test_keys_that_are_known(documents: list[dict[str, Any]], keys: list[str]) -> None:
    """Each of them is there, and another one is missing."""
    assert [key for key in keys if lacking(*documents, key=key)] == []
    assert lacking(*documents, key="other")


@pytest.mark.parametrize(
    "documents",
    [
        [later(certificate(additionalOutputFormats=[{"type": "Later"}]))],
        [later(certificate(keystores={"later": {"create": True}}))],
        [external("a", policy="Merge")],
        [external("a", policy="Orphan")],
        [external("a", policy="None")],
        [external("a", policy="Merge"), secret("b")],
        [external("a", dataFrom=[{"extract": {"key": "a"}}]), secret("b")],
        [sealed("a", annotations=PATCH)],
        [sealed("a", template={"annotations": PATCH})],
        [secret("a", annotations=PATCH)],
        [secret("a", annotations={"replicator.v1.mittwald.de/replicate-from": "ci/db"})],
        [secret("a", annotations={"reflector.v1.k8s.emberstack.com/reflects": "ci/db"})],
    ],
)
def test_secrets_with_keys_that_nobody_knows(documents: list[dict[str, Any]]) -> None:
    """Nothing is said of a key that may be there."""
    assert not lacking(*documents, key="other")


@pytest.mark.parametrize(
    "documents",
    [
        [certificate()],
        [certificate(keystores={"jks": {"create": False}})],
        [external("a")],
        [external("a", policy="Owner")],
        [sealed("a", annotations={"sealedsecrets.bitnami.com/patch": "false"})],
        [secret("a")],
    ],
)
def test_secrets_with_known_keys(documents: list[dict[str, Any]]) -> None:
    """What has its keys from one document alone lacks all others."""
    assert lacking(*documents, key="keystore.jks")


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ({}, True),
        ({"annotations": {BUNDLE: "true"}}, False),
        ({"annotations": {BUNDLE: "false"}}, True),
        ({"labels": {TRUSTED: "true"}}, False),
        ({"annotations": {"replicator.v1.mittwald.de/replicate-from": "ci/db"}}, False),
    ],
)
def test_config_maps_that_are_filled(marks: dict[str, Any], said: bool) -> None:
    """A ConfigMap that a bundle is put into may have any key."""
    assert lacking(config_map(**marks), key="ca-bundle.crt", field="configMapKeyRef") is said


def test_a_declared_config_map_has_the_keys_that_are_declared() -> None:
    """What a Cluster document says of it replaces the manifest, and what that leaves open."""
    variable = {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "db", "key": "other"}}}
    declared = [{"namespace": "ml", "name": "db", "data": {"mode": "fast"}}]
    filled = config_map(annotations={BUNDLE: "true"})
    result = built(filled, service(model(model={"env": [variable]})), configMaps=declared)
    assert MISSING[0] in [d.code.slug for d in result.diagnostics]


def downloaded(*documents: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The variables that the download has of the Secret db, and the slugs of what is wrong."""
    account = document("ServiceAccount", "reader", secrets=[{"name": "db"}])
    result = built(account, *documents, service(model(serviceAccountName="reader")))
    env = deployment(result, *POD, "initContainers", "storage-initializer", "env") or ()
    refs = {e["name"]: e["valueFrom"]["secretKeyRef"]["key"] for e in env if "valueFrom" in e}
    return refs, [d.code.slug for d in result.diagnostics if d.is_error or d.code.slug in MISSING]


@pytest.mark.parametrize(
    "documents",
    [
        [external(*PAIR, policy="Merge")],
        [external(*PAIR, policy="Orphan")],
        [sealed(*PAIR, annotations=PATCH)],
        [secret(*PAIR, annotations=PATCH)],
        [external(PAIR[0]), external(PAIR[1], name="more")],
        [external(PAIR[0], name="more", policy="Merge"), secret(PAIR[1])],
        [external(*PAIR, name="more"), secret("other")],
    ],
)
def test_credentials_are_recognised(documents: list[dict[str, Any]]) -> None:
    """By the keys that are known, of all documents together."""
    assert downloaded(*documents) == ({key: key for key in PAIR}, [])


@pytest.mark.parametrize(
    "documents",
    [
        [secret(".dockercfg", annotations={"replicator.v1.mittwald.de/replicate-from": "ci/db"})],
        [secret(type="kubernetes.io/service-account-token")],
        [external("other", policy="Orphan")],
        [external("other", name="more", dataFrom=[{"extract": {"key": "a"}}]), secret(".dockercfg")],
    ],
)
def test_what_is_no_credential_is_passed_over(documents: list[dict[str, Any]]) -> None:
    """That others may add keys refuses no service."""
    assert downloaded(*documents) == ({}, [])


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ([external("other", policy="Merge")], True),
        ([external(policy="Merge")], True),
        ([external("other", policy="Merge"), secret("more")], True),
        ([secret(annotations={"reflector.v1.k8s.emberstack.com/reflects": "ci/db"})], True),
        ([sealed("other", annotations=PATCH)], True),
        ([external(*PAIR, policy="Merge")], False),
        ([external("other", policy="Merge"), secret(*PAIR)], False),
        ([external(".dockerconfigjson", policy="Merge")], False),
        ([external("other")], False),
        ([secret("other")], False),
    ],
)
def test_keys_that_others_add_and_nobody_declares(documents: list[dict[str, Any]], said: bool) -> None:
    """The credentials may be among them, and the download gets none: that is a warning, at the account's name."""
    account = document("ServiceAccount", "reader", secrets=[{"name": "db"}])
    result = built(account, *documents, service(model(serviceAccountName="reader")))
    found = [d for d in result.diagnostics if d.code.slug == "secret/kind-unknown"]
    assert bool(found) is said
    assert all(d.message.startswith("the keys of Secret ml/db that are declared are of no kind") for d in found)
    listed = [{"namespace": "ml", "name": "db", "keys": list(PAIR)}]
    declared = built(account, *documents, service(model(serviceAccountName="reader")), secrets=listed)
    assert "secret/kind-unknown" not in [d.code.slug for d in declared.diagnostics]


def test_a_key_of_credentials_that_may_come_from_elsewhere() -> None:
    """Half a pair is missing the other half, unless somebody else may add it."""
    assert downloaded(secret(PAIR[1]))[1] == ["secret/key-missing"]
    assert downloaded(external(PAIR[1], policy="Merge"))[1] == []


def test_a_storage_entry_that_may_come_from_elsewhere() -> None:
    """An entry that is not written down is missing only from a Secret that nobody adds to."""
    storage = {"key": "models", "path": "churn", "parameters": {"type": "s3", "bucket": "b"}}
    annotations = {"serving.kserve.io/storageSecretName": "db"}
    slugs = []
    for policy in ("Owner", "Merge"):
        predictor = model(uri=None, model={"storage": storage}, annotations=annotations)
        result = built(external("other", policy=policy), service(predictor))
        slugs.append({d.code.slug for d in result.diagnostics if d.is_error})
    assert slugs[0] == {"storage/entry-missing"}
    assert "storage/entry-missing" not in slugs[1]
