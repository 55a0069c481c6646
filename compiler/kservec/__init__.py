"""kservec, the KServe compiler: InferenceServices in, plain Kubernetes YAML out, ahead of time.

from kservec import compile_text
compiled = compile_text(open("isvc.yaml").read())
if compiled.ok:
print(compiled.yaml)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec._version import __version__

if TYPE_CHECKING:
    from kservec.api import Compilation, Target, compile_files, compile_text, compile_tree
    from kservec.io.reading import File

__all__ = ["Compilation", "File", "Target", "__version__", "compile_files", "compile_text", "compile_tree"]


def __getattr__(name: str) -> object:
    """Import the library when it is first used, so that `kservec --version` need not."""
    if name == "File":
        from kservec.io.reading import File  # noqa: PLC0415 - see above

        return File
    if name in __all__:
        from kservec import api  # noqa: PLC0415 - see above

        return getattr(api, name)
    raise AttributeError(f"module 'kservec' has no attribute {name!r}")
