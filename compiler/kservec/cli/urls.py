"""kservec urls: where services are reached, and how they are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.api import front_of
from kservec.cli.findings import TEXT, entries, refused
from kservec.cli.inputs import inputs_of
from kservec.cli.options import paths_argument, revision_options, target_options
from kservec.cli.streams import write
from kservec.compilation import in_order, steps_of
from kservec.core.diagnostics import has_errors
from kservec.core.pods.image_names import rewritten
from kservec.emit import dump, stream
from kservec.explain.addresses import address_of
from kservec.explain.smoke_test import IMAGE, smoke_tests
from kservec.explain.text import addresses_json, addresses_text
from kservec.report.words import json_text

if TYPE_CHECKING:
    from kservec.api import Target

JSON = "json"


@click.command()
@paths_argument
@target_options
@revision_options
@click.option("--format", "layout", type=click.Choice((TEXT, JSON)), default=TEXT, show_default=True,
              help="How they are shown.")  # fmt: skip
@click.option("--smoke-test", is_flag=True, help="Print a Job for each service that asks it whether it is ready.")
def urls(*, paths: tuple[str, ...], target: Target, layout: str, smoke_test: bool) -> int:
    """List each service's URLs from outside and inside the cluster, its protocols, and a command that asks it.

    PATHS are an environment, or files as for build.

    \b
      kservec urls prod
      kservec urls services/ --platform platform/ --format json
      kservec urls prod --smoke-test | kubectl apply -f -
    """  # noqa: D301
    inputs = inputs_of(paths, target, layout)
    front, compilation = front_of(inputs.files, target=inputs.target)
    steps = list(steps_of(front))
    found = in_order((*compilation.diagnostics, *(d for step in steps for d in step.diagnostics)))
    if has_errors(found):
        errors = [d for d in found if d.is_error]
        return refused(errors, compilation.sources, layout)
    addresses = [
        address
        for step in sorted(steps, key=lambda s: s.unit.ref)
        if (address := address_of(step.unit, front.env_of(step.unit.ref)))
    ]
    if smoke_test:
        rules = inputs.settings.image_rewrites if inputs.settings is not None else {}
        write(stream(dump(job) for job in smoke_tests(addresses, rewritten(IMAGE, rules))))
    else:
        write(
            addresses_text(addresses)
            if layout == TEXT
            else json_text({**addresses_json(addresses), "diagnostics": entries(found)})
        )
    return 0
