#!/usr/bin/env bash
# The check step of the action: annotations, SARIF and a summary from one run.
# Reads PATHS (words), FAIL_ON, TRUST, BASE_SHA; writes `sarif` to GITHUB_OUTPUT and a table to GITHUB_STEP_SUMMARY.
set -uo pipefail
program="${CLUSTERSPEC:-$RUNNER_TEMP/clusterspec/bin/clusterspec}"
sarif="$RUNNER_TEMP/clusterspec.sarif"
summary="$RUNNER_TEMP/clusterspec.md"
trust=(--trust "${TRUST:-spec}")
if [ "${TRUST:-spec}" = base ]; then
  git fetch --quiet --no-tags --depth=1 origin "$BASE_SHA" || true
  trust+=(--base-revision "$BASE_SHA")
fi
read -r -a paths <<<"${PATHS:-.}"
"$program" check "${trust[@]}" --fail-on "${FAIL_ON:-error}" \
  --format sarif --output "$sarif" --format markdown --output "$summary" --format github -- "${paths[@]}"
status=$?
[ -f "$sarif" ] && echo "sarif=$sarif" >>"$GITHUB_OUTPUT"
[ -f "$summary" ] && cat -- "$summary" >>"$GITHUB_STEP_SUMMARY"
exit "$status"
