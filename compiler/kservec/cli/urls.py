"""kservec urls: where services are reached, and how they are asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.api import compile_files
from kservec.cli.findings import TEXT, entries, refused
from kservec.cli.inputs import inputs_of
from kservec.cli.options import paths_argument, revision_options, target_options
from kservec.cli.streams import write
from kservec.core.pods.image_names import rewritten
from kservec.emit import dump, stream
from kservec.explain.addresses import address_of
from kservec.explain.smoke_test import IMAGE, smoke_tests
from kservec.explain.text import addresses_json, addresses_text
from kservec.report.words import json_text

if TYPE_CHECKING:
    from kservec.api import Target
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

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
    units: list[tuple[Unit, Env]] = []
    compilation = compile_files(inputs.files, target=inputs.target, witness=lambda *seen: units.append(seen))
    if not compilation.ok:
        errors = [d for d in compilation.diagnostics if d.is_error]
        return refused(errors, compilation.sources, layout)
    ordered = sorted(units, key=lambda seen: seen[0].ref)
    addresses = [address for unit, env in ordered if (address := address_of(unit, env))]
    if smoke_test:
        rules = inputs.settings.image_rewrites if inputs.settings is not None else {}
        write(stream(dump(job) for job in smoke_tests(addresses, rewritten(IMAGE, rules))))
    else:
        write(
            addresses_text(addresses)
            if layout == TEXT
            else json_text({**addresses_json(addresses), "diagnostics": entries(compilation.diagnostics)})
        )
    return 0
