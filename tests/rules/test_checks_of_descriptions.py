"""Counts, prices and steps of a description compared with the keys: each word and limit with its near miss, by hand."""

from __future__ import annotations

from clusterspec import rules
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

RULE = "description-off-keys"
NODES = "cluster: {platform: hgx-h100, nodes: 20}"
SPARES = "cluster: {platform: hgx-h100, nodes: 18, spare_nodes: 2}"
RACKS = "cluster: {platform: gb200-nvl72, nodes: 36}"
PRICED = f"{NODES}\nprocurement: {{currency: USD, as_of: 2026-11-01, prices: {{node: 200000, node_hour: 16}}}}"
RANGED = PRICED.replace("node: 200000", "node: [100000, 200000]")
RUN = f"{NODES}\nworkload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024, tokens: 2T}}"
SHRINKS = f"{NODES}\noperations: {{recovery: shrink}}"
"""20 nodes of 8; two domains of 18 nodes of 4; 2T tokens of 8,388,608 a step are 238,419 steps."""


@each(
    ("text", "spec", "words"),
    [
        # words of numbers, at the start of a sentence
        ("Twenty nodes.", NODES, ""),
        ("Sixteen nodes.", NODES, "`Sixteen nodes`, but the keys say 20 nodes"),
        ("Sixteen nodes.", NODES.replace("20", "16"), ""),
        ("Twelve nodes.", NODES.replace("20", "12"), ""),
        ("Thirty-two nodes.", NODES.replace("20", "32"), ""),
        ("Sixty-four nodes.", NODES.replace("20", "64"), ""),
        ("It has sixteen nodes.", NODES, ""),
        # counts of nodes: all, with spares, of a domain, and domains
        ("It has 2 nodes.", NODES, "`2 nodes`"),
        ("It has 1 nodes.", NODES, ""),
        ("It has 18 nodes and 2 nodes.", SPARES, ""),
        ("It has 20 nodes.", SPARES, ""),
        ("It has 19 nodes.", SPARES, "the keys say 18 nodes"),
        ("It has 18 nodes.", RACKS, ""),
        ("It has 36 nodes.", RACKS, ""),
        ("It has 12 nodes.", RACKS, "`12 nodes`, but the keys say 36 nodes"),
        ("It runs on 15 nodes.", SHRINKS, ""),
        ("It runs on 21 nodes.", SHRINKS, "`21 nodes`"),
        # parts of the whole
        ("Racks of 5 nodes.", NODES, ""),
        ("Racks of 6 nodes.", NODES, "`6 nodes`"),
        ("It has 5 nodes.", NODES, "`5 nodes`"),
        ("It has 8 nodes in one hall and 12 nodes in another.", NODES, ""),
        ("It has 8 nodes in one hall and 11 nodes in another.", NODES, "`8 nodes`"),
        # of another size or a later time
        ("It grows up to 40 nodes.", NODES, ""),
        ("Pods of 40 nodes.", NODES, ""),
        ("It takes 10 of the 40 nodes.", NODES, ""),
        ("It takes all of the 40 nodes.", NODES, "`40 nodes`"),
        ("It has 10 to 40 nodes.", NODES, ""),
        ("It has 10 x 40 nodes.", NODES, ""),
        # a limit is at least the size of the machine
        ("It has at most 40 nodes.", NODES, ""),
        ("It has at most 16 nodes.", NODES, "`16 nodes`, but the keys say 20 nodes"),
        ("It has no more than 192 GPUs.", NODES, ""),
        ("Es hat höchstens 128 GPUs.", NODES, "`128 GPUs`, but the keys say 160 accelerators"),
        ("It needs 40 nodes and more.", NODES, ""),
        ("A load of 9 requests/s: 4 nodes.", NODES, ""),
        # accelerators: more than those of a node, and none of the counts of nodes
        ("It has 160 GPUs.", NODES, ""),
        ("It has 150 GPUs.", NODES, "`150 GPUs`, but the keys say 160 accelerators"),
        ("It has 8 GPUs.", NODES, ""),
        ("It has 9 GPUs.", NODES, "`9 GPUs`"),
        ("It has 20 GPUs.", NODES, ""),
        ("It has 72 GPUs.", RACKS, ""),
        ("It has 144 GPUs.", RACKS, ""),
        ("It has 143 GPUs.", RACKS, "`143 GPUs`"),
        ("It has 4 MI250X.", "cluster: {platform: mi250x-4, nodes: 2}", ""),
        ("It has 16 GPUs.", "cluster: {platform: mi250x-4, nodes: 2}", ""),
        ("It has 15 GPUs.", "cluster: {platform: mi250x-4, nodes: 2}", "the keys say 8 accelerators"),
        # numbers that end the name of a product
        ("Twenty RTX PRO 6000 servers.", NODES, ""),
        ("Sixteen RTX PRO 6000 servers.", NODES, "`Sixteen RTX PRO 6000 servers`, but the keys say 20 nodes"),
        ("It has RTX PRO 6000 GPUs.", NODES, ""),
        ("RTX 5090 nodes.", NODES, ""),
        ("Supermicro 8125 servers.", NODES, ""),
        ("We buy 8125 servers.", NODES, "`8125 servers`"),
        ("Buy 8125 servers.", NODES, "`8125 servers`"),
        ("Order. Buy 40 nodes.", NODES, "`40 nodes`"),
        # prices of 200,000 a node, 25,000 an accelerator, 16 and 2 an hour, within 3 %
        ("Offer of 25,000 USD per GPU.", PRICED, ""),
        ("Offer of 25,700 USD per GPU.", PRICED, ""),
        (
            "Offer of 25,800 USD per GPU.",
            PRICED,
            "`25,800 USD per GPU`, 206,400 for a node of 8, but `prices.node` is 200,",
        ),
        ("Offer of 24,300 USD per GPU.", PRICED, ""),
        ("Offer of 24,200 USD per GPU.", PRICED, "193,600 for a node"),
        ("Offer of 205,000 USD per node.", PRICED, "`205,000 USD per node`, but `prices.node` is 200,000"),
        ("Offer of 200,900 USD per node.", PRICED, ""),
        ("Offer of 201,100 USD per node.", PRICED, "`201,100 USD per node`"),
        ("Preis: 207.000 USD je Knoten netto.", PRICED, "`207.000 USD je Knoten`, but `prices.node` is 200,000"),
        ("Preis: 200.000 USD je Knoten netto.", PRICED, ""),
        ("Der Preis ist 16,40 USD je Knoten und Stunde.", PRICED, ""),
        ("Der Preis ist 16,50 USD je Knoten und Stunde.", PRICED, "`16,50 USD je Knoten und Stunde`"),
        ("Prix : 210 000 USD par nœud.", PRICED, "`210 000 USD par nœud`"),
        ("Licences : 2 700 USD par GPU et par an.", PRICED, ""),
        ("Licences of 2,700 USD per GPU a year.", PRICED, ""),
        ("Prix : 200 000 USD par nœud.", PRICED, ""),
        ("Offer of 207,000 USD per node.", PRICED, "`207,000 USD per node`, but `prices.node` is 200,000"),
        ("Offer of 207,000 per node, in USD.", PRICED, ""),
        ("Offer of 2 USD per GPU-hour.", PRICED, ""),
        ("Offer of 2.1 USD per GPU-hour.", PRICED, "16.8 for a node of 8, but `prices.node_hour` is 16"),
        ("Offer of 16 USD per node-hour.", PRICED, ""),
        ("O provedor cobra 2 dólares por chip e hora.", PRICED, ""),
        (
            "O provedor cobra 2,10 dólares por chip e hora.",
            PRICED,
            "16.8 for a node of 8, but `prices.node_hour` is 16",
        ),
        ("El proveedor cobra 2,10 USD por GPU y hora.", PRICED, "16.8 for a node of 8"),
        ("El nodo cuesta 16,80 USD por nodo y hora.", PRICED, "`16,80 USD por nodo y hora`"),
        ("Licencias: 2.700 USD por GPU y año.", PRICED, ""),
        ("Il fornitore chiede 2,10 USD per GPU e ora.", PRICED, "16.8 for a node of 8"),
        ("De leverancier rekent 2,10 USD per GPU per uur.", PRICED, "16.8 for a node of 8"),
        ("Offer of 100,000 USD per node.", RANGED, ""),
        ("Offer of 95,000 USD per node.", RANGED, "`prices.node` is 100,000 to 200,000"),
        ("Offer of 210,000 USD per node.", RANGED, "is 100,000 to 200,000"),
        ("Offer of 25,800 USD per GPU.", NODES, ""),
        # 238,419 steps: half as many again of a part with smaller batches, 5 % of the whole run
        ("It takes 357,000 steps.", RUN, ""),
        (
            "It takes 358,000 steps.",
            RUN,
            "`358,000 steps`, but the keys say 238,419 steps, 2T tokens at 8,388,608 a step",
        ),
        ("The 2T tokens make 23,800 steps.", RUN, "`23,800 steps`"),
        ("The 2T tokens make 238,000 steps.", RUN, ""),
        ("The first 200B tokens make 23,800 steps.", RUN, ""),
        ("It takes 358k steps.", RUN, "`358k steps`"),
        ("It takes 100,000 steps.", RUN, ""),
        ("The whole run takes 250,000 steps.", RUN, ""),
        ("The whole run takes 251,000 steps.", RUN, "`251,000 steps`"),
        ("The whole run takes 227,000 steps.", RUN, ""),
        ("The whole run takes 226,000 steps.", RUN, "`226,000 steps`"),
        ("The whole run takes 238,000 steps, with 100,000 steps of decay.", RUN, ""),
        ("It warms up over 100,000 steps. The whole run takes time.", RUN, ""),
    ],
)
def test_a_description_counts_what_the_keys_state(text: str, spec: str, words: str) -> None:
    study = study_text(f'clusterspec: 1\ndescription: "{text}"\n{spec}\n', SETTINGS)
    assert not study.loading, study.loading
    found = [problem.message for problem in rules.run_rules(study.facts(), {RULE}) if problem.rule == RULE]
    assert any(words in message for message in found) if words else found == [], found


SETTINGS_RULE = "description-off-settings"
TRAINED = """cluster:
  platform: dgx-h100
  nodes: 16
  scale_out: {technology: infiniband-ndr, topology: fat-tree, oversubscription: "3:1"}
workload: {model: llama-3.1-70b, sequence_length: 65536, global_batch: 512, tokens: 2T}
layout: {framework: megatron-core, tp: 8, pp: 2, cp: 2, sharding: fsdp}
"""
SERVED = """cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 32}}
layout: {framework: vllm, tp: 8}
"""
RATED = SERVED.replace("concurrency: 32", "request_rate: 8")
BOUGHT = """cluster: {platform: dgx-h100, nodes: 16, power: {budget: 500 kW}}
procurement:
  currency: EUR
  as_of: 2026-11-01
  warranty: 5 years
  term: 3 years
  tax: 0.19
  discount: 0.1
  pue: 1.3
  electricity: 0.2
  support: {response: 4 h}
  delivery: {weeks: 12}
"""


@each(
    ("text", "spec", "said"),
    [
        # 65,536 tokens, within 5 %
        ("64k tokens per sequence.", TRAINED, ""),
        ("60k tokens per sequence.", TRAINED, "`workload.sequence_length` is 65,536"),
        ("64 Ki tokens per sequence.", TRAINED, ""),
        ("32 Ki tokens per sequence.", TRAINED, "workload.sequence_length"),
        ("65 thousand tokens per sequence.", TRAINED, ""),
        ("Sequences of 62.5k.", TRAINED, ""),
        ("Sequences of 62k.", TRAINED, "workload.sequence_length"),
        # 512 of them are 33.6 million tokens
        ("33M tokens per step.", TRAINED, ""),
        ("36M tokens per step.", TRAINED, "the number of tokens of a step is 33"),
        ("A step has 36 million tokens.", TRAINED, "tokens of a step"),
        ("512 sequences per step.", TRAINED, ""),
        ("600 samples per step.", TRAINED, "`workload.global_batch` is 512"),
        ("Global batch of 600 sequences.", TRAINED, "workload.global_batch"),
        ("2T tokens.", TRAINED, ""),
        ("1,950 billion tokens.", TRAINED, ""),
        ("2.2 trillion tokens.", TRAINED, "`workload.tokens` is 2T"),
        ("2.2 trillion tokens in two passes.", TRAINED, ""),
        # a part of the run has fewer tokens
        ("The first 10,000 steps take 256 sequences each, 168B tokens; after that 512.", TRAINED, ""),
        ("The other 1.8T tokens follow.", TRAINED, ""),
        ("A checkpoint every 1,000 steps, 33.6B tokens.", TRAINED, ""),
        ("The run takes 1.8T tokens.", TRAINED, "workload.tokens"),
        ("The whole run takes 53,644 steps, 1.8T tokens.", TRAINED, "workload.tokens"),
        ("2.2T tokens, the first with a warm-up.", TRAINED, "workload.tokens"),
        # 70.6 billion parameters, within 30 %, which names round
        ("A model of 90B.", TRAINED, ""),
        ("A model of 95B.", TRAINED, "workload.model"),
        ("A model of 50B.", TRAINED, ""),
        ("A model of 49B.", TRAINED, "workload.model"),
        ("TP 8, PP 2 and CP 2.", TRAINED, ""),
        ("TP 4.", TRAINED, "`layout.tp` is 8"),
        ("Tensor parallelism 4.", TRAINED, "layout.tp"),
        ("PP 4.", TRAINED, "layout.pp"),
        ("CP 4.", TRAINED, "layout.cp"),
        ("EP 3.", TRAINED, "`layout.ep` is 1"),
        # a load
        ("31 concurrent users.", SERVED, ""),
        ("30 concurrent users.", SERVED, "`workload.serving.concurrency` is 32"),
        ("40 in flight.", SERVED, "workload.serving.concurrency"),
        ("40 in flight before.", SERVED, ""),
        ("40 in flight last year.", SERVED, ""),
        ("40 or 30 concurrent users, 50 in flight.", SERVED, ""),
        ("8 requests per second.", RATED, ""),
        ("9 requests/s.", RATED, "`workload.serving.request_rate` is 8"),
        ("One node held 2 requests/s; four carry the peak.", RATED, ""),
        ("Each decode engine serves 2 requests/s.", RATED, ""),
        ("2 requests/s per GPU.", RATED, ""),
        ("The load is 2 requests/s.", RATED, "workload.serving.request_rate"),
        ("Four nodes serve 2 requests/s.", RATED, "workload.serving.request_rate"),
        ("One node for 2 requests/s.", RATED, "workload.serving.request_rate"),
        ("4k in, 500 out.", SERVED, ""),
        ("5k in, 500 out.", SERVED, "workload.serving.input_tokens"),
        ("4k in, 600 out.", SERVED, "workload.serving.output_tokens"),
        # a purchase
        ("It has five years warranty.", BOUGHT, ""),
        ("It has four years warranty.", BOUGHT, "procurement.warranty"),
        ("Warranty for 4 years.", BOUGHT, "procurement.warranty"),
        ("A 4-year lease.", BOUGHT, "procurement.term"),
        ("A 3-year lease.", BOUGHT, ""),
        ("A 4-year lease would cost less, but bind us.", BOUGHT, ""),
        ("With a 4-year lease, the price would be 5.10.", BOUGHT, ""),
        ("A 4-year lease wäre billiger.", BOUGHT, ""),
        ("A 4-year lease, as a shorter one would cost more.", BOUGHT, "procurement.term"),
        ("Delivery in 12 weeks.", BOUGHT, ""),
        ("Delivery in 14 weeks.", BOUGHT, "`procurement.delivery.weeks` is 12"),
        ("With 19 % VAT.", BOUGHT, ""),
        ("With 25 % VAT.", BOUGHT, "procurement.tax"),
        ("With 10 % discount.", BOUGHT, ""),
        ("A discount of 12 %.", BOUGHT, "procurement.discount"),
        ("A PUE of 1.31.", BOUGHT, ""),
        ("A PUE of 1.32.", BOUGHT, "`procurement.pue` is 1.3"),
        ("Power at 0.202 EUR/kWh.", BOUGHT, ""),
        ("Power at 0.203 EUR/kWh.", BOUGHT, "procurement.electricity"),
        ("Support responds within 4 h.", BOUGHT, ""),
        ("Support responds within 8 hours.", BOUGHT, "procurement.support.response"),
        ("Support comes after 2 days.", BOUGHT, "procurement.support.response"),
        ("An IT budget of 500 kW.", BOUGHT, ""),
        ("An IT limit of 0.5 MW.", BOUGHT, ""),
        ("0.6 MW IT.", BOUGHT, ""),
        ("An IT budget of 0.6 MW.", BOUGHT, "cluster.power.budget"),
        # a fabric of 3:1, within 5 %
        ("Oversubscription of 3.1:1.", TRAINED, ""),
        ("Oversubscription of 3.2:1.", TRAINED, "`cluster.scale_out.oversubscription` is 3:1"),
        ("Oversubscription of 6:2.", TRAINED, ""),
        ("A non-blocking fabric.", TRAINED, "the description says `non-blocking`"),
        ("Non-blocking within a leaf.", TRAINED, ""),
        ("Oversubscription of 4:1 or 2:1.", TRAINED, ""),
        # names
        ("It runs on H100.", TRAINED, ""),
        ("It runs on A100.", TRAINED, "`cluster.accelerator` is h100"),
        ("It runs on A100 and on H100.", TRAINED, ""),
        ("It uses the A100 recipe.", TRAINED, ""),
        ("It has InfiniBand.", TRAINED, ""),
        ("It has RoCE.", TRAINED, "`cluster.scale_out.technology` is infiniband-ndr"),
        ("RoCE would have cost less.", TRAINED, ""),
        (
            "The desk gets Qwen3-32B. Last year's bot, Mixtral 8x7B, is switched off.",
            SERVED,
            "`Qwen3-32B`, but `workload.model`",
        ),
        ("The desk gets Llama 3.1 70B, with Llama 3.2 1B as draft.", SERVED, ""),
        ("The desk gets Llama 3.3 70B.", SERVED, ""),
        ("Compared with Qwen3-32B it writes better.", SERVED, ""),
        ("The stack is SGLang.", SERVED, "`SGLang`, but `layout.framework` is vllm"),
        ("The stack was moved from SGLang.", SERVED, ""),
        ("The stack is vLLM; SGLang is for a later day.", SERVED, ""),
        ("Trained with MaxText.", TRAINED, "`MaxText`"),
        ("Trained with Megatron-Core.", TRAINED, ""),
        ("With ZeRO-3.", TRAINED, ""),
        ("With FSDP2.", TRAINED, ""),
        ("With ZeRO-1.", TRAINED, "`layout.sharding` is fsdp"),
        ("With HSDP.", TRAINED, "layout.sharding"),
        ("Training in BF16.", TRAINED, ""),
        ("Training in FP8.", TRAINED, "`workload.precision` is bf16"),
    ],
)
def test_a_description_has_the_settings_of_the_keys(text: str, spec: str, said: str) -> None:
    study = study_text(f'clusterspec: 1\ndescription: "{text}"\n{spec}', SETTINGS)
    assert not study.loading, study.loading
    found = [each.message for each in rules.run_rules(study.facts(), {SETTINGS_RULE}) if each.rule == SETTINGS_RULE]
    assert (len(found) == 1 and said in found[0]) if said else found == [], found


@each(
    ("text", "words"),
    [
        ("The 2023 cluster had 12 nodes with the same layout. Ours has 20 nodes.", ""),
        ("Our cluster has 12 nodes with the same layout.", "`12 nodes`"),
        ("The old pod (12 nodes) goes back to the lessor.", ""),
        ("A second order is under discussion for 2028, which would bring us to 400 GPUs.", ""),
        ("The order brings us to 400 GPUs.", "`400 GPUs`"),
        ("Three nodes would be 30 kW in a rack, too much.", ""),
        ("A whole pod would be 9,216 chips.", ""),
        ("A whole pod is 9,216 chips.", "`9,216 chips`"),
        ("A pod has at most 9,216 chips.", ""),
        ("The licence covers at most 48 chips.", "`48 chips`"),
        ("Offer B, with 12 nodes, was declined.", ""),
        ("The offer has 12 nodes.", "`12 nodes`"),
        ("The team in Dublin uses two instances, 32 GPUs, on its own account.", ""),
        ("Should the load double, we add engines; 40 nodes then have 320 GPUs.", ""),
        ("The 40 nodes have 320 GPUs.", "`40 nodes`"),
        ("Refresh of the 2021 HGX H100 hall.", ""),
        ("A hall of 21 HGX H100.", "`21 HGX H100`"),
    ],
)
def test_counts_of_another_machine_and_of_a_hypothesis_are_not_compared(text: str, words: str) -> None:
    study = study_text(f"clusterspec: 1\ndescription: {text!r}\n{NODES}\n", SETTINGS)
    found = [problem.message for problem in rules.run_rules(study.facts(), {RULE}) if problem.rule == RULE]
    assert [words in message for message in found] == ([True] if words else [])
