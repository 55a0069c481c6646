#!/usr/bin/env bash
# Installs the kservec of this very checkout, so that the version of the action is the version of the compiler, into an
# environment of its own.
set -euo pipefail

place="$RUNNER_TEMP/kservec"
python -m venv "$place"
bin="$place/bin"
[ -d "$bin" ] || bin="$place/Scripts"
"$bin/python" -m pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH"
echo "$bin" >> "$GITHUB_PATH"
