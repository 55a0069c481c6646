#!/usr/bin/env bash
# Makes the page of a release: what the changelog says of it, with the distributions, their check sums and SBOM.
#
#   scripts/delivery/publish_page.sh TAG FOLDER
set -euo pipefail

tag=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT

(cd "$folder" && sha256sum --check --strict SHA256SUMS)
python3 "$here/versions.py" notes > "$notes"
options=(--verify-tag --title "$tag" --notes-file "$notes")
case $tag in *rc*) options+=(--prerelease) ;; esac
gh release create "$tag" "${options[@]}" "$folder"/*
