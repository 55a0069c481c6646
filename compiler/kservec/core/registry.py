"""The registry of plugs: which there are, and what credentials, scalers, styles and workloads offer; and Env.

Each plug is one file in its family's package and offers one constant; nothing else has to be edited to add one.
Two members that claim one name, prefix or rank are an error when the package is loaded. Env, which passes and plugs are
handed, holds the plugs, and what is asked of plugs speaks of Env: so they are in one place. What a storage scheme
offers is in `models/storage_scheme`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.catalog import Catalog
from kservec.core.cluster import Cluster
from kservec.core.llm.neighbour import Neighbourhood
from kservec.core.models.storage_scheme import Scheme
from kservec.core.platform import PlatformConfig
from kservec.core.plug_loading import load, refuse_repeats
from kservec.core.profile import CURRENT, Profile
from kservec.core.records import entity, fresh, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.additions import Additions
    from kservec.core.bundle import Manifest
    from kservec.core.cluster import Secret, ServiceAccount
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.endpoint import Endpoint
    from kservec.core.intents import ScaleIntent
    from kservec.core.llm.part import Part
    from kservec.core.models.storage_scheme import SchemeTrait
    from kservec.core.schemas.schema import Schemas
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Component, Mode, Unit


class Grant(NamedTuple):
    """What a container gets to make use of a credential: variables, mounts, and the pod's volumes for them."""

    env: tuple[Json, ...] = ()
    mounts: tuple[Json, ...] = ()
    volumes: tuple[Json, ...] = ()


@record
class Credential:
    """One kind of credentials, recognised by the keys of a Secret: any of `keys`. The lowest rank that fits wins.

    Of a Secret that is declared without any keys `annotations` tell the kind: those that only such Secrets have.
    `settings` names the keys of such Secrets whose values are no secrets and go into pods in plain text.
    `overwrites` tells what happens to variables that are there already: their values are overwritten and their sources
    kept, or else they are replaced. A ServiceAccount that has `account_annotation` gets `from_account`.
    """

    name: str
    rank: int
    keys: Callable[[Env], tuple[str, ...]]
    grant: Callable[[Secret, Env], Grant]
    settings: tuple[str, ...] = ()
    overwrites: bool = False
    annotations: tuple[str, ...] = ()
    account_annotation: str = ""
    from_account: Callable[[ServiceAccount, Env], Grant] | None = None

    def recognises(self, secret: Secret, env: Env) -> bool:
        """Whether a Secret is of this kind."""
        return any(key in secret.keys for key in self.keys(env))

    def assumed_of(self, secret: Secret) -> bool:
        """Whether a Secret without keys must be of this kind."""
        return not secret.keys and any(key in secret.annotations for key in self.annotations)


class Scaled(NamedTuple):
    """What a scaler makes of an intent: objects, a replica count, annotations of the pod template.

    `refused` are annotations of the component that the scaler takes back, for they would not be accepted.
    """

    manifests: tuple[Manifest, ...] = ()
    replicas: int | None = None
    pod_annotations: tuple[tuple[str, str], ...] = ()
    refused: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@record
class Scaler:
    """One autoscaler. `default` marks the one that a mode uses when the user names none, or can name none."""

    name: str
    modes: frozenset[Mode]
    render: Callable[[Unit, Component, ScaleIntent, Env], Scaled]
    default: bool = False
    owns_replicas: bool = True


@record
class Companion:
    """What stands beside the scaler of a component, whichever that is; `render` makes nothing if nothing is wanted."""

    name: str
    modes: frozenset[Mode]
    render: Callable[[Unit, Component, ScaleIntent, Env], Scaled]


class StyleTrait(Enum):
    """What an exposure style can express."""

    WEIGHTS = auto()
    PATHS = auto()
    GRPC = auto()
    TIMEOUTS = auto()


class Exposed(NamedTuple):
    """Objects that let a unit be reached, and what was found on the way."""

    manifests: tuple[Manifest, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@record
class Style:
    """One way of exposing a unit. Exactly one style must select itself for a unit.

    `url` is where a unit is reached, `address` where from inside the cluster. `needed`: who has to run, if not all.
    """

    name: str
    selects: Callable[[Unit, Env], bool]
    render: Callable[[Unit, Env], Exposed]
    url: Callable[[Unit, Env], str]
    address: Callable[[Unit, Env], str]
    needed: Callable[[Unit], tuple[Component, ...]] | None = None
    traits: frozenset[StyleTrait] = frozenset()


class Deployed(NamedTuple):
    """Objects that run a component, and what was found on the way."""

    manifests: tuple[Manifest, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@record
class Workload:
    """One kind of workload. `rank` orders those that could run a component; the first that selects it does."""

    name: str
    rank: int
    selects: Callable[[Unit, Component], bool]
    render: Callable[[Unit, Component, Env], Deployed]


@record
class PartWorkload:
    """One kind of workload that runs parts of LLMInferenceServices. Exactly one selects a part."""

    name: str
    api_version: str
    kind: str
    selects: Callable[[Part], bool]
    render: Callable[[Unit, Part], Manifest]


@record
class PartScaler:
    """One autoscaler for parts of LLMInferenceServices. `field` is where `scaling` asks for it.

    `render` is handed the workload that it scales.
    """

    name: str
    field: Path
    render: Callable[[Unit, Part, PartWorkload, Env], Manifest]


@entity
class Plugs:
    """All plugs of a run; `root` is the package that their families are in."""

    schemes: tuple[Scheme, ...]
    credentials: tuple[Credential, ...]
    scalers: tuple[Scaler, ...]
    companions: tuple[Companion, ...]
    styles: tuple[Style, ...]
    workloads: tuple[Workload, ...]
    root: str

    @cached_property
    def part_workloads(self) -> tuple[PartWorkload, ...]:
        """The kinds of workloads of LLMInferenceServices; most runs have none, so they are loaded late."""
        found = load(f"{self.root}.workloads.llm", PartWorkload)
        refuse_repeats([workload.name for workload in found])
        return found

    @cached_property
    def part_scalers(self) -> tuple[PartScaler, ...]:
        """The autoscalers of LLMInferenceServices, loaded late as well."""
        found = load(f"{self.root}.scaling.llm", PartScaler)
        refuse_repeats([scaler.name for scaler in found])
        return found

    @cached_property
    def ladder(self) -> tuple[Credential, ...]:
        """The kinds of credentials in the order in which a Secret is tried against them."""
        return tuple(sorted(self.credentials, key=lambda c: c.rank))

    @cached_property
    def account_credentials(self) -> tuple[Credential, ...]:
        """The kinds of credentials that an annotation of a ServiceAccount gives."""
        return tuple(c for c in self.ladder if c.from_account is not None)

    @cached_property
    def schemes_by_prefix(self) -> dict[str, Scheme]:
        """Storage schemes by the prefixes that they own."""
        return {p: s for s in self.schemes for p in s.prefixes}

    @cached_property
    def claiming_schemes(self) -> tuple[tuple[Scheme, Callable[[str], int]], ...]:
        """The storage schemes that are known by more than a prefix."""
        return tuple((s, s.claims) for s in self.schemes if s.claims is not None)

    @cached_property
    def workload_kinds(self) -> tuple[Workload, ...]:
        """The kinds of workloads in the order in which they could run a component."""
        return tuple(sorted(self.workloads, key=lambda w: w.rank))

    def scheme_with(self, trait: SchemeTrait) -> Scheme | None:
        """The first scheme that has a trait, or None."""
        return next((s for s in self.schemes if trait in s.traits), None)

    @cached_property
    def secret_settings(self) -> frozenset[str]:
        """The keys of Secrets whose values are no secrets: the only ones that may be read."""
        return frozenset(key for c in self.credentials for key in c.settings)

    @cached_property
    def download_env(self) -> tuple[tuple[str, str], ...]:
        """The variables that every download container gets unless it has them already."""
        return tuple(entry for s in self.schemes for entry in s.download_env)

    @lru_cache(maxsize=64)  # noqa: B019 - there is one value of the class, and several passes ask for each URI
    def scheme(self, uri: str) -> Scheme | None:
        """The scheme that recognises most of a URI, or None."""
        prefix = uri[: uri.find("://") + 3] if "://" in uri else ""
        best = self.schemes_by_prefix.get(prefix)
        most = len(prefix) if best is not None else 0
        for scheme, claims in self.claiming_schemes:
            claimed = claims(uri)
            if claimed > most:
                best, most = scheme, claimed
        return best


@entity
class Env:
    """Platform, catalog, cluster, plugs, and what of this run others refer to. Each is equal to itself only.

    `endpoints` are the services and graphs of the run, for graphs that call them; `neighbours` are its
    LLMInferenceServices, for each other. `previous` are objects of the last build. `names_revisions`: revisions of
    Knative services, and versions of services of several nodes, get names that follow from their content; else they
    are numbered, as under KServe. `additions`: what a project wants beyond KServe; None without a project.
    `profile`: the version of KServe.
    """

    plugs: Plugs
    schemas: Schemas
    platform: PlatformConfig = fresh(factory=PlatformConfig)
    catalog: Catalog = fresh(factory=Catalog)
    cluster: Cluster = fresh(factory=Cluster)
    endpoints: Mapping[ObjectRef, Endpoint] = fresh(factory=dict)
    neighbours: Neighbourhood = fresh(factory=Neighbourhood)
    previous: Mapping[ObjectRef, Json] = fresh(factory=dict)
    names_revisions: bool = False
    additions: Additions | None = None
    profile: Profile = CURRENT


def load_plugs(root: str = "kservec") -> Plugs:
    """Every plug of the compiler."""
    return unambiguous(
        Plugs(
            schemes=load(f"{root}.storage", Scheme),
            credentials=load(f"{root}.storage", Credential),
            scalers=load(f"{root}.scaling", Scaler),
            companions=load(f"{root}.scaling", Companion),
            styles=load(f"{root}.exposure", Style),
            workloads=load(f"{root}.workloads", Workload),
            root=root,
        )
    )


def unambiguous(plugs: Plugs) -> Plugs:
    """The plugs, none of which claims the name, prefix or rank of another one of its family.

    Raises:
        ValueError: one does.
    """
    for family in (plugs.schemes, plugs.credentials, plugs.scalers, plugs.companions, plugs.styles, plugs.workloads):
        refuse_repeats([member.name for member in family])
    refuse_repeats([prefix for scheme in plugs.schemes for prefix in scheme.prefixes])
    refuse_repeats([str(credential.rank) for credential in plugs.credentials])
    refuse_repeats([str(workload.rank) for workload in plugs.workloads])
    return plugs
