"""Whether what is said of a cluster still holds: declared facts against those that the cluster shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kservec.core.cluster import Cluster, Secret
    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.paths import Json
    from kservec.core.platform import PlatformConfig

MINOR = 2
"""How many parts of a version tell what an API server can do."""

UNFIT = Code(
    "cluster/unfit",
    Severity.WARNING,
    "what is said of the cluster does not hold any more",
    "The documents of the platform say what the target cluster has. `kservec lint --facts` compares them with what "
    "kubectl prints of it. Bring the documents up to date (`kservec import --facts` writes them), or mend the cluster.",
)


class Shown(NamedTuple):
    """What a cluster shows: its facts as a Cluster document, its objects by shape, and the kinds that were dumped."""

    facts: Json
    cluster: Cluster
    kinds: frozenset[str]


def misfits(
    declared: Cluster, platform: PlatformConfig, objects: Iterable[ObjectRef], shown: Shown
) -> Iterator[Diagnostic]:
    """Everything that is said of a cluster, or taken for granted by what is rendered, and is otherwise.

    Of kinds that were not dumped nothing is said.
    """
    yield from version_misfit(platform, shown.facts)
    yield from kind_misfits(objects, shown.facts)
    if "Secret" in shown.kinds:
        yield from secret_misfits(declared.secrets, shown.cluster.secrets)
    if "ServiceAccount" in shown.kinds:
        for key, account in sorted(declared.service_accounts.items()):
            if key not in shown.cluster.service_accounts:
                yield missing("ServiceAccount", key, account.span)
    if "Gateway" in shown.kinds:
        for key in sorted(declared.gateways - shown.cluster.gateways):
            yield missing("Gateway", key, None)
    yield from setting_misfits(platform, shown.cluster)


def version_misfit(platform: PlatformConfig, facts: Json) -> Iterator[Diagnostic]:
    """A warning about another version of Kubernetes than the one that is declared."""
    there, said = facts.get("kubernetesVersion"), platform.kubernetes_version.removeprefix("v")
    if there is not None and there.split(".")[:MINOR] != said.split(".")[:MINOR]:
        message = f"the cluster runs Kubernetes {there}, and {said} is compiled for"
        yield misfit(message, None, f'write kubernetesVersion: "{there}" into the Cluster document')


def kind_misfits(objects: Iterable[ObjectRef], facts: Json) -> Iterator[Diagnostic]:
    """A warning for each kind that is rendered and that the cluster lacks."""
    absent = set(facts.get("absent") or ())
    needed: dict[str, int] = {}
    for ref in objects:
        name = f"{ref.api_version}/{ref.kind}"
        if name in absent:
            needed[name] = needed.get(name, 0) + 1
    for name, count in sorted(needed.items()):
        hint = f"install it, or add it to absent: [{name}]"
        yield misfit(f"the cluster has no {name}, of which {count} are rendered", None, hint)


def secret_misfits(
    declared: Mapping[tuple[str, str], Secret], there: Mapping[tuple[str, str], Secret]
) -> Iterator[Diagnostic]:
    """A warning for each Secret that is not there, or lacks a key."""
    for key, secret in sorted(declared.items()):
        found = there.get(key)
        if found is None:
            yield missing("Secret", key, secret.span)
        elif lost := sorted(secret.keys - found.keys):
            message = f"Secret {'/'.join(key)} has no {', '.join(lost)} in the cluster"
            yield misfit(message, secret.span, "add the keys to the Secret, or take them out of the declaration")


def setting_misfits(platform: PlatformConfig, there: Cluster) -> Iterator[Diagnostic]:
    """A warning for each declared setting of Knative that is another one in the cluster."""
    for config, settings in sorted(platform.knative.items()):
        live = there.config_maps.get(("knative-serving", config))
        if live is None:
            continue
        for key, value in sorted(settings.items()):
            if live.get(key, value) != value:
                message = f"{key} of Knative's {config} is {live[key]} in the cluster; {value} is declared"
                yield misfit(message, platform.knative_spans.get(config), f"declare {key}: {live[key]}")


def missing(kind: str, key: tuple[str, str], span: Span | None) -> Diagnostic:
    """The warning about an object that is declared and not there."""
    message = f"the cluster has no {kind} {'/'.join(key)}, which is declared"
    return misfit(message, span, "make it in the cluster, or take it out of the platform's documents")


def misfit(message: str, span: Span | None, remedy: str) -> Diagnostic:
    """The warning about something that does not hold any more."""
    return Diagnostic(code=UNFIT, message=message, span=span, help=remedy)
