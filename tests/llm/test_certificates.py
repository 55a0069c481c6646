"""Certificates of LLM servers: no private key is ever written."""

from __future__ import annotations

from tests.llm.workloads import build, named, pod, secret, single

SECRET = "chat-kserve-self-signed-certs"  # noqa: S105 - the name of a Secret
VOLUME = {"name": "tls-certs", "secret": {"secretName": SECRET}}
SERVICE = single(template=pod(volumes=[VOLUME, {"name": "other", "secret": {"secretName": "mine"}}]))
DECLARED = secret(SECRET, "tls.crt", "tls.key", "ca.crt")


def test_without_tls_pods_start_without_the_secret(bench) -> None:
    """Nothing reads it, so nothing makes it; other Secrets stay as they are."""
    built = build(bench, SERVICE)
    assert {k for k, _ in built.names} == {"Deployment", "Service"}
    volumes = built.of("Deployment")["spec"]["template"]["spec"]["volumes"]
    assert named(volumes, "tls-certs")["secret"] == {"secretName": SECRET, "optional": True}
    assert named(volumes, "other")["secret"] == {"secretName": "mine"}
    assert built.of("Service")["spec"]["ports"][0]["appProtocol"] == "http"


def test_with_tls_cert_manager_issues_the_certificate(bench) -> None:
    """For the names that KServe has in its own, signed by itself."""
    scheduler = {"pool": {"spec": {"endpointPickerRef": {"name": "chat-epp-service"}}}}
    built = build(bench, {**SERVICE, "router": {"scheduler": scheduler}}, tls=True)
    made = built.of("Certificate", SECRET)["spec"]
    assert made["secretName"] == SECRET
    assert made["dnsNames"] == [
        "chat-epp-service.ml.svc",
        "chat-epp-service.ml.svc.cluster.local",
        "chat-kserve-workload-svc.ml.svc",
        "chat-kserve-workload-svc.ml.svc.cluster.local",
        "localhost",
    ]
    assert made["issuerRef"]["name"] == "kserve-self-signed"
    assert built.of("Issuer", "kserve-self-signed")["spec"] == {"selfSigned": {}}
    assert built.of("Deployment")["spec"]["template"]["spec"]["volumes"][0] == VOLUME
    assert built.of("Service")["spec"]["ports"][0]["appProtocol"] == "https"


def test_an_issuer_of_the_platforms(bench) -> None:
    """Then there is no issuer of the namespace."""
    issuer = {"name": "ca", "kind": "ClusterIssuer", "group": "cert-manager.io"}
    built = build(bench, SERVICE, tls=True, issuer=issuer)
    assert built.of("Certificate")["spec"]["issuerRef"] == issuer
    assert "Issuer" not in {k for k, _ in built.names}


def test_a_declared_secret_is_used(bench) -> None:
    """Whoever declares it brings it into the cluster, with TLS and without."""
    for tls in (True, False):
        built = build(bench, SERVICE, tls=tls, secrets=(DECLARED,))
        assert {k for k, _ in built.names} == {"Deployment", "Service"}
        assert built.of("Deployment")["spec"]["template"]["spec"]["volumes"][0] == VOLUME


def test_with_tls_somebody_must_issue_it(bench) -> None:
    """Neither cert-manager nor a declared Secret: the message names both ways out."""
    built = build(bench, SERVICE, tls=True, absent=("Certificate",))
    assert built.slugs == ["llm/no-certificate"]
    assert "cert-manager" in built.diagnostics[0].help
    assert SECRET in built.diagnostics[0].help
