"""Accounts of pods: which of them are allowed something of Kubernetes' API."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kservec.core.bundle import Bundle

BINDINGS = frozenset({"ClusterRoleBinding", "RoleBinding"})


def bound_accounts(bundle: Bundle) -> frozenset[str]:
    """The names of the ServiceAccounts that Roles of a bundle are bound to."""
    subjects = (m.body.get("subjects") or () for m in bundle.manifests if m.ref.kind in BINDINGS)
    return frozenset(s["name"] for each in subjects for s in each if s.get("kind") == "ServiceAccount")
