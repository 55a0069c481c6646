#!/usr/bin/env bash
# Installs the kservec of this very checkout, so that the version of the action is the version of the compiler, into an
# environment of its own. Whatever else is installed is pinned by its hash.
set -euo pipefail

place="$RUNNER_TEMP/kservec"
python -m venv "$place"
bin="$place/bin"
[ -d "$bin" ] || bin="$place/Scripts"
pip=("$bin/python" -m pip install --quiet --disable-pip-version-check)
"${pip[@]}" --require-hashes --only-binary=:all: \
  -r "$GITHUB_ACTION_PATH/integrations/github/requirements.txt" -r "$GITHUB_ACTION_PATH/scripts/delivery/backend.txt"
"${pip[@]}" --no-deps --no-build-isolation "$GITHUB_ACTION_PATH"
echo "$bin" >> "$GITHUB_PATH"
