"""oci_fetch: an image with the model, which the storage initializer downloads from the registry.

KServe: pkg/webhook/admission/pod/oci_fetch.go, ConfigureOciFetchToContainer
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.models.ca_bundle import platform_bundle
from kservec.core.models.credentials import DEFAULT_ACCOUNT
from kservec.core.models.storage_initializer import bare_initializer
from kservec.core.models.storage_scheme import Attached, Delivery, Placement, Scheme
from kservec.core.names import STORAGE_INITIALIZER
from kservec.core.pods.mounts import add_mounts, add_volume, mount, volume_name

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Tree

MODE = "+fetch"
CONFIG_VOLUME, CONFIG_DIRECTORY = "kserve-oci-fetch-docker-config", "/mnt/oci-fetch-auth"
OWNER_ONLY = 0o400
AT = ("initContainers", STORAGE_INITIALIZER)

ONE_PULL_SECRET = Code(
    "storage/one-pull-secret",
    Severity.WARNING,
    "only the first pull secret is used to download a model",
    "The container that downloads a model from a registry takes one pull secret. Put the credentials for all "
    "registries into one Secret of type kubernetes.io/dockerconfigjson and list it first.",
)


def attach(pod: Tree, placement: Placement, env: Env) -> Attached:
    """Download the image's files into a directory that the model server shares."""
    origin = placement.origin
    uri = placement.uri.replace(MODE, "", 1)
    found: tuple[Diagnostic, ...] = ()
    if pod.get(*AT) is None:
        pod, found = with_initializer(pod, uri, placement, env)
    else:
        arguments = [*(pod.get(*AT, "args") or ()), uri, placement.mount_path]
        pod = pod.put((*AT, "args"), arguments, origin)
    shared = mount(volume_name(placement.mount_path, "oci-fetch-model"), placement.mount_path)
    pod = add_volume(pod, {"name": shared["name"], "emptyDir": {}}, origin)
    pod = pod.append((*AT, "volumeMounts"), shared, origin)
    return Attached(add_mounts(pod, placement.targets, shared, origin, placement.subject), found)


def with_initializer(pod: Tree, uri: str, placement: Placement, env: Env) -> tuple[Tree, tuple[Diagnostic, ...]]:
    """A pod with the container that downloads, and with what it needs to reach private registries."""
    container = bare_initializer((uri, placement.mount_path), env.platform)
    secrets = pull_secrets(pod, placement, env)
    if secrets:
        container["env"] = [{"name": "KSERVE_OCI_DOCKER_CONFIG", "value": f"{CONFIG_DIRECTORY}/config.json"}]
        container["volumeMounts"] = [mount(CONFIG_VOLUME, CONFIG_DIRECTORY, read_only=True)]
        pod = add_volume(pod, config_volume(secrets[0]), placement.origin)
    bundle = platform_bundle(placement.subject.namespace, env.platform)
    if bundle is not None:
        container = bundle.mounted(container)
        pod = add_volume(pod, bundle.volume, placement.origin)
    if env.platform.storage_initializer.oci_insecure_registry:
        insecure = {"name": "KSERVE_OCI_INSECURE_REGISTRY", "value": "true"}
        container = {**container, "env": [*(container.get("env") or ()), insecure]}
    return pod.append(AT[:1], container, placement.origin), several_secrets(secrets, pod, placement)


def pull_secrets(pod: Tree, placement: Placement, env: Env) -> list[str]:
    """The pod's pull secrets; without any, those of its ServiceAccount, as the API server's admission has it."""
    named = [s["name"] for s in pod.value.get("imagePullSecrets") or () if s.get("name")]
    if named:
        return named
    account = pod.value.get("serviceAccountName") or DEFAULT_ACCOUNT
    declared = env.cluster.service_accounts.get((placement.subject.namespace, account))
    return list(declared.image_pull_secrets) if declared is not None else []


def config_volume(secret: str) -> Json:
    """The volume with a pull secret as the file that registry clients read."""
    items = [{"key": ".dockerconfigjson", "path": "config.json"}]
    return {"name": CONFIG_VOLUME, "secret": {"secretName": secret, "defaultMode": OWNER_ONLY, "items": items}}


def several_secrets(secrets: list[str], pod: Tree, placement: Placement) -> tuple[Diagnostic, ...]:
    """The warning about pull secrets after the first."""
    if len(secrets) < 2:
        return ()
    return (
        Diagnostic(
            code=ONE_PULL_SECRET,
            message=f"only the first pull secret, {secrets[0]}, is used to download the model",
            span=pod.span(("imagePullSecrets",)) or placement.origin.span(),
            help="put all registries into one Secret",
            subject=placement.subject,
        ),
    )


SCHEME = Scheme(name="oci+fetch", prefixes=("oci+fetch://",), delivery=Delivery.IMAGE, attach=attach)
