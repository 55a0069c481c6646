#!/usr/bin/env bash
# Writes the report as a comment of the pull request, or brings the comment of an earlier run up to date. A comment that
# cannot be written (pull requests from forks have a token that only reads) is no failure: the summary has the report.
set -euo pipefail

export KSERVEC_MARK="<!-- kservec:${KSERVEC_FOLDER:-.} -->"
comments="repos/$GITHUB_REPOSITORY/issues/$KSERVEC_PULL/comments"
body="$RUNNER_TEMP/kservec-comment.md"
{
  printf '%s\n' "$KSERVEC_MARK"
  cat "$KSERVEC_REPORT"
} > "$body"

mine='.[] | select(.user.type == "Bot" and (.body | startswith(env.KSERVEC_MARK))) | .id'
if ! found=$(gh api --paginate "$comments" --jq "$mine"); then
  echo "::notice title=kservec::the comments of this pull request cannot be read; the summary of the job has the report"
  exit 0
fi
first=${found%%$'\n'*}
if [ -n "$first" ]; then
  request=(--method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$first")
elif [ "${KSERVEC_CHANGED:-}" = true ]; then
  request=(--method POST "$comments")
else
  exit 0
fi
if ! gh api "${request[@]}" --field "body=@$body" > "$RUNNER_TEMP/kservec-answer.json"; then
  echo "::notice title=kservec::no comment could be written; the summary of the job has the report"
fi
