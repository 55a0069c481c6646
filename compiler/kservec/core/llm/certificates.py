"""Certificates of LLM servers: who issues them, for which names, and what happens where there are none.

KServe makes a key pair in the cluster and keeps it in a Secret. A private key never leaves a compiler, so that the
Secret is either declared among the platform files, or left to cert-manager. Without TLS nothing reads it, and pods
start without it. Must not know how servers use certificates.
KServe: pkg/controller/v1alpha2/llmisvc/workload_tls_self_signed.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import Code, Needed, ObjectRef, Reject, Severity
from kservec.core.llm.names import CERTIFICATES, TOKENIZER, WORKLOAD_SERVICE, child_name
from kservec.core.llm.resolved import POOL_SPEC
from kservec.core.llm.scheduler import runs_tokenizer
from kservec.core.llm.workload_labels import COMPONENT, base_labels
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "certificates")
GROUP: Final = "cert-manager.io"
API_VERSION: Final = f"{GROUP}/v1"
CERTIFICATE, ISSUER = "Certificate", "Issuer"
SELF_SIGNED: Final = "kserve-self-signed"
HOUR_OF_YEAR: Final = 24 * 365
VALID_YEARS, RENEWED_YEARS_BEFORE = 12, 4

NO_ISSUER: Final = Code(
    "llm/no-certificate",
    Severity.ERROR,
    "nobody issues the certificate of the servers",
    "enableLLMInferenceServiceTLS is on, and servers need a certificate. kservec writes no private keys: cert-manager "
    "issues the certificate where the cluster has it (`certificates` of a Cluster document names an issuer); else "
    "declare the Secret, with its keys tls.crt, tls.key and ca.crt, and bring it into the cluster yourself.",
)


def secret_name(unit: Unit) -> str:
    """The Secret with the certificate, which the pods of presets mount."""
    return child_name(unit.name, CERTIFICATES)


def is_declared(unit: Unit, env: Env) -> bool:
    """Whether the user sees to the Secret."""
    return (unit.namespace, secret_name(unit)) in env.cluster.secrets


def certificate_objects(unit: Unit, env: Env) -> tuple[Manifest, ...]:
    """The certificate, and the issuer of the namespace where the platform names none; nothing without TLS.

    Raises:
        Reject: there is neither a declared Secret nor a cert-manager.
    """
    platform = env.platform
    if not platform.ingress.enable_llm_inference_service_tls or is_declared(unit, env):
        return ()
    if not platform.has(API_VERSION, CERTIFICATE):
        name = secret_name(unit)
        message = f"{unit.ref} serves over TLS, and neither Secret {name} nor cert-manager is there"
        remedy = f"declare Secret {unit.namespace}/{name}, or install cert-manager"
        found = finding(unit, NO_ISSUER, message, None, remedy)
        raise Reject(evolve(found, rests_on=(Needed("Secret", unit.namespace, name),)))
    if platform.certificate_issuer:
        return (certificate(unit, env, platform.certificate_issuer),)
    own = {"group": GROUP, "kind": ISSUER, "name": SELF_SIGNED}
    return (certificate(unit, env, own), issuer(unit.namespace))


def certificate(unit: Unit, env: Env, issuer_ref: Json) -> Manifest:
    """The certificate as KServe makes it, but for addresses of pods, which nobody knows beforehand."""
    spec = {
        "secretName": secret_name(unit),
        "dnsNames": host_names(unit, env),
        "ipAddresses": ["127.0.0.1"],
        "duration": f"{VALID_YEARS * HOUR_OF_YEAR}h0m0s",
        "renewBefore": f"{RENEWED_YEARS_BEFORE * HOUR_OF_YEAR}h0m0s",
        "privateKey": {"algorithm": "RSA", "encoding": "PKCS8", "size": 4096},
        "usages": ["digital signature", "key encipherment", "server auth"],
        "issuerRef": issuer_ref,
    }
    ref = ObjectRef(API_VERSION, CERTIFICATE, unit.namespace, secret_name(unit))
    metadata = {"name": ref.name, "namespace": ref.namespace, "labels": base_labels(unit.name, COMPONENT)}
    body = {"apiVersion": API_VERSION, "kind": CERTIFICATE, "metadata": metadata, "spec": spec}
    return Manifest(ref, Tree.of(body, MADE))


def issuer(namespace: str) -> Manifest:
    """The issuer of self-signed certificates, which the services of a namespace share."""
    ref = ObjectRef(API_VERSION, ISSUER, namespace, SELF_SIGNED)
    metadata = {"name": ref.name, "namespace": ref.namespace}
    body = {"apiVersion": API_VERSION, "kind": ISSUER, "metadata": metadata, "spec": {"selfSigned": {}}}
    return Manifest(ref, Tree.of(body, MADE), shared=True)


def host_names(unit: Unit, env: Env) -> list[str]:
    """The names that servers, scheduler and tokenizer are reached by, sorted. KServe: collectDNSNames."""
    assert unit.resolved is not None
    services = [child_name(unit.name, WORKLOAD_SERVICE)]
    picker = unit.resolved.get(*POOL_SPEC, "endpointPickerRef", "name")
    if picker:
        services.append(picker)
    if runs_tokenizer(unit.resolved.value, env):
        services.append(child_name(unit.name, TOKENIZER))
    hosts = [f"{service}.{unit.namespace}.svc" for service in services]
    return sorted({"localhost", *hosts, *(f"{host}.{env.platform.cluster_domain}" for host in hosts)})


def without_certificate(pod: Tree, unit: Unit, env: Env) -> Tree:
    """A pod that starts without the certificate, where nothing issues it because nothing needs it."""
    if env.platform.ingress.enable_llm_inference_service_tls or is_declared(unit, env):
        return pod
    name = secret_name(unit)
    for volume in pod.get("volumes") or ():
        secret = volume.get("secret") or {}
        if secret.get("secretName") == name and "optional" not in secret:
            pod = pod.put(("volumes", volume["name"], "secret", "optional"), True, MADE)
    return pod
