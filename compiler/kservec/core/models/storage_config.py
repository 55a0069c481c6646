"""The storage Secret: credentials for a model that a storage spec names by key instead of by URI.

Decides which entry of the Secret counts, what its type makes of the model's path, and what the download container is
told. Must not know any storage scheme by name, nor a secret value: an entry is known by its plain fields.

KServe: pkg/credentials/service_account_credentials.go, CreateStorageSpecSecretEnvs
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Needed, Reject, Severity
from kservec.core.golang.encoding import encode
from kservec.core.listing import listed_near
from kservec.core.models.ca_bundle import BUNDLE_CONFIG_MAP_VARIABLE
from kservec.core.models.credentials import Equipped, declared_secret, named_secret, secret_variable
from kservec.core.models.model_uri import ANY_SCHEME
from kservec.core.models.storage_scheme import SchemeTrait
from kservec.core.records import evolve, fresh, record
from kservec.core.spelling import meant_name

if TYPE_CHECKING:
    from kservec.core.cluster import Secret
    from kservec.core.diagnostics import Span
    from kservec.core.models.credentials import Holder
    from kservec.core.registry import Env
    from kservec.core.tree import Json

DEFAULT_SECRET = "storage-config"  # noqa: S105 - the name of an object
DEFAULT_ENTRY = "default"

ENTRY_MISSING = Code(
    "storage/entry-missing",
    Severity.ERROR,
    "the storage Secret has no such entry",
    "storage.key names a key of the storage Secret (storage-config unless an annotation names another one). Correct "
    "the key, or declare the Secret with it.",
)
TYPE_UNKNOWN = Code(
    "storage/type-unknown",
    Severity.ERROR,
    "the type of a storage is not known, or not supported",
    "The type of a storage spec comes from storage.parameters.type, else from the field type of the Secret's entry. "
    "State it in one of the two; the entry's fields that are no secrets can be declared in a Cluster document.",
)
BUCKET_MISSING = Code(
    "storage/bucket-missing",
    Severity.ERROR,
    "the storage needs a bucket and none is given",
    "For this type of storage the path lies in a bucket, from storage.parameters.bucket or, where the entry gives the "
    "type, from the field bucket of the Secret's entry.",
)


@record
class StorageKey:
    """A storage spec: the key of an entry, parameters that override the entry's, and where it is written."""

    key: str = ""
    parameters: Mapping[str, str] = fresh(factory=dict)
    span: Span | None = None


@record
class Entry:
    """An entry of the storage Secret that was found; None for fields whose content nothing declares."""

    secret: Secret
    key: str
    fields: Mapping[str, str] | None


def equip_from_config(container: Json, storage: StorageKey, holder: Holder, env: Env) -> Equipped:
    """A container that finds the entry in its variables and the model's URI in its arguments.

    Raises:
        Reject: the Secret or entry is not declared, or type or bucket cannot be told.
    """
    entry = find_entry(storage, holder, env)
    kind, bucket = storage.parameters.get("type", ""), storage.parameters.get("bucket", "")
    variables = list(container.get("env") or ())
    if entry is not None:
        if not kind:
            fields = known_fields(entry, storage, holder)
            kind, bucket = supported_type(fields, entry, holder, env), bucket or fields.get("bucket", "")
            if "cabundle_configmap" in fields:
                variables.append({"name": BUNDLE_CONFIG_MAP_VARIABLE, "value": fields["cabundle_configmap"]})
        variables.append(secret_variable("STORAGE_CONFIG", entry.secret, entry.key))
    if not kind:
        secret = entry.secret.name if entry is not None else storage_secret(holder, env)
        raise unknown_type("neither storage.parameters nor a storage Secret gives it", storage, holder, secret)
    if storage.parameters:
        variables.append({"name": "STORAGE_OVERRIDE_CONFIG", "value": encode(dict(storage.parameters))})
    arguments = settled_arguments(container["args"], kind, bucket, holder, env)
    return Equipped({**container, "args": arguments, "env": variables})


def find_entry(storage: StorageKey, holder: Holder, env: Env) -> Entry | None:
    """The entry that the storage spec names, else the default one of its type; None if there is no such default.

    Raises:
        Reject: the spec names a key, and the Secret or its key is not declared.
    """
    name = storage_secret(holder, env)
    if not storage.key:
        secret = env.cluster.secrets.get((holder.namespace, name))
        kind = storage.parameters.get("type", "")
        key = f"{DEFAULT_ENTRY}_{kind}" if kind else DEFAULT_ENTRY
        return Entry(secret=secret, key=key, fields=secret.entries.get(key)) if secret and key in secret.keys else None
    secret = declared_secret(name, holder, env, lambda: storage.span or holder.origin.span())
    if storage.key not in secret.keys and secret.all_known:
        message = f"Secret {secret.namespace}/{name} has no key {storage.key}"
        meant = meant_name(storage.key, secret.keys)
        few = listed_near(storage.key, sorted(secret.keys)) or "no keys"
        help_text = f"did you mean {meant}?" if meant else f"the Secret has {few}"
        found = holder.report(ENTRY_MISSING, message, storage.span or holder.origin.span(), help_text)
        raise Reject(evolve(found, rests_on=(Needed("Secret", holder.namespace, name),)))
    return Entry(secret=secret, key=storage.key, fields=secret.entries.get(storage.key))


def storage_secret(holder: Holder, env: Env) -> str:
    """The name of the storage Secret that counts for a holder."""
    return named_secret(holder, env) or env.platform.credentials.storage_spec_secret_name or DEFAULT_SECRET


def known_fields(entry: Entry, storage: StorageKey, holder: Holder) -> Mapping[str, str]:
    """The plain fields of an entry.

    Raises:
        Reject: nothing declares them.
    """
    if entry.fields is None:
        where = f"{entry.key} in Secret {entry.secret.namespace}/{entry.secret.name}"
        opaque = entry.key in entry.secret.entries or not entry.secret.all_known
        reason = f"the content of {where} is not declared" if opaque else f"{where} is no JSON object of texts"
        raise unknown_type(reason, storage, holder, entry.secret.name)
    return entry.fields


def supported_type(fields: Mapping[str, str], entry: Entry, holder: Holder, env: Env) -> str:
    """The type that an entry gives; empty if it gives none.

    Raises:
        Reject: a storage spec cannot use that type.
    """
    kind = fields.get("type", "")
    if not kind or has_trait(kind, SchemeTrait.STORAGE_TYPE, env):
        return kind
    known = [p for s in env.plugs.schemes if SchemeTrait.STORAGE_TYPE in s.traits for p in s.prefixes]
    supported = ", ".join(sorted(p.removesuffix("://") for p in known))
    message = f"{entry.key} in Secret {entry.secret.namespace}/{entry.secret.name} is of type {kind}"
    help_text = f"supported types are {supported}; use storageUri for others"
    raise Reject(holder.report(TYPE_UNKNOWN, message, holder.origin.span(), help_text))


def has_trait(kind: str, trait: SchemeTrait, env: Env) -> bool:
    """Whether the scheme that is written like a type of storage has a trait."""
    scheme = env.plugs.schemes_by_prefix.get(f"{kind}://")
    return scheme is not None and trait in scheme.traits


def settled_arguments(arguments: list[str], kind: str, bucket: str, holder: Holder, env: Env) -> list[str]:
    """Arguments in which the place-holder for the scheme has given way to the type, and to the bucket if it has one.

    Raises:
        Reject: there is no bucket.
    """
    if not any(a.startswith(ANY_SCHEME) for a in arguments):
        return arguments
    has_bucket = has_trait(kind, SchemeTrait.BUCKET, env)
    if has_bucket and not bucket:
        message = f"storage of type {kind} needs a bucket"
        raise Reject(holder.report(BUCKET_MISSING, message, holder.origin.span(), "set storage.parameters.bucket"))
    start = f"{kind}://{bucket}/" if has_bucket else f"{kind}://"
    return [start + a.removeprefix(ANY_SCHEME) if a.startswith(ANY_SCHEME) else a for a in arguments]


def unknown_type(reason: str, storage: StorageKey, holder: Holder, secret: str) -> Reject:
    """The refusal of a storage whose type cannot be told, not even from the storage Secret."""
    message = f"the type of the storage is unknown: {reason}"
    found = holder.report(TYPE_UNKNOWN, message, storage.span or holder.origin.span(), "set storage.parameters.type")
    return Reject(evolve(found, rests_on=(Needed("Secret", holder.namespace, secret),)))
