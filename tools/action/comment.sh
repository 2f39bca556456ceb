#!/usr/bin/env bash
# The comment step of the action `publish`: posts the design diff that the check computed.
# Reads FOLDER, NUMBER, REPOSITORY, GH_TOKEN. One comment is kept up to date. Where the token may not write comments, as in
# a pull request from a fork, the diff goes to the summary of the job.
set -euo pipefail
found="$FOLDER/clusterspec-diff.md"
body="$RUNNER_TEMP/clusterspec-comment.md"
mark="<!-- clusterspec diff -->"
[ -s "$found" ] || exit 0
{
  cat -- "$found"
  printf '\n%s\n' "$mark"
} >"$body"
find=".[] | select((.user.type == \"Bot\") and (.body | rtrimstr(\"\\n\") | endswith(\"$mark\"))) | .id"
known="$(gh api --paginate "repos/$REPOSITORY/issues/$NUMBER/comments" --jq "$find" | tail -n 1)" || known=""
if [ -n "$known" ]; then
  gh api --silent --method PATCH "repos/$REPOSITORY/issues/comments/$known" -F "body=@$body" && exit 0
else
  gh pr comment "$NUMBER" --repo "$REPOSITORY" --body-file "$body" && exit 0
fi
echo "::notice title=clusterspec::the token may not write comments; the design diff is in the summary of the job"
cat -- "$body" >>"$GITHUB_STEP_SUMMARY"
