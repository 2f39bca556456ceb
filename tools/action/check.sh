#!/usr/bin/env bash
# The check step of the action: annotations, SARIF and a summary from one run.
# Reads PATHS (words), FAIL_ON, TRUST, BASE_SHA; writes `sarif` to GITHUB_OUTPUT and a table to GITHUB_STEP_SUMMARY.
set -uo pipefail
program="${CLUSTERSPEC:-$RUNNER_TEMP/clusterspec/bin/clusterspec}"
sarif="$RUNNER_TEMP/clusterspec.sarif"
summary="$RUNNER_TEMP/clusterspec.md"
rm -f -- "$sarif" "$summary" # those of an earlier call in the same job
trust="${TRUST:-spec}"
# Only pull requests and merge queues have a base.
if [ "$trust" = base ] && [ -z "${BASE_SHA:-}" ]; then trust=spec; fi
options=(--trust "$trust")
if [ "$trust" = base ]; then
  git fetch --quiet --no-tags --depth=1 origin "$BASE_SHA" || true
  options+=(--base-revision "$BASE_SHA")
fi
read -r -a paths <<<"${PATHS:-.}"
"$program" check "${options[@]}" --fail-on "${FAIL_ON:-error}" \
  --format sarif --output "$sarif" --format markdown --output "$summary" --format github -- "${paths[@]}"
status=$?
[ -f "$sarif" ] && echo "sarif=$sarif" >>"$GITHUB_OUTPUT"
# GitHub refuses a summary of more than 1 MiB.
[ -f "$summary" ] && head -c 1000000 -- "$summary" >>"$GITHUB_STEP_SUMMARY"
exit "$status"
