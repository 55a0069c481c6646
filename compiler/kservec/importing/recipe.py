"""The recipe of a hand-over: what to run, in which order, and what it does to each object. Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.diagnostics import ObjectRef
    from kservec.importing.handover import HandOver, Taken

RESOURCES = "inferenceservices,inferencegraphs,llminferenceservices,trainedmodels"
SHOWN = 40

STEPS = """\
# Hand-over from KServe

What KServe made stays and keeps serving; it only changes hands. Try it in a copy of the cluster first.

1. Build, review and commit the tree: `kservec build && git add -A && git commit -m "Take over from KServe"`.
2. Stop KServe, so that nothing makes objects anew or holds their deletion up:

       kubectl -n kserve scale deployment --all --replicas=0
       webhooks=mutatingwebhookconfigurations,validatingwebhookconfigurations
       kubectl get $webhooks -o name | grep serving.kserve.io | xargs kubectl delete

   A webhook that is left without its server refuses every new pod.
3. Take the finalizers off and delete KServe's objects without what belongs to them:

       for kind in {kinds}; do
         kubectl get $kind -A --no-headers -o custom-columns=:metadata.namespace,:metadata.name |
         while read -r namespace name; do
           kubectl -n "$namespace" patch $kind "$name" --type=merge -p '{{"metadata":{{"finalizers":null}}}}'
           kubectl -n "$namespace" delete $kind "$name" --cascade=orphan
         done
       done

   `--cascade=orphan` is what keeps the pods. Wait until no owner is left:

       kubectl get deployments,services -A -o yaml | grep -A1 ownerReferences | grep serving.kserve.io

4. Apply the tree. Server-side apply takes the fields over and leaves all others as they are:

       kubectl apply --server-side --force-conflicts --field-manager=kservec -k {tree}

   With Argo CD use the sync option ServerSideApply=true; Flux always applies so.
5. `kubectl get pods -A -w`: only what is listed below as a restart may restart.
6. Remove KServe's controllers and, once nothing needs them, its definitions: deleting a definition deletes all
   objects of its kind.
"""


def recipe(hand_over: HandOver, environment: str) -> str:
    """The whole text.

    Args:
        hand_over: what happens to each object.
        environment: the folder of the tree.
    """
    kinds = " ".join(RESOURCES.split(","))
    return STEPS.format(kinds=kinds, tree=environment) + "".join(sections(hand_over))


def sections(hand_over: HandOver) -> Iterable[str]:
    """What happens to objects, by how much it matters."""
    restarts = [taken for taken in hand_over.taken if taken.restarts]
    changed = [taken for taken in hand_over.taken if taken.changes and not taken.restarts]
    new = [taken.ref for taken in hand_over.taken if taken.is_new]
    same = len(hand_over.taken) - len(restarts) - len(changed) - len(new)
    yield f"\n## What happens to the objects\n\n{plural(same, 'object')} taken over without a change.\n"
    yield listed("Pods restart", [line(taken.ref, taken.restarts) for taken in restarts], RESTARTS)
    yield listed("Changed, without a restart", [line(taken.ref, taken.changes) for taken in changed], "")
    yield listed("New", [f"- {ref}" for ref in new], "")
    yield listed("Not decided", [f"- {ref}" for ref in hand_over.undecided], UNDECIDED)
    yield listed("Left behind", [f"- {ref}" for ref in hand_over.left], LEFT)


RESTARTS = (
    "KServe's webhook changes pods when they start, and no template shows it; the tree has it in the template, and so "
    "the pods are replaced once, by a rolling update."
)
UNDECIDED = (
    "These belong to services that do not compile yet; `kservec lint` says why. Leave them alone, and delete none of "
    "KServe's objects before all services compile."
)
LEFT = "KServe made these, and the tree has no use for them. Look at them, then delete them."


def listed(title: str, lines: list[str], about: str) -> str:
    """A section, unless there is nothing to list."""
    if not lines:
        return ""
    rest = [f"- and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    text = "\n".join((*lines[:SHOWN], *rest))
    return f"\n### {title}\n\n{f'{about}{chr(10) * 2}' if about else ''}{text}\n"


def line(ref: ObjectRef, paths: Iterable[str]) -> str:
    """An object with what of it changes."""
    return f"- {ref}: {', '.join(paths)}"


def summary(taken: Iterable[Taken]) -> str:
    """What would restart, in a line."""
    taken = list(taken)
    count = sum(bool(t.restarts) for t in taken)
    return f"{plural(sum(not t.is_new for t in taken), 'object')} to take over, of which {count} would restart"
