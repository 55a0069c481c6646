"""NetworkPolicies that a project asks for: over which pods there are any, and who may talk to them.

Decides how peers are written, as in Kubernetes' own NetworkPolicy, and refuses peers that no API server takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from kservec.spec.cluster import Part
from kservec.spec.described import option
from kservec.spec.texts import AddressRange, LabelKey, LabelName, LabelValue, is_inside


class Expression(Part):
    """One requirement of a selector."""

    key: LabelName = Field(description="The label that is looked at.")
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"] = Field(description="How it is compared.")
    values: Sequence[LabelValue] | None = Field(default=None, description="What it is compared with.")

    @model_validator(mode="after")
    def compares(self) -> Expression:
        """Refuse what no API server takes: a comparison without values, or values that nothing is compared with."""
        if self.operator.endswith("In") != bool(self.values):
            raise ValueError("values belong to In and NotIn, which need some, and to them alone")
        return self


class Selector(Part):
    """A selector of labels, as Kubernetes has it; an empty one selects everything."""

    match_labels: Mapping[LabelKey, LabelValue] | None = Field(
        default=None, description="Labels and the values that they must have."
    )
    match_expressions: Sequence[Expression] | None = Field(
        default=None, description="Requirements, all of which must hold."
    )


class IPBlock(Part):
    """A range of addresses."""

    cidr: AddressRange = Field(description="The range, as 10.0.0.0/8.")
    but: Sequence[AddressRange] | None = Field(
        default=None, alias="except", description="Ranges in it that are left out."
    )

    @field_validator("but")
    @classmethod
    def is_inside(cls, value: Sequence[str] | None, info: ValidationInfo) -> Sequence[str] | None:
        """Refuse what no API server takes: to leave out what is not in the range, or all of it."""
        if "cidr" in info.data and not all(is_inside(each, info.data["cidr"]) for each in value or ()):
            raise ValueError("each range must be a smaller one inside cidr")
        return value


class Peer(Part):
    """Somebody to talk to, as in Kubernetes' NetworkPolicy: pods, all pods of namespaces, or addresses."""

    pod_selector: Selector | None = Field(default=None, description="Pods by their labels.")
    namespace_selector: Selector | None = Field(default=None, description="Namespaces by their labels.")
    ip_block: IPBlock | None = Field(default=None, description="Addresses.")

    @model_validator(mode="after")
    def names_somebody(self) -> Peer:
        """Refuse what no API server takes: nobody at all, or addresses that are pods as well."""
        pods = self.pod_selector is not None or self.namespace_selector is not None
        if pods == (self.ip_block is not None):
            raise ValueError("a peer is either podSelector and namespaceSelector, or ipBlock")
        return self


class NetworkPolicy(Part):
    """NetworkPolicies over the pods of every service, if `enabled`. What may be left out has defaults.

    `gateways` let requests in: by default all pods in the namespaces of the Gateways that routes name. `clients` call
    services from within the cluster, `monitoring` reads metrics: nobody by default. `dns`, `storage` (at
    `storage_ports`) and `api_server` are whom pods may call: by default kube-system, and any address at port 443.
    """

    enabled: bool | None = option(False, "Whether there are NetworkPolicies over the pods of every service.")
    gateways: Sequence[Peer] | None = Field(
        default=None,
        description="Who lets requests in; by default all pods in the namespaces of the Gateways that routes name.",
    )
    clients: Sequence[Peer] | None = Field(
        default=None, description="Who calls services from within the cluster; by default nobody."
    )
    monitoring: Sequence[Peer] | None = Field(default=None, description="Who reads metrics; by default nobody.")
    dns: Sequence[Peer] | None = Field(default=None, description="Whom pods ask for addresses; by default kube-system.")
    storage: Sequence[Peer] | None = Field(
        default=None, description="Where pods may fetch models from; by default any address."
    )
    storage_ports: Sequence[Annotated[int, Field(ge=1, le=65535)]] | None = option(
        [443], "The ports that models are fetched at."
    )
    api_server: Sequence[Peer] | None = Field(
        default=None, description="Where Kubernetes' API is, for pods that need it; by default any address."
    )
