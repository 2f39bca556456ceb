#!/usr/bin/env bash
# The comment step of the action: the design diff of every spec that a pull request changes.
# Reads BASE_SHA, NUMBER, REPOSITORY, GH_TOKEN. With DRY_RUN the comment is printed.
set -euo pipefail
program="${CLUSTERSPEC:-$RUNNER_TEMP/clusterspec/bin/clusterspec}"
body="$RUNNER_TEMP/clusterspec-diff.md"
: >"$body"
while IFS= read -r -d '' name; do
  case "$name" in *.yaml | *.yml) ;; *) continue ;; esac
  grep -q -E '^["'\'']?clusterspec["'\'']?[[:space:]]*:' -- "$name" || continue
  "$program" diff --format markdown -- "$BASE_SHA:$name" "$name" >>"$body" || true
  echo >>"$body"
done < <(git diff --no-ext-diff --no-textconv --name-only -z --diff-filter=M "$BASE_SHA" --)
[ -s "$body" ] || exit 0
if [ -n "${DRY_RUN:-}" ]; then cat -- "$body"; else gh pr comment "$NUMBER" --repo "$REPOSITORY" --body-file "$body"; fi
