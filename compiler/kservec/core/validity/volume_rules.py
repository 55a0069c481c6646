"""What an API server checks of volumes in code, and no schema states: the table.

Kubernetes: pkg/apis/core/validation/validation.go, ValidateVolumes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kservec.core.patterns import Pattern
from kservec.core.validity.field_checks import A_CONFIG_KEY, A_PATH_BELOW, an_amount, exactly_one, needs, takes, within
from kservec.core.validity.field_rules import ABSENT, INVALID, REPEATED, Rule, Wrong, unless
from kservec.core.validity.odd_amounts import KILO, MEGA, an_odd_size

if TYPE_CHECKING:
    from kservec.core.tree import Json

HIGHEST_MODE = 0o777
SHORTEST_TOKEN_SECONDS = 600
LONGEST_TOKEN_SECONDS = 2**32

_is_file_of_pod = Pattern(
    r"metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['[^']+'\])"
).fullmatch


def is_without_parents(path: str) -> bool:
    """Whether the path has no `..` in it."""
    return ".." not in path.split("/")


def projection_rules(where: str, name: str) -> Iterator[Rule]:
    """The rules of a ConfigMap or Secret as files. `name` is the field that names it."""
    yield Rule(where, needs(name))
    yield Rule(f"{where}.defaultMode", within(0, HIGHEST_MODE))
    yield Rule(f"{where}.items[]", needs("key", "path"))
    yield Rule(f"{where}.items[].key", A_CONFIG_KEY)
    yield from file_rules(f"{where}.items[]")


def file_rules(where: str) -> Iterator[Rule]:
    """The rules of a file in a volume."""
    yield Rule(f"{where}.path", A_PATH_BELOW)
    yield Rule(f"{where}.mode", within(0, HIGHEST_MODE))


def downward_rules(where: str) -> Iterator[Rule]:
    """The rules of facts about the pod as files."""
    yield Rule(f"{where}.defaultMode", within(0, HIGHEST_MODE))
    yield Rule(f"{where}.items[]", exactly_one("fieldRef", "resourceFieldRef"))
    yield Rule(f"{where}.items[]", needs("path"))
    yield Rule(f"{where}.items[].fieldRef.fieldPath", takes(_is_file_of_pod, "a field of the pod's metadata"))
    yield from file_rules(f"{where}.items[]")


@unless({"maxItems": 1})
def one_file_per_path(sources: Json) -> Iterator[Wrong]:
    """No two sources of a projected volume may give the same file."""
    paths = Counter(path for source in sources for path in files_of(source))
    for path, count in paths.items():
        if count > 1:
            yield Wrong(REPEATED, f"give the file {path} {count} times")


def files_of(source: Json) -> Iterator[str]:
    """The files that a source of a projected volume is known to give."""
    for kind in ("secret", "configMap", "downwardAPI"):
        yield from (str(item.get("path")) for item in (source.get(kind) or {}).get("items") or ())
    token = source.get("serviceAccountToken")
    if token:
        yield str(token.get("path"))


@unless(ABSENT)
def of_a_known_size(spec: Json) -> Iterator[Wrong]:
    """A claim asks for storage, and says how it will be accessed."""
    if not spec.get("accessModes"):
        yield Wrong(INVALID, "has no accessModes", remedy="add accessModes: [ReadWriteOnce], or another mode")
    if not ((spec.get("resources") or {}).get("requests") or {}).get("storage"):
        yield Wrong(
            INVALID,
            "asks for no storage: resources.requests.storage is missing",
            remedy="add resources.requests.storage",
        )


VOLUME_RULES: tuple[Rule, ...] = (
    *projection_rules("configMap", "name"),
    *projection_rules("secret", "secretName"),
    *downward_rules("downwardAPI"),
    Rule("projected.defaultMode", within(0, HIGHEST_MODE)),
    Rule("projected.sources", one_file_per_path),
    *projection_rules("projected.sources[].configMap", "name"),
    *projection_rules("projected.sources[].secret", "name"),
    *downward_rules("projected.sources[].downwardAPI"),
    Rule("projected.sources[].serviceAccountToken", needs("path")),
    Rule("projected.sources[].serviceAccountToken.path", A_PATH_BELOW),
    Rule(
        "projected.sources[].serviceAccountToken.expirationSeconds",
        within(SHORTEST_TOKEN_SECONDS, LONGEST_TOKEN_SECONDS),
    ),
    Rule("hostPath", needs("path")),
    Rule("hostPath.path", takes(is_without_parents, "a path without ..", fine="[-_A-Za-z0-9/]+")),
    Rule("emptyDir.sizeLimit", an_amount),
    Rule("emptyDir.sizeLimit", an_odd_size(KILO, "Mi")),
    Rule("persistentVolumeClaim", needs("claimName")),
    Rule("nfs", needs("server", "path")),
    Rule("nfs.path", takes(lambda path: path.startswith("/"), "an absolute path")),
    Rule("csi", needs("driver")),
    Rule("ephemeral", needs("volumeClaimTemplate")),
    Rule("ephemeral.volumeClaimTemplate.spec", of_a_known_size),
    Rule("ephemeral.volumeClaimTemplate.spec.resources.requests.storage", an_amount),
    Rule("ephemeral.volumeClaimTemplate.spec.resources.requests.storage", an_odd_size(MEGA, "Gi")),
)
"""Rules of every volume."""
