"""URIs of models as Go reads them: the scheme counts in lower case, however it is written.

Go escapes characters besides, such as blanks, and KServe then downloads what does not exist; here they stay as written.
KServe: knative.dev/pkg/apis, URL; Go: net/url, getScheme
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from kservec.core.paths import with_value
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from kservec.core.tree import Json

URI: Final = ("spec", "model", "uri")
ADAPTERS: Final = ("spec", "model", "lora", "adapters")

_match_scheme = re.compile(r"[A-Za-z][-A-Za-z0-9+.]*:").match


def with_lower_schemes(value: Json) -> Json:
    """A service or a config whose URIs begin in lower case; the value itself if they do."""
    uri, adapters = lookup(value, URI), lookup(value, ADAPTERS)
    if isinstance(uri, str) and (lower := in_lower_case(uri)) != uri:
        value = with_value(value, URI, lower)
    if isinstance(adapters, list) and (changed := [adapter_of(adapter) for adapter in adapters]) != adapters:
        value = with_value(value, ADAPTERS, changed)
    return value


def adapter_of(adapter: Json) -> Json:
    """An adapter whose URI begins in lower case."""
    uri = adapter.get("uri") if isinstance(adapter, dict) else None
    return {**adapter, "uri": in_lower_case(uri)} if isinstance(uri, str) else adapter


def in_lower_case(uri: str) -> str:
    """A URI whose scheme is in lower case."""
    found = _match_scheme(uri)
    return f"{found[0].lower()}{uri[found.end() :]}" if found else uri
