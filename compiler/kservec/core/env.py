"""Env: everything a pass may know besides its unit. It is the same value for every unit of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kservec.core.catalog import Catalog
from kservec.core.cluster import Cluster
from kservec.core.platform import PlatformConfig

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.registry import Plugs
    from kservec.core.schema import Schemas
    from kservec.core.tree import Json


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Env:
    """Platform, catalog, cluster, plugs, and the addresses of the services of this run. Each is equal to itself only.

    `previous` are objects of the last build. `names_revisions`: revisions of Knative services get names that follow
    from their content; else Knative numbers them, as under KServe.
    """

    plugs: Plugs
    schemas: Schemas
    platform: PlatformConfig = field(default_factory=PlatformConfig)
    catalog: Catalog = field(default_factory=Catalog)
    cluster: Cluster = field(default_factory=Cluster)
    addresses: Mapping[ObjectRef, str] = field(default_factory=dict)
    previous: Mapping[ObjectRef, Json] = field(default_factory=dict)
    names_revisions: bool = False
