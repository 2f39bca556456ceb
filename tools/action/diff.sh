#!/usr/bin/env bash
# The diff step of the action: the design diff of every spec that a pull request changes, in Markdown.
# Reads BASE_SHA; writes clusterspec-diff.md to the results, if there is a difference.
set -euo pipefail
program="${CLUSTERSPEC:-$RUNNER_TEMP/clusterspec/bin/clusterspec}"
results="$RUNNER_TEMP/clusterspec-results"
body="$results/clusterspec-diff.md"
longest=60000 # characters; GitHub refuses more than 65,536
[[ $BASE_SHA =~ ^[0-9a-f]{40,64}$ ]] || { echo "the base revision is not a commit: $BASE_SHA" >&2; exit 2; }
mkdir -p -- "$results"
git fetch --quiet --no-tags --depth=1 origin -- "$BASE_SHA" || true
status=0
"$program" diff --format markdown -- "$BASE_SHA" >"$body" || status=$?
# 1: a new spec has errors, which the check reports. Without a changed spec there is nothing to comment on.
if [ "$status" -gt 1 ] || grep -q "no spec changed" -- "$body"; then
  rm -f -- "$body"
  exit 0
fi
if [ "$(wc -c <"$body")" -gt "$longest" ]; then
  # Whole lines only, so that no character and no table row is cut.
  head -c "$longest" -- "$body" | sed '$d' >"$body.cut"
  printf '\nThe rest is cut: the diff is longer than a comment may be.\n' >>"$body.cut"
  mv -- "$body.cut" "$body"
fi
