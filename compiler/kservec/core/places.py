"""Places: the namespaces that an environment's objects may be in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef, Span

FOREIGN_NAMESPACE = Code(
    "project/namespace",
    Severity.ERROR,
    "an object outside of the environment's namespaces",
    "An environment that lists `namespaces` keeps to them, so that nothing lands where another team, or another "
    "environment of one cluster, has its objects.",
)


def foreign(ref: ObjectRef, subject: ObjectRef, span: Span | None) -> Diagnostic:
    """The error about an object in another namespace; `subject` is the user's object that it comes from."""
    what = f"{ref} is" if ref == subject else f"{subject} leads to {ref}, which is"
    return Diagnostic(
        code=FOREIGN_NAMESPACE,
        message=f"{what} in none of the environment's namespaces",
        span=span,
        help=f"move it, or add {ref.namespace} to namespaces in kservec.yaml",
        subject=subject,
    )
