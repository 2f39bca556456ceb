"""The comment step of the action ``publish``: posts the design diff that the check computed.

Runs with the Python of the machine alone; nothing is installed. Reads FOLDER, NUMBER, REPOSITORY, GH_TOKEN,
GITHUB_API_URL, GITHUB_STEP_SUMMARY. One comment is kept up to date. Where comments cannot be read or written, as with
the token of a pull request from a fork, the diff goes to the summary of the job. Where no spec changed, an earlier
comment says so, and no new one is written.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

MARK = "<!-- clusterspec diff -->"
LONGEST = 65_000
"""Characters; GitHub refuses more than 65,536."""
SUMMARY = 1_000_000
"""Bytes; GitHub refuses a summary of more than 1 MiB."""
PAGE = 100
"""Comments that GitHub lists at once, at most."""
NONE = ": no spec changed"
"""How the first line of a diff ends that has nothing to comment on."""
CUT = "\nThe rest is cut: the diff is longer than a comment may be.\n"
SECONDS = 30


class Refused(Exception):
    """GitHub did not do what it was asked."""


def github_answer(method: str, path: str, sent: dict[str, str] | None = None) -> Any:
    """The answer of GitHub to a request of its REST interface."""
    token = os.environ.get("GH_TOKEN")
    if not token:
        raise Refused("there is no token")
    request = urllib.request.Request(
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path,
        json.dumps(sent).encode() if sent else None,
        {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "clusterspec"},
        method=method,
    )
    request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as fault:
        raise Refused(f"{method} {path}: {fault.code} {fault.reason}") from fault
    except (OSError, ValueError) as fault:
        raise Refused(f"{method} {path}: {fault}") from fault


def earlier_comment(issue: str) -> dict[str, Any] | None:
    """The comment of an earlier run, if a program wrote it: anybody can write the mark."""
    page, found = 1, None
    while True:
        listed = github_answer("GET", f"{issue}/comments?per_page={PAGE}&page={page}")
        for one in listed:
            if one["user"] and one["user"]["type"] == "Bot" and (one["body"] or "").rstrip().endswith(MARK):
                found = one
        if len(listed) < PAGE:
            return found
        page += 1


def text_within_limit(text: str) -> str:
    """The whole lines of a text that fit into a comment, with open blocks closed."""
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST].rpartition("\n")[0] + "\n"
    opened = kept.count("<details>") > kept.count("</details>")
    return kept + ("\n</details>\n" if opened else "") + CUT


def has_changed_spec(text: str) -> bool:
    """Whether a diff has a spec that changed."""
    return not text.partition("\n")[0].endswith(NONE)


def publish(text: str, repository: str, number: str) -> None:
    """Write the comment, or the one that is known anew."""
    issue = f"/repos/{repository}/issues"
    earlier = earlier_comment(f"{issue}/{number}")
    body = f"{text_within_limit(text)}\n{MARK}\n"
    if earlier is None:
        if has_changed_spec(text):
            github_answer("POST", f"{issue}/{number}/comments", {"body": body})
    elif earlier["body"].rstrip() != body.rstrip():
        github_answer("PATCH", f"{issue}/comments/{earlier['id']}", {"body": body})


def main() -> int:
    """Publish the diff; where that is refused, say so and write it to the summary."""
    found = Path(os.environ["FOLDER"], "clusterspec-diff.md")
    if not found.is_file():  # the diff failed, and said why in its job
        return 0
    text = found.read_text("utf-8", errors="replace")
    try:
        publish(text, os.environ["REPOSITORY"], os.environ["NUMBER"])
    except Refused as refusal:
        why = " ".join(str(refusal).split()).replace("%", "%25")
        print(
            f"::notice title=clusterspec::no comment was written ({why}); the design diff is in the summary of the job"
        )
        with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("ab") as summary:
            summary.write(text.encode()[:SUMMARY].rpartition(b"\n")[0] + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
