"""The page with an editor: what it is told is what the command line prints, and its server serves nobody else."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from clusterspec import resources
from clusterspec.cli.editor.server import HOST, LARGEST_BODY, Server, with_line_ends
from clusterspec.cli.editor.verbs import VERBS, Answer, Session
from tests.cli.conftest import BASE, ROOT, Call
from tests.effort import ALL_CASES, diagonal, thorough

EXAMPLES = ["lab-fleet", "aws-p5-8b"]
COMMANDS = (
    ("check", "json"),
    ("check", "text"),
    ("estimate", "json"),
    ("estimate", "text"),
    ("cost", "text"),
    ("bom", "json"),
    ("faults", "csv"),
)
NAME = "cluster.yaml"


def text_of(example: str) -> str:
    return (ROOT / "examples" / f"{example}.yaml").read_text("utf-8")


def test_the_page_is_told_what_the_command_line_prints(call: Call) -> None:
    """Also where the file on disk has another text, or none."""
    names = sorted(path.stem for path in (ROOT / "examples").glob("*.yaml")) if ALL_CASES else EXAMPLES
    asked = [
        (example, text_of(example), *form)
        for example, form in diagonal(max(map(len, (names, COMMANDS))), names, COMMANDS)
    ]
    for example, text, verb, form in (*asked, ("too long", "clusterspec: 1\n" + "# more\n" * 300_000, "check", "json")):
        job = ["--job=tune"] if example == "lab-fleet" and verb == "faults" else []
        Path(NAME).write_text(text, "utf-8")
        printed = call(verb, f"--format={form}", *job, NAME)
        Path(NAME).write_text("clusterspec: 1\n")
        request = {"verb": verb, "format": form, "text": text} | ({"job": "tune"} if job else {})
        answer = Session(NAME).answer(request)
        assert (answer["out"], answer["status"], answer["err"]) == (printed.out, printed.status, printed.error)


@thorough
def test_searches_differences_and_reports_are_those_of_the_command_line(call: Call) -> None:
    session = Session(NAME)
    Path(NAME).write_text(BASE)
    Path("old.yaml").write_text(BASE.replace("nodes: 4", "nodes: 2"))
    old = Path("old.yaml").read_text()
    for words, request in (
        (("search", "--format=json", "--top=3"), {"verb": "search", "format": "json", "top": 3}),
        (("diff", "--format=markdown", "old.yaml"), {"verb": "diff", "format": "markdown", "old": old}),
    ):
        printed = call(*words, NAME)
        assert session.answer({**request, "text": BASE})["out"] == printed.out
    machine = BASE.partition("workload:")[0]
    for form, kind, text in (("html", "design", machine), ("json", "procurement", BASE)):
        Path(NAME).write_text(text)
        call("report", "--kind", kind, "-o", f"report.{form}", NAME)
        answer = session.answer({"verb": "report", "kind": kind, "text": text, "format": form})
        assert answer["out"] == Path(f"report.{form}").read_text("utf-8")
    assert (
        session.answer({"verb": "convert", "quantity": "900 GB/s duplex"})["out"]
        == call("convert", "900 GB/s duplex").out
    )
    assert [path.name for path in sorted(Path().iterdir())] == [NAME, "old.yaml", "report.html", "report.json"]


def test_a_search_that_is_ended_says_how_far_it_came(call: Call) -> None:
    seen: list[int] = []

    def ends(done: int, _: int) -> bool:
        seen.append(done)
        return True

    session = Session(NAME, progress=ends)
    answer = session.answer({"verb": "search", "format": "json", "text": BASE})
    stopped = answer["stopped"]
    assert isinstance(stopped, dict)
    assert stopped["evaluated"] == seen[-1] < stopped["of"]
    assert json.loads(str(answer["out"]))["evaluated"] == stopped["evaluated"]


def test_a_lever_and_a_layout_change_the_lines_of_their_keys_alone(call: Call) -> None:
    Path(NAME).touch()
    session = Session(NAME)
    text = "# kept\n" + BASE.replace("layout:", "layout: # the cut")
    for request, old, new in (
        ({"verb": "vary", "key": "nodes", "value": 8}, "  nodes: 4\n", "  nodes: 8\n"),
        ({"verb": "vary", "key": "sequence_length", "value": 4096}, "sequence_length: 8192", "sequence_length: 4096"),
        ({"verb": "vary", "key": "recompute", "value": "full"}, "  tp: 2\n", "  tp: 2\n  recompute: full\n"),
        ({"verb": "with_layout", "layout": {"tp": 4}}, "  tp: 2\n", "  tp: 4\n"),
    ):
        assert session.answer({**request, "text": text})["text"] == text.replace(old, new)
    faster = str(session.answer({"verb": "vary", "key": "nic_bandwidth", "value": 25e9, "text": BASE})["text"])
    answer = session.answer({"verb": "check", "format": "json", "text": faster})
    assert "nic_bandwidth: 200 Gb/s" in faster
    assert json.loads(str(answer["out"]))["summary"]["error"] == 0


def test_a_slider_has_the_values_that_are_sold_around_that_of_the_spec() -> None:
    values = Session(NAME).answer({"verb": "values", "text": BASE})["values"]
    assert isinstance(values, dict)
    assert values["nic_bandwidth"] == tuple(gigabits * 1e9 / 8 for gigabits in (25, 50, 100, 200, 400, 800, 1600))
    assert all(list(steps) == sorted(set(steps)) and len(steps) <= 9 for steps in values.values())


def test_hover_and_completion_are_those_of_the_language_server() -> None:
    session = Session(NAME)
    assert "DGX H100" in str(session.answer({"verb": "hover", "text": BASE, "line": 4, "column": 15})["markdown"])
    items = session.answer({"verb": "complete", "text": BASE + "  ", "line": 12, "column": 3})["items"]
    assert isinstance(items, list)
    assert {"pp", "cp"} <= {item["text"] for item in items} and "tp" not in {item["text"] for item in items}


def test_no_request_ends_in_a_traceback(call: Call) -> None:
    """Requests that no page sends, and texts that are no specs."""
    session = Session(NAME)
    strange: list[object] = [None, 7, [], {"a": 1}, "\x00", "--output=/tmp/x", "\udc80", "[" * 3000, True, 1e400, -1]
    keys = ["text", "old", "quantity", "rule", "format", "job", "line", "column", "layout", "key", "value", "kind"]
    for verb in VERBS:
        if verb == "search":
            continue
        for value in strange:
            answer = session.answer({"verb": verb} | dict.fromkeys(keys, value))
            assert answer["status"] in {0, 1, 2}, (verb, value, answer)
    assert list(Path().iterdir()) == []


# The server


@pytest.fixture
def server(call: Call) -> Iterator[Server]:
    Path(NAME).write_text(BASE)
    made = Server(Session(NAME), NAME)
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def sent(server: Server, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(HOST, server.port, timeout=20)
    given = {"Host": f"{HOST}:{server.port}"} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    assert answer.getheader("Content-Security-Policy", "").startswith("default-src 'none'")
    found = answer.status, answer.read()
    connection.close()
    return found


def asked(server: Server, **request: object) -> Answer:
    status, body = sent(server, "POST", "/answer", json.dumps(request).encode(), X_Clusterspec_Token=server.token)
    assert status == 200
    found: Answer = json.loads(body)
    return found


def test_only_the_holder_of_the_token_is_answered(server: Server) -> None:
    body = json.dumps({"verb": "about"}).encode()
    host, token = f"{HOST}:{server.port}", server.token
    assert server.server_address[0] == "127.0.0.1"
    for headers in (
        {},
        {"X_Clusterspec_Token": token[:-1]},
        {"X_Clusterspec_Token": "é" * 8},
        {"X_Clusterspec_Token": token, "Host": "rebound.example"},
        {"X_Clusterspec_Token": token, "Origin": "http://rebound.example"},
        {"X_Clusterspec_Token": token, "Origin": "null"},
        {"X_Clusterspec_Token": token, "Content_Length": str(LARGEST_BODY + 1)},
    ):
        assert sent(server, "POST", "/answer", body, **headers)[0] == 403, headers
    assert sent(server, "POST", "/answer", body, X_Clusterspec_Token=token, Origin=f"http://{host}")[0] == 200
    assert sent(server, "POST", "/other", body, X_Clusterspec_Token=token)[0] == 403


def test_only_the_files_of_the_page_are_served(server: Server) -> None:
    assert sent(server, "GET", "/")[0] == 200
    assert b"llama-3.1-8b" not in sent(server, "GET", "/")[1] + sent(server, "GET", "/page.js")[1]
    for path in (
        f"/{NAME}",
        "/../cluster.yaml",
        "/%2e%2e/cluster.yaml",
        "//etc/passwd",
        "/built.json",
        "/page.js?x",
        "/fonts/",
    ):
        assert sent(server, "GET", path)[0] == 404, path
    assert sent(server, "GET", "/", Host="rebound.example")[0] == 404


def test_the_page_saves_the_one_file_unless_another_has_changed_it(server: Server) -> None:
    found = asked(server, verb="read")
    assert found["text"] == BASE
    changed = BASE.replace("nodes: 4", "nodes: 8")
    saved = asked(server, verb="save", text=changed, state=found["state"], name="other.yaml", file="other.yaml")
    assert saved["status"] == 0 and Path(NAME).read_text() == changed
    Path(NAME).write_text(BASE)
    refused = asked(server, verb="save", text="lost", state=saved["state"])
    assert refused["status"] == 1 and refused["text"] == BASE == Path(NAME).read_text()
    assert asked(server, verb="watch", state=saved["state"])["text"] == BASE
    assert [path.name for path in Path().iterdir()] == [NAME]


def test_the_page_keeps_the_line_ends_of_the_file_and_refuses_what_it_could_not_write_back(server: Server) -> None:
    Path(NAME).write_bytes(BASE.replace("\n", "\r\n").encode())
    found = asked(server, verb="read")
    assert found["text"] == BASE, "as the page ends its lines, so that nothing seems changed"
    changed = BASE.replace("nodes: 4", "nodes: 8")
    saved = asked(server, verb="save", text=changed, state=found["state"])
    assert saved["status"] == 0 and Path(NAME).read_bytes() == changed.replace("\n", "\r\n").encode()
    latin = BASE.encode() + "# Größe\n".encode("latin-1")
    Path(NAME).write_bytes(latin)
    for verb in ("watch", "save"):
        assert "not UTF-8" in str(asked(server, verb=verb, text=BASE, state=saved["state"])["err"])
    assert Path(NAME).read_bytes() == latin
    Path(NAME).unlink()
    assert asked(server, verb="save", text=BASE, state=saved["state"])["status"] == 0
    assert Path(NAME).read_text() == BASE, "a removed file is written again"


def test_lines_that_are_kept_keep_their_ends() -> None:
    mixed = "a\r\nb\nc\rd\n"
    for text, expected in (
        ("a\nb\nc\nd\n", mixed),
        ("a\nx\nc\nd\n", "a\r\nx\r\nc\rd\n"),
        ("a\nb\nc\nnew\nd\n", "a\r\nb\nc\rnew\rd\n"),
        ("a\nd\n", "a\r\nd\n"),
        ("new\na\nb\nc\nd", "new\r\na\r\nb\nc\rd"),
        ("", ""),
    ):
        made = with_line_ends(text, mixed)
        assert made.replace("\r\n", "\n").replace("\r", "\n") == text
        if text.endswith("d\n"):
            assert made == expected
    assert with_line_ends("a\nb", "x\r") == "a\rb" and with_line_ends("a\nb\n", "") == "a\nb\n"


def test_a_text_that_is_too_long_is_not_written(server: Server) -> None:
    Path(NAME).write_text(BASE)
    state = asked(server, verb="read")["state"]
    refused = asked(server, verb="save", text="# x\n" * 300_000, state=state)
    assert refused["status"] == 2 and "more than 1 MiB; nothing was written" in str(refused["err"])
    assert Path(NAME).read_text() == BASE


def test_a_broken_request_leaves_the_server_running(server: Server) -> None:
    for body in (b"", b"[]", b"{", b"[" * 100_000, b"\xff"):
        assert sent(server, "POST", "/answer", body, X_Clusterspec_Token=server.token)[0] == 200
    assert asked(server, verb="check", format="json", text=BASE)["status"] == 0


def test_edit_refuses_what_it_cannot_edit(call: Call) -> None:
    os.mkfifo("pipe.yaml")
    Path("folder").mkdir()
    for words, why in (
        (["pipe.yaml"], "not a regular file"),
        (["folder"], "not a regular file"),
        (["/dev/null"], "not a regular file"),
        (["missing.yaml"], "No such file"),
        (["-"], "takes a file"),
        ([NAME, "--port", "70000"], "ports end at 65535"),
        ([NAME, "--catalog", "nowhere"], "nowhere"),
    ):
        Path(NAME).write_text(BASE)
        done = call("edit", *words)
        assert done.status == 2 and why in done.error and done.error.count("\n") == 1, done


def test_the_committed_page_is_the_one_of_its_sources() -> None:
    """`make page` builds it again."""
    folder = resources.templates() / "editor"
    built = json.loads((folder / "built.json").read_text("utf-8"))

    def hashes(place: Path, names: list[str]) -> dict[str, str]:
        return {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in names}

    sources = [
        "build.mjs",
        "package.json",
        "package-lock.json",
        *(f"src/{path.name}" for path in (ROOT / "web" / "src").iterdir()),
    ]
    assert hashes(ROOT / "web", sorted(sources)) == built["sources"]
    assert hashes(folder, sorted(path.name for path in folder.iterdir() if path.name != "built.json")) == built["files"]
    assert sum(path.stat().st_size for path in folder.iterdir()) < 600_000
