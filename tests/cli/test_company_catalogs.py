"""`catalog new`, `catalog check`, and lists of a catalog with broken entries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.catalog.test_company_folders import written
from tests.cli.conftest import Call


def test_the_command_writes_an_entry_once(call: Call) -> None:
    assert call("catalog", "new", "accelerators", "acme-x9", "--into", "hardware").status == 0
    assert "id: acme-x9\n" in Path("hardware/accelerators/acme-x9.yaml").read_text()
    again = call("catalog", "new", "accelerator", "acme-x9", "--into", "hardware")
    assert (again.status, again.error) == (2, "clusterspec: hardware/accelerators/acme-x9.yaml: exists\n")
    assert call("catalog", "check", "hardware").status == 0
    assert call("catalog", "show", "acme-x9", "--catalog", "hardware").status == 0


@pytest.mark.parametrize("words", [("quark",), ("nic", "../x"), ("nic", "A b"), ("nic", "x", "--into", "file")])
def test_an_impossible_new_entry_is_a_usage_error(words: tuple[str, ...], call: Call) -> None:
    Path("file").write_text("")
    done = call("catalog", "new", *words)
    assert (done.status, done.out, len(done.error.splitlines())) == (2, "", 1)


def test_the_entry_of_a_model_is_read_from_its_configuration(call: Call) -> None:
    sizes: dict[str, object] = {
        "num_hidden_layers": 2,
        "hidden_size": 64,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    sizes |= {"hidden_act": "silu", "intermediate_size": 256, "vocab_size": 1000, "max_position_embeddings": 512}
    Path("config.json").write_text(json.dumps({"model_type": "llama", "tie_word_embeddings": False, **sizes}))
    words = ("catalog", "new", "model", "tiny-2", "--from-file", "config.json", "--into", "hardware")
    refused = call(*words)
    assert refused.status == 2
    assert "needs --url" in refused.error
    assert call(*words, "--url", "https://example.com/config.json", "--name", "Tiny: 2", "--vendor", "ACME").status == 0
    assert call("catalog", "check", "hardware").status == 0
    view = json.loads(call("catalog", "show", "tiny-2", "--catalog", "hardware", "--format", "json").out)["entry"]
    facts = {fact["name"]: fact["value"] for fact in view["facts"]}
    # by hand: two tables of 1,000 × 64; a layer has 64 × 64 × 2 + 64 × 32 × 2 of attention, 3 × 64 × 256, two norms
    assert facts["parameters"] == 2 * 1000 * 64 + 2 * (64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 256 + 2 * 64) + 64
    assert (view["name"], facts["kv_heads"]) == ("Tiny: 2", 2)
    experts = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "model_type": "qwen3_moe"}
    Path("config.json").write_text(json.dumps(sizes | {"tie_word_embeddings": False} | experts))
    assert "moe_layers: 2\n" in call(*words[:5], "config.json", "--url", "https://example.com/config.json").out
    assert call("catalog", "new", "nic", "x", "--from-file", "config.json", "--url", "https://a").status == 2


@pytest.mark.parametrize(
    ("kind", "open_", "millions"),
    [("llama", False, 8030), ("unheard", True, 8030), ("gpt2", False, 6151)],
)
def test_an_entry_and_an_import_leave_the_same_open(kind: str, open_: bool, millions: int, call: Call) -> None:
    """Llama 8B: 32 layers of 3 × 4096 × 14336 + 2 × 4096² + 2 × 4096 × 1024, and two tables of 128256 × 4096."""
    sizes = {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32}
    sizes |= {"num_key_value_heads": 8, "vocab_size": 128256}
    Path("config.json").write_text(json.dumps(sizes | {"model_type": kind, "tie_word_embeddings": False}))
    words = ("catalog", "new", "model", "own-8b", "--from-file", "config.json", "--url", "https://a.b/c")
    done, printed = call(*words, "--into", "hardware"), call(*words)
    imported = [line[2:] for line in call("import", "huggingface", "config.json").out.splitlines() if "unknown" in line]
    written = (Path("hardware") / "models" / "own-8b.yaml").read_text()
    assert any("gated_ffn" in line for line in imported) == open_
    assert all(f"  {line}\n" in done.error and f"#  {line}\n" in written for line in imported) and imported
    assert printed.error == "".join(f"{line}\n" for line in ["left open:", *(f"  {line}" for line in imported)])
    assert ("assumed: ffn_hidden is not 4" in written or '"ffn_hidden is not 4 × hidden"' in written) == open_
    Path("spec.yaml").write_text(
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
        "workload: {model: own-8b, sequence_length: 4096, global_batch: 8}\nlayout: {tp: 8}\n"
    )
    estimate = json.loads(call("estimate", "spec.yaml", "--catalog", "hardware", "--format", "json").out)
    assert estimate["parameters"] // 1_000_000 == millions


def test_a_list_leaves_broken_entries_out_and_names_each(call: Call) -> None:
    written(Path("hardware"), "nic", "kind: nic\n", "broken")
    written(Path("hardware"), "nic", "foo: [", "torn")
    done = call("catalog", "list", "nic", "--catalog", "hardware")
    assert done.status == 1
    assert "connectx-7" in done.out
    assert [line.split(":")[1].strip() for line in done.error.splitlines()] == [
        "catalog entry nic/broken",
        "catalog entry nic/torn",
    ]
    body = json.loads(call("catalog", "audit", "--catalog", "hardware", "--format", "json").out)
    assert [fault.split(":")[0] for fault in body["faults"]] == ["catalog entry nic/broken", "catalog entry nic/torn"]


def test_the_check_of_a_catalog_has_the_formats_of_a_check(call: Call) -> None:
    written(Path("hardware"), "nic", "kind: nic\n", "broken")
    Path("clusterspec.toml").write_text('catalog = ["hardware"]\n')
    for form in ("text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown"):
        done = call("catalog", "check", "--format", form)
        assert done.status == 1
        assert "hardware/nics/broken.yaml" in done.out
    assert call("catalog", "check", "absent").status == 2
    Path("clusterspec.toml").unlink()
    assert "no catalog folder to check" in call("catalog", "check").error
