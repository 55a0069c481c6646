#!/usr/bin/env bash
# Lints, checks and compares the environments of the current folder. Everything comes in environment variables, so that
# no text of a pull request is ever part of a script. The exit status is the first one that was not 0; what follows a
# failure still runs, since reviewers want to see all of it.
set -uo pipefail

read -ra environments <<< "${KSERVEC_ENVIRONMENTS:-}"
status=0

keep() {
  if [ "$status" -eq 0 ]; then status=$1; fi
}

if [ -n "${KSERVEC_SARIF:-}" ]; then
  case $KSERVEC_SARIF in
    /*) ;;
    *) KSERVEC_SARIF="$GITHUB_WORKSPACE/$KSERVEC_SARIF" ;; # where later steps look for it
  esac
  kservec lint --format sarif ${environments[@]+"${environments[@]}"} > "$KSERVEC_SARIF"
fi
if [ "${KSERVEC_LINT:-true}" = true ]; then
  kservec lint --format github ${environments[@]+"${environments[@]}"} || keep $?
fi
if [ "${KSERVEC_CHECK:-true}" = true ]; then
  kservec check ${environments[@]+"${environments[@]}"}
  checked=$?
  if [ "$checked" -eq 3 ]; then
    echo "::error title=kservec check::rendered files are not what a build writes; run kservec build and commit the result"
  fi
  if [ "$checked" -ne 0 ]; then keep "$checked"; fi
fi
if [ "${KSERVEC_DIFF:-true}" = true ] && [ -n "${KSERVEC_BASE:-}" ]; then
  report="$RUNNER_TEMP/kservec-diff.md"
  kservec diff "origin/$KSERVEC_BASE" --format markdown --exit-code > "$report"
  case $? in
    0) changed=false ;;
    3) changed=true ;;
    *) changed='' ;;
  esac
  if [ -n "$changed" ]; then
    cat "$report" >> "$GITHUB_STEP_SUMMARY"
    printf 'changed=%s\nreport=%s\n' "$changed" "$report" >> "$GITHUB_OUTPUT"
  else
    keep 1
  fi
fi
exit "$status"
