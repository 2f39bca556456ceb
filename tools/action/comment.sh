#!/usr/bin/env bash
# The comment step of the action: the design diff of every spec that a pull request changes.
# Reads BASE_SHA, NUMBER, REPOSITORY, GH_TOKEN. With DRY_RUN the comment is printed. One comment is kept up to date. Where
# the token may not write comments, as in a pull request from a fork, the diff goes to the summary of the job.
set -euo pipefail
program="${CLUSTERSPEC:-$RUNNER_TEMP/clusterspec/bin/clusterspec}"
body="$RUNNER_TEMP/clusterspec-diff.md"
mark="<!-- clusterspec diff -->"
longest=60000 # characters; GitHub refuses more than 65,536
git fetch --quiet --no-tags --depth=1 origin "$BASE_SHA" || true
: >"$body"
while IFS= read -r -d '' name; do
  case "$name" in *.yaml | *.yml) ;; *) continue ;; esac
  grep -q -E '^["'\'']?clusterspec["'\'']?[[:space:]]*:' -- "$name" || continue
  "$program" diff --format markdown -- "$BASE_SHA:$name" "$name" >>"$body" || true
  echo >>"$body"
done < <(git diff --no-ext-diff --no-textconv --name-only -z --diff-filter=M "$BASE_SHA" --)
[ -s "$body" ] || exit 0
if [ "$(wc -c <"$body")" -gt "$longest" ]; then
  # Whole lines only, so that no character and no table row is cut.
  head -c "$longest" -- "$body" | sed '$d' >"$body.cut"
  printf '\nThe rest is cut: the diff is longer than a comment may be.\n' >>"$body.cut"
  mv -- "$body.cut" "$body"
fi
printf '\n%s\n' "$mark" >>"$body"
if [ -n "${DRY_RUN:-}" ]; then
  cat -- "$body"
  exit 0
fi
find=".[] | select((.user.type == \"Bot\") and (.body | rtrimstr(\"\\n\") | endswith(\"$mark\"))) | .id"
known="$(gh api --paginate "repos/$REPOSITORY/issues/$NUMBER/comments" --jq "$find" | tail -n 1)" || known=""
if [ -n "$known" ]; then
  gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$known" -F "body=@$body" && exit 0
else
  gh pr comment "$NUMBER" --repo "$REPOSITORY" --body-file "$body" && exit 0
fi
echo "::notice title=clusterspec::the token may not write comments; the design diff is in the summary of the job"
cat -- "$body" >>"$GITHUB_STEP_SUMMARY"
