"""Credentials: what a container gets from the Secrets of a ServiceAccount.

Decides which Secrets are asked, in which order, and what happens when two of them say different things; each kind of
Secret is a plug. Must not know any kind, nor a secret value: a Secret is known by its keys, and values stay in it.

KServe: pkg/credentials/service_account_credentials.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.cluster import ServiceAccount
from kservec.core.diagnostics import Code, Diagnostic, Needed, Reject, Severity
from kservec.core.names import PULL_KEYS
from kservec.core.pods.containers import find
from kservec.core.records import evolve
from kservec.core.remembering import once_a_run
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kservec.core.cluster import Secret
    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.registry import Credential, Env, Grant
    from kservec.core.tree import Json, Origin, Tree

DEFAULT_ACCOUNT = "default"

SECRET_NOT_DECLARED = Code(
    "secret/not-declared",
    Severity.ERROR,
    "a Secret that nothing declares",
    "Which credentials a container gets depends on the keys of the Secret, so its shape must be known. Declare it "
    "among the platform files: a Secret whose values may be left empty, an ExternalSecret or SealedSecret, or an entry "
    "with its keys under `secrets` of a Cluster document. Values are never read.",
)
KEYS_NOT_DECLARED = Code(
    "secret/keys-not-declared",
    Severity.ERROR,
    "a Secret for credentials, with unknown keys",
    "What a container gets from a Secret depends on the Secret's keys. The one that is used here takes keys from "
    "elsewhere (dataFrom of an ExternalSecret): list them in the Secret's entry in a Cluster document.",
)
KIND_UNKNOWN = Code(
    "secret/kind-unknown",
    Severity.WARNING,
    "a Secret that others add keys to, of no kind of credentials",
    "What a container gets from a Secret depends on its keys, and those that are declared tell nothing. Others add "
    "some, such as whoever owns the Secret of an ExternalSecret with creationPolicy Merge: the container gets no "
    "credentials, even if they are there. List all keys in the Secret's entry in a Cluster document, or take the "
    "Secret out of the ServiceAccount if it is for something else.",
)
SETTING_UNKNOWN = Code(
    "secret/setting-unknown",
    Severity.ERROR,
    "a setting inside a Secret is not known",
    "KServe copies a few settings, such as the S3 endpoint, from a Secret into the pod in plain text. The Secret has "
    "such a key and its value is not declared: give it as an annotation of the Secret where there is one, or under "
    "`settings` of the Secret's entry in a Cluster document.",
)
KEYS_ASSUMED = Code(
    "secret/keys-assumed",
    Severity.WARNING,
    "a Secret for credentials, without keys",
    "The annotations of the Secret tell what it is for, and it is declared without any keys. It is taken to have those "
    "that KServe's configuration names; if the real one has none, the pods do not start.",
)
SECRETS_OVERLAP = Code(
    "secret/overlap",
    Severity.WARNING,
    "two Secrets give the same variable or mount",
    "A ServiceAccount lists two Secrets of one kind. Only one of them can be used: list one, or name the one to use "
    "in the annotation serving.kserve.io/storageSecretName of the InferenceService.",
)
KEY_MISSING = Code(
    "secret/key-missing",
    Severity.WARNING,
    "a key that the Secret lacks",
    "KServe refers to the key of such a Secret whether it is there or not, and the kubelet starts no container whose "
    "variable comes from a key that is missing.",
)
ACCOUNT_NOT_DECLARED = Code(
    "serviceaccount/not-declared",
    Severity.WARNING,
    "a ServiceAccount that nothing declares",
    "The Secrets that it lists are credentials for storage, and they are not known: the pods get none. Declare the "
    "ServiceAccount among the platform files, or under `serviceAccounts` of a Cluster document.",
)


class Holder(NamedTuple):
    """Who needs credentials: the user's object, its pod and its annotations; `origin` is what needs them.

    `home` is the namespace of the pod where it is not that of the object.
    """

    subject: ObjectRef
    pod: Tree
    annotations: Tree
    origin: Origin
    home: str = ""

    @property
    def namespace(self) -> str:
        """The namespace that the pod runs in, and whose Secrets and ServiceAccounts count."""
        return self.home or self.subject.namespace

    @property
    def account(self) -> str:
        """The ServiceAccount that the pod runs as; empty if it names none."""
        name: str = self.pod.value.get("serviceAccountName") or ""
        return name

    def account_span(self) -> Span | None:
        """Where the pod names its ServiceAccount, else what needs the credentials."""
        return (self.pod.span(("serviceAccountName",)) if self.account else None) or self.origin.span()

    def report(self, code: Code, message: str, span: Span | None, help: str) -> Diagnostic:  # noqa: A002
        """A diagnostic about the holder."""
        return Diagnostic(code=code, message=message, span=span, help=help, subject=self.subject)


class Equipped(NamedTuple):
    """A container with credentials, the volumes that its pod needs for them, and what was found on the way."""

    container: Json
    volumes: tuple[Json, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def equip(container: Json, account_name: str, holder: Holder, env: Env) -> Equipped:
    """Give a container the credentials of a ServiceAccount; `default` if none is named.

    Raises:
        Reject: the account, or the annotation that replaces its list, names a Secret that is not declared.

    KServe: CreateSecretVolumeAndEnv and CreateSecretVolumeAndEnvFromServiceAccount
    """
    namespace = holder.namespace
    account = env.cluster.service_accounts.get((namespace, account_name or DEFAULT_ACCOUNT))
    if account is not None:
        return equip_as(container, account, holder, env)
    found = undeclared(account_name, holder)
    if named_secret(holder, env) is None:
        return Equipped(container, (), found)
    equipped = equip_as(
        container, ServiceAccount(namespace=namespace, name=account_name or DEFAULT_ACCOUNT), holder, env
    )
    return equipped._replace(diagnostics=(*found, *equipped.diagnostics))


def equip_as(container: Json, account: ServiceAccount, holder: Holder, env: Env) -> Equipped:
    """Give a container the credentials of a ServiceAccount that is known.

    Raises:
        Reject: the account, or the annotation that replaces its list, names a Secret that is not declared.
    """
    equipped = Equipped(container)
    for kind in env.plugs.account_credentials:
        if kind.from_account is not None and kind.account_annotation in account.annotations:
            equipped = granted(equipped, kind, kind.from_account(account, env))
    secrets = secrets_of(account, holder, env)
    grants = grants_of(secrets, holder, env)
    found = tuple(keys_assumed(s, holder) for s in secrets if assumed_kind(env, s) is not None)
    if len(grants) < len(secrets):
        found += tuple(kinds_unknown(secrets, holder, env))
    for _, kind, grant in grants:
        equipped = granted(equipped, kind, grant)
    found += tuple(keys_missing(secrets, grants, holder))
    return equipped._replace(diagnostics=(*found, *(overlaps(grants, holder) if len(grants) > 1 else ())))


def kinds_unknown(secrets: list[Secret], holder: Holder, env: Env) -> Iterator[Diagnostic]:
    """Warnings about Secrets that give nothing, for the keys that would tell their kind may be those of others."""
    for secret in secrets:
        if secret.others_add and secret.keys.isdisjoint(PULL_KEYS) and grant_of(env, secret) is None:
            name = f"Secret {secret.namespace}/{secret.name}"
            message = f"the keys of {name} that are declared are of no kind of credentials, so it gives none"
            remedy = "list all its keys under `secrets` of a Cluster document, if others add those of credentials"
            found = holder.report(KIND_UNKNOWN, message, holder.account_span(), remedy)
            yield evolve(found, related=((secret.span, "declared here"),) if secret.span is not None else ())


def keys_missing(
    secrets: list[Secret], grants: list[tuple[str, Credential, Grant]], holder: Holder
) -> Iterator[Diagnostic]:
    """Warnings about keys that variables refer to and whose Secret is known to lack them."""
    known = {secret.name: secret for secret in secrets if secret.all_known and secret.keys}
    for name, _, grant in grants:
        for entry in grant.env if name in known else ():
            key = ((entry.get("valueFrom") or {}).get("secretKeyRef") or {}).get("key")
            if key is not None and key not in known[name].keys:
                shown = f"Secret {known[name].namespace}/{name}"
                message = f"{shown} has no key {key}, which {entry['name']} of the download refers to"
                missing = holder.report(KEY_MISSING, message, holder.account_span(), f"add {key} to {shown}")
                declared = known[name].span
                yield evolve(missing, related=((declared, "declared here"),) if declared is not None else ())


def grants_of(secrets: list[Secret], holder: Holder, env: Env) -> list[tuple[str, Credential, Grant]]:
    """What each Secret gives, with its name and kind. Secrets of no known kind, such as pull secrets, give nothing.

    Raises:
        Reject: the kind of a Secret cannot be told, for its keys are not all known.
    """
    found = []
    for secret in secrets:
        given = grant_of(env, secret)
        if given is not None:
            found.append((secret.name, *given))
        elif not secret.complete:
            raise Reject(unknown_kind(secret, holder))
    return found


@once_a_run
def grant_of(env: Env, secret: Secret) -> tuple[Credential, Grant] | None:
    """The kind of a Secret and what it gives to everybody who has it; None if it is of no known kind."""
    kind = next((c for c in env.plugs.ladder if c.recognises(secret, env)), None) or assumed_kind(env, secret)
    return None if kind is None else (kind, kind.grant(secret, env))


@once_a_run
def assumed_kind(env: Env, secret: Secret) -> Credential | None:
    """The kind of a Secret that is declared without keys, if its annotations tell. KServe ignores such a Secret."""
    return next((c for c in env.plugs.ladder if c.assumed_of(secret)), None)


def secrets_of(account: ServiceAccount, holder: Holder, env: Env) -> list[Secret]:
    """The Secrets that count: the one that an annotation of the pod names, else those that the account lists."""
    named = named_secret(holder, env)
    if named is not None:
        annotation = env.platform.credentials.storage_secret_name_annotation
        return [declared_secret(named, holder, env, lambda: holder.annotations.span((annotation,)))]
    found = [env.cluster.secrets.get((account.namespace, name)) for name in account.secrets]
    if None in found:
        raise Reject(not_declared(account.secrets[found.index(None)], holder, holder.account_span(), account))
    return [secret for secret in found if secret is not None]


def named_secret(holder: Holder, env: Env) -> str | None:
    """The Secret that an annotation of the pod names, if it has the annotation that the platform agreed on."""
    annotation = env.platform.credentials.storage_secret_name_annotation
    name: str | None = holder.annotations.value.get(annotation) if annotation else None
    return name


def declared_secret(name: str, holder: Holder, env: Env, place: Callable[[], Span | None]) -> Secret:
    """The Secret of a name in the holder's namespace; `place` tells where it is named.

    Raises:
        Reject: nothing declares it.
    """
    secret = env.cluster.secrets.get((holder.namespace, name))
    if secret is None:
        raise Reject(not_declared(name, holder, place()))
    return secret


def not_declared(name: str, holder: Holder, span: Span | None, account: ServiceAccount | None = None) -> Diagnostic:
    """The diagnostic for a Secret that a ServiceAccount, or else the text at a place, names."""
    namespace = holder.namespace
    by = f"ServiceAccount {namespace}/{account.name} lists" if account is not None else "this names"
    listed = account.span if account is not None else None
    return Diagnostic(
        code=SECRET_NOT_DECLARED,
        message=f"{by} Secret {namespace}/{visible(name)}, which is not declared",
        span=span,
        related=((listed, f"this account lists {visible(name)}"),) if listed is not None else (),
        help=f"declare Secret {namespace}/{name} among the platform files; its keys are enough" if name else "name one",
        subject=holder.subject,
        rests_on=(Needed("Secret", namespace, name),),
    )


def unknown_kind(secret: Secret, holder: Holder) -> Diagnostic:
    """The diagnostic for a Secret with unknown keys, none of the known ones telling its kind."""
    return Diagnostic(
        code=KEYS_NOT_DECLARED,
        message=f"the keys of Secret {secret.namespace}/{secret.name} are not all declared, so its kind is unknown",
        span=holder.account_span(),
        related=((secret.span, "declared here"),) if secret.span is not None else (),
        help="list its keys under `secrets` of a Cluster document",
        subject=holder.subject,
        rests_on=(Needed("Secret", secret.namespace, secret.name),),
    )


def keys_assumed(secret: Secret, holder: Holder) -> Diagnostic:
    """The warning about a Secret that is declared without keys."""
    name = f"Secret {secret.namespace}/{secret.name}"
    found = holder.report(
        KEYS_ASSUMED,
        f"{name} is declared without keys; by its annotations it is taken to have those of credentials",
        holder.account_span(),
        "declare its keys; their values may be empty",
    )
    return evolve(found, related=((secret.span, "declared here"),) if secret.span is not None else ())


def setting(secret: Secret, key: str) -> str | None:
    """The plain value of a setting that a Secret holds; None if it has no such key.

    Raises:
        Reject: the Secret has the key, and its value is not declared.
    """
    value = secret.settings.get(key)
    if value is None and key in secret.keys:
        raise Reject(
            Diagnostic(
                code=SETTING_UNKNOWN,
                message=f"the value of {key} in Secret {secret.namespace}/{secret.name} is needed and not declared",
                span=secret.span,
                help=f"declare it under settings: {{{key}: ...}} of the Secret's entry in a Cluster document",
                rests_on=(Needed("Secret", secret.namespace, secret.name),),
            )
        )
    return value


def secret_variable(name: str, secret: Secret, key: str) -> Json:
    """An environment variable that the kubelet fills from a key of a Secret."""
    return {"name": name, "valueFrom": {"secretKeyRef": {"key": key, "name": secret.name}}}


def secret_volume(name: str, secret: Secret) -> Json:
    """A volume with the files of a Secret."""
    return {"name": name, "secret": {"secretName": secret.name}}


def granted(before: Equipped, kind: Credential, grant: Grant) -> Equipped:
    """The container with one grant more. KServe repeats names and paths that are there already; here each stays once.

    Of two variables the later one counts, as in the kubelet, unless the kind overwrites values only.
    KServe: mountSecretCredential; pkg/utils/utils.go, MergeEnvs
    """
    container = {**before.container}
    env = merged_env(container.get("env") or [], grant.env, kind.overwrites)
    if env:
        container["env"] = env
    mounts = container.get("volumeMounts") or []
    taken = {m["mountPath"] for m in mounts}
    added = [m for m in grant.mounts if m["mountPath"] not in taken]
    if added:
        container["volumeMounts"] = [*mounts, *added]
    volumes = tuple(v for v in grant.volumes if find(before.volumes, v["name"]) is None)
    return Equipped(container, (*before.volumes, *volumes), before.diagnostics)


def merged_env(env: list[Json], added: tuple[Json, ...], overwrites: bool) -> list[Json]:
    """Variables with more of them, each name once."""
    places = {entry["name"]: i for i, entry in enumerate(env)}
    merged = list(env)
    for entry in added:
        i = places.get(entry["name"])
        if i is None:
            merged.append(entry)
        elif not overwrites or ("valueFrom" not in merged[i] and "valueFrom" not in entry):
            merged[i] = entry
    return merged


def overlaps(grants: list[tuple[str, Credential, Grant]], holder: Holder) -> tuple[Diagnostic, ...]:
    """A warning for each Secret that gives what another one gave already."""
    givers: dict[str, str] = {}
    found = []
    for secret, _, grant in grants:
        names = [*(e["name"] for e in grant.env), *(m["mountPath"] for m in grant.mounts)]
        twice = [name for name in names if name in givers]
        if twice:
            message = f"Secrets {givers[twice[0]]} and {secret} both give {', '.join(twice)}"
            help_text = "list one Secret of a kind in the ServiceAccount"
            found.append(holder.report(SECRETS_OVERLAP, message, holder.account_span(), help_text))
        givers.update(dict.fromkeys(names, secret))
    return tuple(found)


def undeclared(account: str, holder: Holder) -> tuple[Diagnostic, ...]:
    """The warning about a ServiceAccount that nothing declares; the default one need not be declared."""
    if account in ("", DEFAULT_ACCOUNT):
        return ()
    found = holder.report(
        ACCOUNT_NOT_DECLARED,
        f"ServiceAccount {holder.namespace}/{account} is not declared: its pods get no credentials",
        holder.account_span(),
        "declare it among the platform files, with the names of its Secrets",
    )
    return (evolve(found, rests_on=(Needed("ServiceAccount", holder.namespace, account),)),)
