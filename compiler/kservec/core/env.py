"""Env: everything a pass may know besides its unit. It is the same value for every unit of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.catalog import Catalog
from kservec.core.cluster import Cluster
from kservec.core.platform import PlatformConfig
from kservec.core.records import entity, fresh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.registry import Plugs
    from kservec.core.schemas.schema import Schemas
    from kservec.core.tree import Json


@entity
class Env:
    """Platform, catalog, cluster, plugs, and the addresses of the services of this run. Each is equal to itself only.

    `previous` are objects of the last build. `names_revisions`: revisions of Knative services get names that follow
    from their content; else Knative numbers them, as under KServe.
    """

    plugs: Plugs
    schemas: Schemas
    platform: PlatformConfig = fresh(factory=PlatformConfig)
    catalog: Catalog = fresh(factory=Catalog)
    cluster: Cluster = fresh(factory=Cluster)
    addresses: Mapping[ObjectRef, str] = fresh(factory=dict)
    previous: Mapping[ObjectRef, Json] = fresh(factory=dict)
    names_revisions: bool = False
