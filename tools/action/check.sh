#!/usr/bin/env bash
# The check step of the action: annotations, SARIF and a summary from one run.
# Reads PATHS (words), FAIL_ON, TRUST, BASE_SHA; writes `sarif` to GITHUB_OUTPUT and a table to GITHUB_STEP_SUMMARY.
set -uo pipefail
program="${CLUSTERSPEC:-$RUNNER_TEMP/clusterspec/bin/clusterspec}"
results="$RUNNER_TEMP/clusterspec-results"
sarif="$results/clusterspec.sarif"
summary="$RUNNER_TEMP/clusterspec.md"
mkdir -p -- "$results"
rm -f -- "$sarif" "$summary" # those of an earlier call in the same job
trust="${TRUST:-spec}"
# Only pull requests and merge queues have a base.
if [ "$trust" = base ] && [ -z "${BASE_SHA:-}" ]; then trust=spec; fi
options=(--trust "$trust")
if [ "$trust" = base ]; then
  [[ $BASE_SHA =~ ^[0-9a-f]{40,64}$ ]] || { echo "the base revision is not a commit: $BASE_SHA" >&2; exit 2; }
  git fetch --quiet --no-tags --depth=1 origin -- "$BASE_SHA" || true
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
