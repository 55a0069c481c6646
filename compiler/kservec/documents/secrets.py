"""Secrets by shape: which keys a Secret has or will have, and the few plain settings that KServe copies out of it.

Reads Secrets, ExternalSecrets, SealedSecrets and cert-manager's Certificates. Of values, only those of the plain
settings that it is told of and the `ENTRY_FIELDS` of storage entries leave this module; everything else is dropped
where it is decoded.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.cluster import ENTRY_FIELDS, Secret
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.golang.decoding import decode
from kservec.core.patterns import Pattern
from kservec.documents.added_keys import gains_keys

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.tree import Json
    from kservec.documents.entries import Entry

NOT_BASE64 = Code(
    "secret/not-base64",
    Severity.ERROR,
    "a value of a Secret that is no base64",
    "The values under `data` of a Secret are base64. Plain text belongs under `stringData`.",
)
PASSWORD = Code(
    "secret/password-in-url",
    Severity.ERROR,
    "a URL with a password in it",
    "KServe copies some settings of a Secret, such as the endpoint, into pods as plain text. A user and password in "
    "front of the host would be written down with it.",
)
CERTIFICATE_KEYS = ("tls.crt", "tls.key", "ca.crt")
FORMAT_KEYS = {"CombinedPEM": "tls-combined.pem", "DER": "key.der"}
"""Type of an additional output format of a Certificate -> the key that it adds."""
KEYSTORE_KEYS = {"jks": ("keystore.jks", "truststore.jks"), "pkcs12": ("keystore.p12", "truststore.p12")}
"""Kind of a Certificate's keystore -> the keys that it adds."""
TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105 - the name of a type
TOKEN_KEYS = ("token", "ca.crt", "namespace")
"""The keys that Kubernetes adds to a Secret of the type for tokens of ServiceAccounts."""
OWNER = "Owner"
"""The creation policy by which an ExternalSecret owns its Secret, which is the one where none is written."""
KEYS_UNKNOWN = Code(
    "secret/keys-unknown",
    Severity.NOTE,
    "an ExternalSecret whose keys are not written down",
    "`dataFrom` and `templateFrom` take keys from elsewhere, so it cannot be seen what the Secret will hold. If a "
    "service uses it, declare its keys in a Cluster document.",
)

holds_password = Pattern(r"(?:[a-zA-Z][\w+.-]*://)?[^/@\s:\"{}]+:[^/@\s\"{}]+@[^/@\s]+").match
"""Whether a text begins as a URL with user and password does."""


class Content(NamedTuple):
    """What a document says about a Secret: its text by key, None where that is unknown.

    `complete`: it gives no further keys. `others_add`: somebody else may.
    It holds secret values and never leaves this module.
    """

    name: str
    annotations: Mapping[str, str]
    texts: Mapping[str, str | None]
    complete: bool = True
    others_add: bool = False


def read_secret(entry: Entry, plain: frozenset[str]) -> tuple[Secret, list[Diagnostic]]:
    """The Secret that a document is or leads to, by shape. `plain` are the keys whose values are no secrets."""
    content, found = READERS[entry.ref.kind](entry)
    unfit = sorted(key for key in plain & content.texts.keys() if holds_password(content.texts[key] or ""))
    secret = Secret(
        namespace=entry.ref.namespace,
        name=content.name,
        keys=frozenset(content.texts),
        annotations=content.annotations,
        settings={k: "" if k in unfit else t for k, t in content.texts.items() if k in plain and t is not None},
        entries=dict(storage_entries(content.texts)),
        complete=content.complete,
        others_add=content.others_add or gains_keys(metadata_of(entry.document.value)),
        span=name_span(entry),
    )
    return secret, [*found, *passwords(entry, unfit)]


def passwords(entry: Entry, keys: Iterable[str]) -> Iterator[Diagnostic]:
    """An error for each plain setting that holds a password: KServe would copy it into pods."""
    for key in keys:
        field = "data" if key in texts(entry.document.value.get("data")) else "stringData"
        yield Diagnostic(
            code=PASSWORD,
            message=f"{key} of {entry.ref} is a URL with a password in it",
            span=entry.document.key_span((field, key)),
            help="take user and password out of the URL, and keep them under keys of their own",
            subject=entry.ref,
        )


def of_secret(entry: Entry) -> tuple[Content, list[Diagnostic]]:
    """The content of a Secret; `stringData` wins over `data`, as in the API server.

    Kubernetes: pkg/controller/serviceaccount/tokens_controller.go, generateTokenIfNeeded
    """
    body, document = entry.document.value, entry.document
    found = []
    contents: dict[str, str | None] = {}
    for key, encoded in texts(body.get("data")).items():
        contents[key] = decoded(encoded)
        if contents[key] is None:
            found.append(
                Diagnostic(
                    code=NOT_BASE64,
                    message=f"the value of {key} in {entry.ref} is no base64",
                    span=document.key_span(("data", key)),
                    help="encode it, or move it to stringData",
                    subject=entry.ref,
                )
            )
    contents |= texts(body.get("stringData"))
    if body.get("type") == TOKEN_TYPE:
        contents = {**dict.fromkeys(TOKEN_KEYS), **contents}
    return Content(entry.ref.name, texts(metadata_of(body).get("annotations")), contents), found


def of_sealed_secret(entry: Entry) -> tuple[Content, list[Diagnostic]]:
    """What a SealedSecret will become: its encrypted keys, and those of its template.

    Sealed Secrets: pkg/apis/sealedsecrets/v1alpha1/types.go, SealedSecretSpec
    """
    spec = mapping(entry.document.value.get("spec"))
    template = mapping(spec.get("template"))
    contents = {**dict.fromkeys(mapping(spec.get("encryptedData"))), **template_texts(template)}
    made = metadata_of(template)
    content = Content(entry.ref.name, texts(made.get("annotations")), contents, others_add=gains_keys(made))
    return content, []


def of_external_secret(entry: Entry) -> tuple[Content, list[Diagnostic]]:
    """What an ExternalSecret will create.

    A template replaces the fetched keys unless it says Merge; without a template the Secret inherits the annotations.
    A Secret that it does not own, for its creation policy, may have keys of others.
    External Secrets: pkg/controllers/externalsecret/externalsecret_controller_template.go
    """
    body = entry.document.value
    spec = mapping(body.get("spec"))
    target = mapping(spec.get("target"))
    template = mapping(target.get("template"))
    fetched = {d["secretKey"]: None for d in sequence(spec.get("data")) if isinstance(mapping(d).get("secretKey"), str)}
    made = template_texts(template)
    replaces = bool(made or template.get("templateFrom")) and template.get("mergePolicy") != "Merge"
    complete = not template.get("templateFrom") and (replaces or not spec.get("dataFrom"))
    annotations = texts(metadata_of(template or body).get("annotations"))
    name = texts(target).get("name") or entry.ref.name
    shared = (target.get("creationPolicy") or OWNER) != OWNER or gains_keys(metadata_of(template))
    content = Content(name, annotations, made if replaces else {**fetched, **made}, complete, shared)
    return content, [] if complete else [unknown_keys(entry)]


def of_certificate(entry: Entry) -> tuple[Content, list[Diagnostic]]:
    """What a Certificate of cert-manager will create: a key pair, and the certificate of whoever signed it.

    Both may be there in further formats, and in keystores. A format that is not known here adds some key or other.
    cert-manager: pkg/apis/certmanager/v1/types_certificate.go; internal/controller/certificates/issuing
    """
    spec = mapping(entry.document.value.get("spec"))
    template = mapping(spec.get("secretTemplate"))
    name = texts(spec).get("secretName") or entry.ref.name
    formats = {texts(written).get("type", "") for written in sequence(spec.get("additionalOutputFormats"))}
    stores = mapping(spec.get("keystores"))
    created = [kind for kind in KEYSTORE_KEYS if mapping(stores.get(kind)).get("create") is True]
    keys = [*CERTIFICATE_KEYS, *(FORMAT_KEYS[kind] for kind in FORMAT_KEYS if kind in formats)]
    keys += [key for kind in created for key in KEYSTORE_KEYS[kind]]
    unknown = not (formats <= FORMAT_KEYS.keys() and stores.keys() <= KEYSTORE_KEYS.keys())
    others_add = unknown or gains_keys(template)
    return Content(name, texts(template.get("annotations")), dict.fromkeys(keys), others_add=others_add), []


def unknown_keys(entry: Entry) -> Diagnostic:
    """The note that not all keys of a Secret can be seen."""
    return Diagnostic(
        code=KEYS_UNKNOWN,
        message=f"not all keys of the Secret that {entry.ref} creates are written down",
        span=entry.document.span(("spec",)),
        help="declare them under `secrets` of a Cluster document if a service uses the Secret",
        subject=entry.ref,
    )


READERS = {
    "Secret": of_secret,
    "SealedSecret": of_sealed_secret,
    "ExternalSecret": of_external_secret,
    "Certificate": of_certificate,
}
"""Kind -> what reads its content."""


def name_span(entry: Entry) -> Span:
    """Where the name of an object is written."""
    return entry.document.span(("metadata", "name"))


def storage_entries(contents: Mapping[str, str | None]) -> Iterator[tuple[str, dict[str, str] | None]]:
    """The keys that hold storage settings, reduced to their plain fields; None for those whose content is unknown.

    KServe: pkg/credentials/service_account_credentials.go, CreateStorageSpecSecretEnvs
    """
    for key, text in contents.items():
        if text is None:
            yield key, None
        elif (fields := json_texts(text)) is not None:
            yield key, {name: fields[name] for name in ENTRY_FIELDS if name in fields}


def json_texts(text: str) -> dict[str, str] | None:
    """The map of texts that a JSON text holds; None if it holds anything else. A null is empty text, as in Go."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        fields = decode(text)
    except ValueError:
        return None
    fields = {name: "" if value is None else value for name, value in fields.items()}
    return fields if all(isinstance(value, str) for value in fields.values()) else None


def decoded(encoded: str) -> str | None:
    """Base64 as text; None if it is none. Line breaks do not count, as in Go's decoder."""
    try:
        raw = b64decode(encoded.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw.decode(errors="replace")


def template_texts(template: Mapping[str, Json]) -> dict[str, str | None]:
    """The data of a template: plain text is known, a text with placeholders is not."""
    written = mapping(template.get("data"))
    return {key: text if isinstance(text, str) and "{{" not in text else None for key, text in written.items()}


def metadata_of(body: Json) -> Mapping[str, Json]:
    """The `metadata` of an object, or of a template."""
    return mapping(body.get("metadata"))


def mapping(value: Json) -> Mapping[str, Json]:
    """The value if it is a map, else an empty one: kinds of other projects are read without a schema."""
    return value if isinstance(value, dict) else {}


def sequence(value: Json) -> Iterable[Json]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def texts(value: Json) -> dict[str, str]:
    """The text values of a map. A null is empty text, as in Go."""
    return {key: text or "" for key, text in mapping(value).items() if text is None or isinstance(text, str)}
