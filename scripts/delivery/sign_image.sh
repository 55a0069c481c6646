#!/usr/bin/env bash
# Signs an image without a key: the identity is that of the workflow that runs this, and the signature is in the public
# log. Then verifies what was signed as users do, and prints the digest as an output of the step.
#
#   scripts/delivery/sign_image.sh REPOSITORY@sha256:DIGEST
set -euo pipefail

reference=$1
[[ $reference =~ ^[a-z0-9./-]+@sha256:[0-9a-f]{64}$ ]] || {
  echo "'$reference' is no image by its digest" >&2
  exit 2
}
cosign sign --yes --recursive "$reference" >&2
cosign verify "$reference" \
  --certificate-oidc-issuer https://token.actions.githubusercontent.com \
  --certificate-identity "$GITHUB_SERVER_URL/$GITHUB_WORKFLOW_REF" > /dev/null
echo "digest=${reference#*@}"
