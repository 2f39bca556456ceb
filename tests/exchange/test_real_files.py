"""The list of real files: addresses that can be fetched, of kinds that exist, with facts that have a form."""

from __future__ import annotations

import subprocess
from pathlib import Path

from clusterspec.exchange.import_formats import IMPORT_FORMATS
from tools.real_files import Absent, RealFile, content, listed, outcome


def test_every_real_file_has_an_address_and_facts() -> None:
    files = listed()
    assert len(files) >= 150
    kinds = {kind.name for kind in IMPORT_FORMATS}
    for file in files:
        assert len(file.commit) == 40, file
        assert int(file.commit, 16), file
        assert file.kind in kinds, file
        assert file.repository.count("/") == 1, file
        assert not file.part or int(file.part) > 0, file
        assert file.facts == "refused" or all("=" in fact for fact in file.facts.split("; ")), file
    assert len(set(files)) == len(files)


def test_a_contradicted_fact_is_wrong_and_an_absent_one_left_out() -> None:
    script = b"torchrun pretrain_gpt.py --tensor-model-parallel-size 4 --micro-batch-size 2"
    facts = {
        "layout.tp=4; layout.micro_batch=2; not=layout.pp": "right",
        "layout.tp=8": "wrong",
        "not=layout.tp": "wrong",
        "layout.tp=4; layout.pp=2": "left out",
        "refused": "wrong",
    }
    for expected, how in facts.items():
        file = RealFile("owner/name", "0" * 40, "train.sh", "megatron", "", expected)
        assert outcome(file, script)[0] == how, expected
    unread = RealFile("owner/name", "0" * 40, "x.txt", "megatron", "", "refused")
    assert outcome(unread, b"nothing of any kind")[0] == "refused rightly"


def test_a_clone_gives_a_file_or_says_what_it_lacks(tmp_path: Path) -> None:
    folder = tmp_path / "owner+name"
    folder.mkdir()
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    for name, text in (("a.sh", "echo\n"), ("b.bin", pointer)):
        (folder / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "a"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()

    def found(commit: str, path: str, repository: str = "owner/name") -> bytes | Absent:
        return content(RealFile(repository, commit, path, "megatron", "", "refused"), tmp_path, {"asked"})

    assert found(head, "a.sh") == b"echo\n"
    assert found(head, "b.bin") == Absent("the clone has a pointer of Git LFS")
    assert found(head, "c.sh") == Absent("the clone lacks the path")
    assert found("0" * 40, "a.sh") == Absent("the clone lacks the commit")
    assert found(head, "a.sh", "owner/other") == Absent("no clone, and GitHub does not answer")
