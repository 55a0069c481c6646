"""Health of kinds that Argo CD or Flux cannot judge by themselves: Lua for the one, CEL for the other. Pure.

Without it such an object counts as healthy at once, and whatever waits for it (waves, progressive syncs, promotions)
does not wait. Both sides judge alike: what a controller has said about an older version of the object does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kservec.core.tree import Json

HEALTH_KEY = "resource.customizations.health."
"""What the keys of Argo CD's configuration begin with; group and kind follow."""

LEADER_WORKER_SET = """\
local health = { status = "Progressing", message = "the controller has not seen this version yet" }
local status = obj.status
if status == nil or status.conditions == nil then return health end
if status.observedGeneration ~= nil and status.observedGeneration ~= obj.metadata.generation then return health end
local met = {}
for _, condition in ipairs(status.conditions) do
  if condition.status == "True" then met[condition.type] = condition.message or "" end
end
if met.UpdateInProgress ~= nil then
  health.message = met.UpdateInProgress
elseif met.Available ~= nil then
  health.status = "Healthy"
  health.message = met.Available
else
  health.message = met.Progressing or "waiting for the groups to be ready"
end
return health
"""

INFERENCE_POOL = """\
local health = { status = "Progressing", message = "waiting for a gateway to accept the pool" }
if obj.status == nil or obj.status.parents == nil then return health end
local parents, accepted = 0, 0
for _, parent in ipairs(obj.status.parents) do
  if parent.parentRef == nil or parent.parentRef.kind ~= "Status" then
    parents = parents + 1
    for _, condition in ipairs(parent.conditions or {}) do
      local seen = condition.observedGeneration
      if seen == nil or seen == obj.metadata.generation then
        local judges = condition.type == "Accepted" or condition.type == "ResolvedRefs"
        if judges and condition.status == "False" then
          return { status = "Degraded", message = condition.message or condition.reason }
        end
        if condition.type == "Accepted" and condition.status == "True" then accepted = accepted + 1 end
      end
    end
  end
end
if parents > 0 and accepted == parents then
  health.status = "Healthy"
  health.message = "accepted by every gateway"
end
return health
"""

LUA = {
    "inference.networking.k8s.io_InferencePool": INFERENCE_POOL,
    "leaderworkerset.x-k8s.io_LeaderWorkerSet": LEADER_WORKER_SET,
}
"""Health for Argo CD by group and kind; of all other kinds that are rendered Argo CD has it built in, or needs none."""


class Expressions(NamedTuple):
    """CEL for Flux about one kind; without `failed` only time tells that it did not work."""

    api_version: str
    kind: str
    current: str
    in_progress: str = ""
    failed: str = ""

    @property
    def json(self) -> Json:
        """As Flux's Kustomization has it."""
        texts = {"inProgress": self.in_progress, "failed": self.failed}
        given = {key: text for key, text in texts.items() if text}
        return {"apiVersion": self.api_version, "kind": self.kind, "current": self.current, **given}


def condition(kind: str, status: str) -> str:
    """Whether an object has a condition of that status."""
    return f"has(status.conditions) && status.conditions.exists(c, c.type == '{kind}' && c.status == '{status}')"


def by_parents(quantifier: str, kind: str, status: str) -> str:
    """Whether all parents, or one, say so in a condition about the present version."""
    seen = "(!has(c.observedGeneration) || c.observedGeneration == metadata.generation)"
    said = f"p.conditions.exists(c, c.type == '{kind}' && c.status == '{status}' && {seen})"
    return f"status.parents.{quantifier}(p, has(p.conditions) && {said})"


def accepted(api_version: str, kind: str) -> Expressions:
    """A route or pool: current once every parent has accepted it and can resolve what it refers to."""
    some = "has(status.parents) && size(status.parents) > 0"
    return Expressions(
        api_version,
        kind,
        current=f"{some} && {by_parents('all', 'Accepted', 'True')}"
        f" && !{by_parents('exists', 'ResolvedRefs', 'False')}",
        failed=f"has(status.parents) && {by_parents('exists', 'Accepted', 'False')}",
    )


def ready(api_version: str, kind: str, failed: str = "") -> Expressions:
    """A kind with a condition Ready that is not there from the beginning."""
    return Expressions(api_version, kind, current=condition("Ready", "True"), failed=failed)


CEL = (
    ready("cert-manager.io/v1", "Certificate"),
    ready("external-secrets.io/v1", "ExternalSecret"),
    accepted("gateway.networking.k8s.io/v1", "GRPCRoute"),
    accepted("gateway.networking.k8s.io/v1", "HTTPRoute"),
    accepted("inference.networking.k8s.io/v1", "InferencePool"),
    ready("keda.sh/v1alpha1", "ScaledObject"),
    Expressions(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        current=condition("Available", "True"),
        in_progress=condition("UpdateInProgress", "True"),
    ),
    ready("serving.knative.dev/v1", "Service", failed=condition("Ready", "False")),
)
"""Health for Flux, sorted. Every Kustomization has all of it, whatever kinds it applies, so that branches merge."""


def argocd_cm(namespace: str) -> Json:
    """The part of Argo CD's own ConfigMap that judges health: a patch, not the whole."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "argocd-cm", "namespace": namespace},
        "data": {f"{HEALTH_KEY}{kind}": lua for kind, lua in LUA.items()},
    }
