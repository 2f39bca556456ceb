"""Whatever is in a file, an import ends in one clear line, in little time and space."""

from __future__ import annotations

import contextlib
import json
import random
import re
import textwrap
import tracemalloc

import pytest
from hypothesis import given, strategies

from clusterspec.exchange import import_formats
from clusterspec.exchange.documents import result_with_known_keys
from clusterspec.exchange.import_result import LARGEST, FormatError, InputFile
from clusterspec.exchange.merge import new_spec
from tests.effort import each, sampled
from tests.exchange.imports import read
from tools.hostile import SAMPLES

NAMES = [kind.name for kind in import_formats.IMPORT_FORMATS]
HOSTILE = {
    "empty": b"",
    "blank": b" \n\n",
    "binary": bytes(range(256)) * 40,
    "elf": b"\x7fELF" + b"\0" * 200,
    "not UTF-8": b"GPU0 \xff\xfe X",
    "UTF-16": "GPU0 GPU1\n".encode("utf-16"),
    "one megabyte in a line": b"GPU0 " * 220_000,
    "deep JSON": b"[" * 100_000,
    "deep YAML": b"- " * 3_000,
    "a chain of YAML aliases": b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n" * 2,
    "too many lines": b"GPU0" + b"\n" * 2_000_002,
    "too many brackets": b"torchrun pretrain_gpt.py --num-layers 2 " + b"<(" * 60_000,
    "an XML bomb": b'<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]><system>&c;</system>',
    "NaN": b'{"neuron_device": NaN}',
    "a huge number": b'{"layers": ' + b"9" * 10_000 + b"}",
    "an infinite count": b"components:\n- {name: gpu, choice: xpu, count: 1e400}\n",
    "a formula": b"part,quantity\n=cmd|'/C calc'!A0,1\n",
}


def test_every_format_has_hostile_variants() -> None:
    assert set(SAMPLES) == set(NAMES)
    assert len(NAMES) == len(set(NAMES)), "a format is registered twice"


@each("name", HOSTILE)
@each("kind", ["auto", *sampled(NAMES, 8)])
def test_hostile_content_is_refused_in_one_line(kind: str, name: str) -> None:
    try:
        found = read(HOSTILE[name], kind)
    except FormatError as why:
        assert "\n" not in str(why)
        assert len(str(why)) < 300
    else:
        assert all(each.at.file == "given.txt" for each in found.given)


@given(
    strategies.text(alphabet="GPU01NVX \t\n|-:#[]{}\"'<>=,/abcdefSwitchCa", max_size=300),
    strategies.sampled_from(NAMES),
)
def test_no_text_crashes_a_reader(text: str, kind: str) -> None:
    try:
        read(text.encode(), kind)
    except FormatError as why:
        assert "\n" not in str(why)


@pytest.mark.parametrize("word", sampled(["...", ",", "1.2.3", "nan", "-1", "1e400", "."], 8))
def test_a_word_in_place_of_numbers_crashes_no_reader(word: str) -> None:
    for kind in sampled(NAMES, 2 * len(NAMES)):
        for text in (re.sub(r"\d+(?:\.\d+)?", word, SAMPLES[kind]), re.sub(r"\d+\.\d+", word, SAMPLES[kind])):
            with contextlib.suppress(FormatError):
                new_spec(result_with_known_keys(read(text.encode(), kind)))


def test_a_file_beyond_the_limit_is_refused_by_its_size() -> None:
    with pytest.raises(FormatError, match="more than 32 MiB"):
        read(b"a" * (LARGEST + 1))
    with pytest.raises(FormatError, match="more than 8 MiB"):
        read(json.dumps([{"links": [], "compounded_links": "x" * (9 << 20)}]).encode(), "netq")


LINES = 8_000


def test_the_largest_file_takes_little_space() -> None:
    line = '[1]\t"H-0{0:07d}"[1](0)\t\t# "node{0:07d} mlx5_0" lid 1 4xNDR\n'
    text = 'guid=1\nSwitch\t64 "S-1"\t\t# "leaf"\n' + "".join(line.format(n) for n in range(LINES))
    few, data = text[: text.index("node0000002")].encode(), text.encode()
    with contextlib.suppress(FormatError):  # loads readers and patterns, which take no space for each link
        import_formats.guessed_format(file := InputFile("few.txt", few)).read(file)
    tracemalloc.start()
    with contextlib.suppress(FormatError):
        import_formats.guessed_format(file := InputFile("big.txt", data)).read(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_250 * LINES  # bytes a link: 200,000 links, the most that are read, then take 250 MB of 300


@pytest.mark.parametrize("name", ["nccl_topo_xml", "rocm_smi_showtopo", "netq_json", "neuron_ls", "NVIDIA-SMI-topo"])
def test_kinds_have_aliases(name: str) -> None:
    assert import_formats.format_named(name).name in NAMES


def test_an_unknown_kind_offers_the_nearest() -> None:
    with pytest.raises(FormatError, match="did you mean ibnetdiscover"):
        import_formats.format_named("ibnetdiscovr")


def fixtures() -> list[str]:
    """Sound files of many kinds, which mutations then damage."""
    from tests.exchange import test_fabrics as fabrics
    from tests.exchange import test_huggingface as huggingface
    from tests.exchange import test_nccl_topology as topology
    from tests.exchange import test_node_listings as listings
    from tests.exchange import test_nvidia_topology as matrices
    from tests.exchange import test_workloads as work
    from tests.logs import test_benchmarks as logs

    nics = "\n".join(topology.nic(n, 400_000) for n in range(2))
    texts = [
        matrices.CASES[0][0],
        listings.neuron((4, 4)),
        listings.rocm(8, "Link Type", {True: "XGMI"}, 8),
        listings.LSPCI,
        topology.system(topology.meshed(3), nics),
        fabrics.fabric(2, 1, 3, 2),
        fabrics.IBSTAT * 2,
        fabrics.CONF,
        fabrics.TREE,
        fabrics.MPIJOB,
        fabrics.INFRAGRAPH,
        work.MEGATRON,
        work.NEOX,
        work.TORCHTITAN,
        work.RECIPE.format(name="r", tp=2),
        json.dumps(huggingface.DEEPSEEK, indent=1),
        logs.NCCL,
        logs.DEBUG + logs.NCCL,
        logs.PERFTEST,
        logs.P2P,
        logs.OLDER,
    ]
    return [textwrap.dedent(text) for text in texts]


def damaged(text: str, draw: random.Random) -> str:
    """A text cut, with characters replaced, with a stretch repeated, or with its lines in another order."""
    how = draw.randrange(4)
    if how == 0:
        return text[: draw.randrange(len(text))]
    if how == 1:
        letters = list(text)
        for _ in range(draw.choice((1, 5, 25))):
            letters[draw.randrange(len(letters))] = draw.choice("0189 \n\t\"'{}[]:,<>/=#|-ABCxyz")
        return "".join(letters)
    if how == 2:
        start = draw.randrange(len(text))
        part = text[start : start + draw.randrange(1, 200)]
        return text[:start] + part * draw.choice((2, 6)) + text[start:]
    lines = text.split("\n")
    draw.shuffle(lines)
    return "\n".join(lines)


@given(
    strategies.sampled_from(fixtures()),
    strategies.randoms(use_true_random=False),
    strategies.sampled_from(["auto", *NAMES]),
)
def test_no_damaged_file_crashes_a_reader(text: str, draw: random.Random, kind: str) -> None:
    try:
        found = read(damaged(text, draw).encode(), kind)
    except FormatError as why:
        assert "\n" not in str(why)
    else:
        new_spec(result_with_known_keys(found))


@pytest.mark.parametrize(
    "text",
    [
        "[parallelism]\ntensor_parallel_degree = 2\n" + "a." * 30_000 + "a = 1",
        "[" + "a." * 30_000 + "a]\ntensor_parallel_degree = 2",
        "[parallelism]\ntensor_parallel_degree = 2\n" + '"a" . ' * 9_000 + "a = 1",
        "[parallelism]\ntensor_parallel_degree = 2\n" + "'a'.\t" * 9_000 + "a = 1",
        "[parallelism]\ntensor_parallel_degree = 2\nx = {" + "a." * 30_000 + "a = 1}",
    ],
    ids=["key", "table", "quoted", "single quotes", "inline"],
)
def test_a_key_of_many_parts_is_refused_before_it_takes_space(text: str) -> None:
    tracemalloc.start()
    with pytest.raises(FormatError, match="more than 16 parts"):
        read(text, "torchtitan")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500 * len(text)  # tomllib takes 80,000 times the space of the text


def test_tables_of_a_job_are_refused_beyond_their_limit() -> None:
    with pytest.raises(FormatError, match="more than 256 KiB, the maximum for TOML"):
        read("[parallelism]\ntensor_parallel_degree = 2\n" * 8_000, "torchtitan")
