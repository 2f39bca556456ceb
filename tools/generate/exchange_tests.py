"""The part of docs/exchange.md about the files with which the readers are tested."""

from __future__ import annotations

from tools.real_files import listed

TEXT = """### How the readers are tested

`tests/exchange/real.csv` lists {files} readings of real files of {repositories} public repositories by address, commit
and the facts expected; `make real-files` fetches and compares them. Before each of these sets, the facts of files that
no reader had seen were written down before the first reading, and what failed was corrected by kind:

| set | readings | right or refused rightly | a fact lacking | refused wrongly | contradicted |
| --- | --- | --- | --- | --- | --- |
| first, logs and listings above all | 52 | 35 | 5 | 2 | 10 |
| second, of other repositories, launches and configurations above all | 49 | 42 | 3 | 1 | 3 |
| third, of other repositories, all kinds | 50 | 32 | 0 | 7 | 11 |
| fourth, of other repositories, after the corrections of the third | 38 | 35 | 0 | 3 | 0 |
| fifth, of other repositories, every file of a kind being as likely | 39 | 35 | 0 | 0 | 4 |
| sixth, chosen likewise, after the corrections of the fifth | 24 | 21 | 1 | 1 | 1 |
| seventh, of other repositories, objects of Kubernetes and values of Helm above all | 42 | 29 | 3 | 10 | 0 |
| eighth, of other repositories drawn at random, after the corrections of the seventh | 20 | 18 | 0 | 2 | 0 |
| ninth, drawn at random by kind from 30 repositories that were never used | 93 | 75 | 0 | 5 | 13 |
| tenth, of 12 others, after the corrections of the ninth | 45 | 40 | 0 | 3 | 2 |
| eleventh, of 31 repositories that were never used, small groups and clouds above all | 45 | 37 | 2 | 4 | 2 |
| twelfth, of 21 others, after the corrections of the eleventh | 32 | 29 | 0 | 0 | 3 |
| thirteenth, of 32 others; 44 of its files state a layout or a machine | 54 | 41 | 6 | 4 | 3 |
| fourteenth, of 13 others, after the corrections of the thirteenth; 29 of its files state one | 31 | 27 | 0 | 2 | 2 |
| fifteenth, other files of the repositories of the thirteenth | 18 | 8 | 5 | 1 | 4 |
| sixteenth, of 22 repositories that were never used | 35 | 19 | 7 | 7 | 2 |
| seventeenth, of 36 repositories that were never used | 51 | 33 | 12 | 2 | 4 |
| eighteenth, of 16 repositories, 8 of them never used, after the corrections of the seventeenth | 24 | 22 | 2 | 0 | 0 |
| nineteenth, of 54 repositories that were never used | 66 | 54 | 6 | 4 | 2 |
| twentieth, of 29 others, after the corrections of the nineteenth | 39 | 34 | 1 | 4 | 0 |
| twenty-first, of 20 others by lot, after those corrections; 15 of its files state none | 20 | 18 | 0 | 2 | 0 |
| twenty-second, of 31 repositories that were never used, by lot; 30 of its files state none | 58 | 50 | 2 | 0 | 6 |
| twenty-third, of 15 others by lot, after those corrections; 17 of its files state none | 24 | 22 | 2 | 0 | 0 |
| twenty-fourth, 40 of 55 files by lot, of 12 repositories, most used before; 18 state none | 40 | 24 | 5 | 8 | 3 |
| twenty-fifth, training files of 25 repositories, 24 of them never used, by lot; 14 state none | 44 | 30 | 2 | 11 | 1 |
| twenty-sixth, of 21 others, and 4 files of two of those, after the corrections; 20 state none | 42 | 41 | 0 | 1 | 0 |
| twenty-seventh, of 17 repositories, 15 of them never used, after those; 15 state none | 33 | 28 | 0 | 3 | 2 |
| twenty-eighth, of 19 others, after the corrections of the twenty-seventh; 11 state none | 34 | 29 | 3 | 0 | 2 |
| twenty-ninth, of 7 others, after the corrections of the twenty-eighth; 7 state none | 14 | 13 | 1 | 0 | 0 |
| thirtieth, files of machines and launches of 21 repositories, 10 of them never used | 26 | 22 | 1 | 2 | 1 |
| thirty-first, of 26 repositories that were never used, of unlike kinds; 5 state none | 40 | 23 | 7 | 9 | 1 |
| thirty-second, of 13 repositories, 6 of them never used, after those; 9 state none | 25 | 21 | 3 | 1 | 0 |
| thirty-third, by lot from 25 repositories, most never used; 18 state none | 40 | 31 | 1 | 7 | 1 |
| thirty-fourth, of 19 others by lot, after the corrections of the thirty-third; 14 state none | 29 | 26 | 0 | 1 | 2 |
| thirty-fifth, of 8 others by lot, after those of the thirty-fourth; 12 state none | 21 | 14 | 2 | 0 | 5 |
| thirty-sixth, of 13 by lot, one of them used, after those of the thirty-fifth; 13 state none | 24 | 21 | 0 | 2 | 1 |
| thirty-seventh, of 10 that were never used, after those of the thirty-sixth; 18 state none | 29 | 28 | 1 | 0 | 0 |
| thirty-eighth, of 28 repositories, 19 of them never used; logs and listings above all | 41 | 32 | 3 | 3 | 3 |
| thirty-ninth, of 16 repositories, 2 of them of the thirty-eighth, after those; 8 state none | 27 | 18 | 6 | 1 | 2 |
| fortieth, one by lot of each of 20 groups of files, most of those repositories; 14 state none | 20 | 19 | 0 | 1 | 0 |
| forty-first, of 24 repositories by lot, 14 of them never used; 25 state none | 62 | 57 | 3 | 1 | 1 |
| forty-second, of 26 others by lot, 24 of them never used, after those; 22 state none | 48 | 45 | 2 | 0 | 1 |
| forty-third, of 9 others, one chosen for its logs of one machine; 17 state none | 40 | 36 | 0 | 0 | 4 |
| forty-fourth, of 11 others by lot, after those; 16 state none | 25 | 22 | 0 | 1 | 2 |
| forty-fifth, by lot of 26 repositories that were never used; 15 state none | 40 | 34 | 2 | 2 | 2 |
| forty-sixth, others of 21 of those by lot, after the corrections; 15 state none | 26 | 23 | 1 | 0 | 2 |
| forty-seventh, of the first repositories with 20 file names and 9 topics; 14 state none | 40 | 31 | 3 | 4 | 2 |
| forty-eighth, by lot of 30 others of those names and topics, after those; 20 state none | 40 | 38 | 0 | 0 | 2 |
| forty-ninth, by lot of other files of 20 of both sets' repositories; 18 state none | 36 | 34 | 2 | 0 | 0 |
| fiftieth, by lot of 21 that were never used, with pages and programs; 22 state none | 40 | 35 | 2 | 0 | 3 |
| fifty-first, after those, of 15 repositories, 9 of them others, without pages; 6 state none | 22 | 18 | 1 | 1 | 2 |
| fifty-second, launches, configurations and manifests alone, by lot of mirrored repositories | 44 | 29 | 9 | 0 | 6 |
| fifty-third, others of those repositories, after the corrections | 23 | 13 | 7 | 0 | 3 |
| fifty-fourth, others of those repositories, after those | 23 | 17 | 4 | 0 | 2 |
| fifty-fifth, of 8 repositories fetched for it, after those | 24 | 18 | 3 | 0 | 3 |
| fifty-sixth, others of all of those, after those | 21 | 15 | 4 | 0 | 2 |
| fifty-seventh, by lot of 230 mirrored repositories, 20 kinds | 40 | 31 | 0 | 5 | 4 |
| fifty-eighth, others by lot of those, after the corrections | 40 | 26 | 3 | 3 | 8 |
| fifty-ninth, others by lot of those, after those | 40 | 34 | 1 | 2 | 3 |
| sixtieth, of 24 repositories, most of them fetched for it, and 9 others, after those | 40 | 35 | 0 | 2 | 3 |
| sixty-first, of 35 mirrored repositories by lot, after those | 40 | 34 | 2 | 1 | 3 |
| sixty-second, of 20 of those by lot, after the corrections | 20 | 18 | 0 | 0 | 2 |
| sixty-third, by lot of all mirrored repositories and of others fetched for it; 30 state none | 44 | 41 | 1 | 1 | 1 |
| sixty-fourth, one file of each of 40 repositories, of those that state facts, after those | 40 | 36 | 1 | 1 | 2 |
| sixty-fifth, one file of each of 40 repositories, after those | 40 | 35 | 4 | 0 | 1 |
| sixty-sixth, likewise, after the corrections of the sixty-fifth | 40 | 38 | 2 | 0 | 0 |
| sixty-seventh, likewise, with more logs and machines, after those | 40 | 36 | 3 | 0 | 1 |
| sixty-eighth, likewise, after those | 40 | 38 | 0 | 0 | 2 |
| sixty-ninth, of 14 other repositories, fetched for it, after those | 27 | 25 | 1 | 1 | 0 |
| seventieth, of 8 other repositories, fetched for it, after those | 23 | 22 | 0 | 0 | 1 |
| seventy-first, of 8 more, fetched for it, after those | 15 | 15 | 0 | 0 | 0 |
| seventy-second, topologies and machines by lot of all, after those; 11 state none | 16 | 15 | 0 | 0 | 1 |
| seventy-third, one file of each of 28 repositories, most fetched for it | 28 | 20 | 0 | 4 | 4 |
| seventy-fourth, likewise, after the corrections of the seventy-third | 26 | 24 | 0 | 2 | 0 |
| seventy-fifth, likewise, after those | 26 | 21 | 0 | 2 | 3 |
| seventy-sixth, likewise, after those | 25 | 22 | 0 | 1 | 2 |
| seventy-seventh, by lot of 9 repositories that were never used; 10 state none | 26 | 22 | 0 | 4 | 0 |
| seventy-eighth, of 7 others by lot, 6 of them never used, before any correction; 15 state none | 25 | 20 | 0 | 4 | 1 |
| seventy-ninth, of 15 by lot, with those of both, after the corrections; 12 state none | 26 | 23 | 1 | 1 | 1 |
| eightieth, of 15 by lot, 13 of them others, after those; 11 state none | 26 | 22 | 3 | 1 | 0 |
| eighty-first, of 12 others by lot, 10 of them never used, after those; 9 state none | 26 | 22 | 1 | 1 | 2 |
| eighty-second, topologies, tables and nodes of 8 others by lot, after those; 9 state none | 15 | 15 | 0 | 0 | 0 |
| eighty-third, one file each of 26 by lot, 22 never used, before any correction; 16 state none | 26 | 21 | 2 | 3 | 0 |
| eighty-fourth, likewise of 24, 14 of them never used, after those; 12 state none | 24 | 20 | 1 | 1 | 2 |
| eighty-fifth, likewise of 25, all never used, after those; 13 state none | 25 | 23 | 2 | 0 | 0 |
| eighty-sixth, likewise of 19 with more objects of Kubernetes, after those; 13 state none | 22 | 20 | 0 | 2 | 0 |
| eighty-seventh, likewise of 24, all never used, after those; 18 state none | 24 | 21 | 2 | 1 | 0 |
| eighty-eighth, of 12 others by lot, 10 of them never used, after those; 9 state none | 16 | 15 | 0 | 1 | 0 |
| eighty-ninth, of 24 repositories that were never used, by lot; 14 state none | 25 | 22 | 1 | 1 | 1 |
| ninetieth, of 16 by lot, 13 of them never used, after those; 13 state none | 21 | 20 | 0 | 0 | 1 |
| ninety-first, of 23 repositories that were never used, by lot of kinds; 23 may state none | 30 | 26 | 0 | 2 | 2 |
| ninety-second, of 22, most of them others, before any correction; 14 may state none | 30 | 25 | 1 | 0 | 4 |
| ninety-third, other files of 20 of those by lot, after the corrections; 12 may state none | 30 | 30 | 0 | 0 | 0 |
| ninety-fourth, launches of four repositories never used, after these; 6 may state none | 8 | 7 | 0 | 1 | 0 |
| ninety-fifth, of 22 repositories that were never used, by lot, one or two each; 20 state none | 34 | 31 | 1 | 2 | 0 |
| ninety-sixth, short launches of 15 repositories, 13 of them never used, as searches gave them | 15 | 9 | 3 | 3 | 0 |
| ninety-seventh, launches and manifests of 14 repositories, 7 of them never used | 15 | 15 | 0 | 0 | 0 |
| ninety-eighth, of 8 others, 2 of them never used, after their messages were made fuller | 8 | 6 | 1 | 1 | 0 |
| ninety-ninth, by lot of other files of 22 repositories, 9 of them never used; 22 state none | 33 | 33 | 0 | 0 | 0 |
| hundredth, by lot of 19 that hold a path asked for, 12 never used; 10 state none | 31 | 28 | 0 | 1 | 2 |
| hundred and first, other files of 20 repositories, 3 of them never used, Kubernetes above all | 30 | 22 | 3 | 3 | 2 |
| hundred and second, other files of 10 of those repositories, after the corrections | 15 | 13 | 0 | 0 | 2 |
| hundred and first, other files of nine of those, after the corrections; 4 state none | 12 | 11 | 0 | 1 | 0 |
| hundred and second, of 10 repositories that were never used; 3 state none | 22 | 18 | 0 | 0 | 4 |
| hundred and third, of six others never used, in the order of their files; 4 state none | 13 | 11 | 0 | 2 | 0 |
| hundred and fourth, by lot of 38 repositories, 33 of them never used; 17 may state none | 40 | 32 | 5 | 0 | 3 |
| hundred and fifth, of 23 others by lot, 11 of them never used, after those; 5 may state none | 23 | 19 | 1 | 1 | 2 |
| hundred and sixth, of 26 others by lot, 15 of them never used, after those; 11 may state none | 26 | 25 | 0 | 0 | 1 |
| hundred and seventh, 22 by lot, 2 never used: logs, topologies, manifests; 12 may state none | 22 | 15 | 1 | 2 | 4 |
| hundred and eighth, of 40 owners by lot, 31 of them never used; 22 may state none | 40 | 30 | 3 | 1 | 6 |
| hundred and ninth, of 30 others by lot, 24 never used, after those; 12 may state none | 30 | 28 | 0 | 1 | 1 |
| hundred and tenth, of 30 others by lot, after those; 14 may state none | 30 | 28 | 1 | 0 | 1 |
| hundred and eleventh, of 29 others by lot, 13 never used; 21 may state none | 29 | 21 | 4 | 0 | 4 |
| hundred and twelfth, of 23 repositories never used, and four excerpts; 8 may state none | 32 | 28 | 0 | 0 | 4 |
| hundred and thirteenth, of 23 others, 22 never used, after those; 10 may state none | 26 | 24 | 0 | 0 | 2 |
| hundred and fourteenth, of 14 others never used, after those; 10 may state none | 24 | 22 | 0 | 0 | 2 |
| hundred and fifteenth, of 18 others never used, after those; 12 state none | 24 | 23 | 0 | 0 | 1 |
| hundred and sixteenth, small scripts of five others never used, after those; 3 may state none | 6 | 3 | 0 | 1 | 2 |
| hundred and seventeenth, of 24 others never used, after those; 3 state none | 24 | 18 | 3 | 1 | 2 |
| hundred and eighteenth, of 16 others never used; 3 state none | 16 | 14 | 0 | 2 | 0 |
| hundred and nineteenth, of 16 others never used; 9 state none | 16 | 15 | 1 | 0 | 0 |
| hundred and twentieth, of 16 others never used, after those; 4 state none | 16 | 14 | 1 | 1 | 0 |
| hundred and twenty-first, of 16 others never used, after those; 10 state none | 16 | 16 | 0 | 0 | 0 |
| hundred and twenty-second, of 24 others never used; 10 state none | 24 | 20 | 1 | 2 | 1 |
| hundred and twenty-third, of 20 others never used, after those; 5 state none | 20 | 16 | 2 | 1 | 1 |
| hundred and twenty-fourth, of 21 others never used, after those; 6 state none | 21 | 16 | 4 | 1 | 0 |
| hundred and twenty-fifth, other files of 29 repositories, 18 of them never used; 8 state none | 42 | 37 | 3 | 0 | 2 |
| hundred and twenty-sixth, of 18 others, 17 never used, after those; 10 state none | 28 | 24 | 1 | 1 | 2 |
| hundred and twenty-seventh, of 17 others, 8 never used, after those; 8 state none | 29 | 24 | 1 | 2 | 2 |

Of the eight that failed in the hundred and eleventh set, six expectations were wrong: two collectives in one log stay
two measurements, a figure was rounded to six digits, and a launch of vLLM without an option for it states no degree.

The five sets after it are of repositories that no set had used, except one (the excerpts of the hundred and twelfth
have no address and are not in the list). What they contradicted: the chunk of a server's log, a launch of MaxText whose
container lists it as words, and one beside a matrix in a report were lost; tasks that each start four ranks were taken
for the ranks; an embedder was read as a trainer of language models; a job of Slurm was said to be a pod; a count of
accelerators that a variable decides was taken as one; hosts that a job lists were lost; of two limits of a run, the
later one was stated; and the layers of stages that a variable of vLLM states were lost, twice.

In the hundred and seventeenth set, the network of a model was said to have no gate, though an option of a fork of
Megatron-LM (`--t5-swiglu`) states one, and a chart's count of accelerators was lost. The four sets after it contradict
nothing. They refused a chart, a server whose program a variable names and a configuration of a training adapter.

From the fifty-second set on, a fact lacking is one that a line of the result names, and a fact lost without a line
counts as contradicted.

Of the ten contradicted in the first set, four expectations were themselves wrong, as the files show on second sight.
The other six: one file of several tools was read as one of them (twice), rows of several runs were joined, a sum over
pairs of ranks was taken for one pair, a collective of one rank was a measurement, and a setting that is off was taken
as on.

In the second set, one contradiction was real: the medians of a step log were over two runs. (One expectation named
ZeRO 3 otherwise than the spec does; one took matrices between host and accelerators for further measurements, which
the reader passed over without a word and now names.) Behind answers that agreed, the output read in full showed two
more faults: launches in the code blocks of Markdown pages were missed, so that two lists of choices were not
complete, and Megatron's recomputation of some layers of a stage was taken as that of all. A launch quoted inside a
wrapper (`bash -c "…"`) and cards of which `lspci` says `VGA` were not recognized. Four of the 49 are excerpts of
stored texts without an address, so they are not in the list.

Of the eleven contradicted in the third set, three expectations were themselves wrong. The others: a launch in a comment
was taken as one (twice), TensorRT-LLM's share of the memory that weights leave as a share of the whole (twice), two
tables that contradict each other and two runs of one step number were joined, the nodes of a later table were counted
to an earlier one, and Megatron-DeepSpeed was called Megatron-LM. Refused were objects of LeaderWorkerSet, sizes of a
model in an array, a quoted launch of MaxText, and `"$A $B"`, of which the second variable was lost. In the fourth set,
options of Megatron with underscores were not recognized; the output read in full showed a default for a degree that an
unknown variable gives.

In the fifth set, the precision of a model that MaxText quantizes was that of its activations, experts in every fourth
layer were counted in all, a page with the matrices of two vendors was read as one of them, and a launch inside a
template was read without a word of what rendering adds. In the sixth, launches without options and those of a second
engine were missing among the choices (contradicted: one launch of nine was taken as the only one), a placeholder
(`NAME=<path>`) hid the command below it, and older flags of recomputation were not known. Not counted: a product that
differs in memory or form from its sibling (GH200, A100 with 64 GB, A800 with 40 GB) was taken for it, as 520
system descriptions of MLPerf showed.

In the seventh set, no reader knew KServe's LLMInferenceService, RayService, LLaMA-Factory, configurations of MLPerf and
partitions of Slurm, and commands of Kubernetes objects as lists of words were missed. Lacking were batch and length of
LLaMA-Factory (read as Megatron's) and the sharding of a DeepSpeed configuration without ZeRO. The output read in full
showed more: strategies of FSDP other than full sharding, and parameters in host memory, were lost for Axolotl, and an
option of a script hid the default of its variable. Two of the 42 are excerpts without an address. In the eighth, models
of KubeAI were refused, and options that a launch shortens (`--mem-frac`) were listed, not read.

The files of the ninth and tenth sets were read first and judged by hand afterwards, each output against its file. Of
the 13 of the ninth, four were topologies, columns of a comparison, or towers of several models that one file keeps
apart and that were joined; in four, what a launch leaves out (`...`, a recipe of NeMo, `mlp_ratio`, one node of
`scontrol show node`) was taken for a default; two called NeMo Megatron-LM; the others took the degrees of an engine
for those of the trainer (verl) and a tier of a firewall for a machine, and lost the options of a command in a list of
dstack. One is not corrected: a test of NeMo whose command names no program of it. Refused were placeholders with a
blank, values of a chart, and `slurm.conf` without a reason. In the tenth, a text encoder for images was read as
a language model, and an MPIJob in a template as nothing. The importer
still refuses options that a chart passes in a list of environment variables.

Of the 37 right in the eleventh, 15 were refused since no reader knew their kind. Two wrong ones said nothing of it: the
key-value heads of Megatron-DeepSpeed and the adapters of a newer verl were lost, so that a larger model was trained.
Refused were a log with a hole, launches of torchtitan and of scripts with the options of the Hugging Face Trainer, and
a launch that its wrapper made two. In the twelfth, one expert of Megatron-DeepSpeed was not a dense layer, different
numbers of experts in the layers were the first of them, and linear attention was a model without heads.

In the thirteenth, arrays within a text of a shell lost the blanks between their words (three refused), a command that a
script prints was a second launch, a server that a training run asks was taken for all of the file, and configurations
of NeuronX Distributed Training were NeMo's, without their sharding. Lacking were options that all of one branch states,
defaults of a loop over arguments, and adapters of LLaMA-Factory that a script launches. In the fourteenth, keys of a
backend of NeMo RL that is off were read, one head of keys and values was many, and a configuration of the Trainer in
JSON was refused; behind answers that agreed, an encoder and a server of text were launches like others. In the
fifteenth, three of the four wrong were expectations (names of the sharding, a kind taken for unreadable), and the
fourth was read with its warning; lacking were the samples of reinforcement learning in launches of slime and miles.

Of the two wrong in the sixteenth, one expectation was wrong, and the other was found behind answers that agreed: the
gated network of `--quick-geglu` was read without its gate, so a smaller model was trained. Refused were a launch of
torchtitan that names a function, a placeholder after `cd`, and launches of OpenRLHF and of supervised training in verl;
two that train with a reference or rewards are refused on purpose. Lacking were ranks that ms-swift takes from variables
of its command, and recomputation in verl. Three of the seven lacking were expectations that the file itself leaves
open.

Of the four wrong in the seventeenth, two expectations were wrong; the others: keys of FSDP without a value, and a
shortened list of ranks. Behind answers that agreed, linear attention was read as softmax attention, and adapters of
scripts in the form of DeepSpeed-Chat as training of all parameters. Six of the twelve lacking were named as unknown.
Lost were options after a placeholder with blanks, options of Megatron's first releases, virtual stages of verl, and
expert parallelism of SGLang; files of options of vLLM were refused. In the eighteenth, a switch of adapters and the
samples of a fork of verl were lacking; behind answers that agreed, a server of MaxText was read as training, and
launches of OpenRLHF with its present, dotted names of options were refused.

Both contradictions in the nineteenth were found behind answers that agreed: a quantized checkpoint (`-FP8`, `-AWQ`) was
taken for its model in bf16. Refused were images that start the server themselves, entry points of Compose and of
`docker run`, and a script after a pipeline in backquotes. Lacking were variables of containers and of SkyPilot, labels
of nodes, the switch of float8 in older torchtitan, and a word on options after a line end without a backslash. In the
twentieth, merge keys (`<<`) of YAML were dropped, in every format; refused were commands as texts under other keys, and
supervised training of OpenRLHF. In the twenty-first, the load of a benchmark was taken for a second launch, and a
script that asks for Neuron devices for a listing of them.

Of the six wrong in the twenty-second, four are files that should be refused (a template, a placeholder, two scripts
that pass their options to another one) and of which little, but nothing false was stated; two, found behind answers
that agreed, are encoders that `tasks/main.py` trains. Lacking were references of OmegaConf in configurations of verl,
and overrides of a command that is as a whole in a branch. That one led to a worse fault, of no file of the set: options
of a branch inside another branch were stated as if they were certain. In the twenty-third, launches of SkyRL were read
as those of Megatron, without a word of their other roles; they are refused now, as those of RLinf.

In the twenty-fifth, the length of Axolotl's sequences was stated where it is a limit alone. Behind answers that agreed,
a critic and a model of rewards of verl were lost, options of one of two starts of a launch were stated as if they were
certain, and a program of inference was read as training. No reader knew torchtune, LitGPT, NeuronX Distributed, GRPO of
TRL, lines of `accelerate launch` without options of the Trainer, and options with dots before them. In the
twenty-sixth, a configuration of supervised training with verl was refused.

Of the two wrong in the twenty-seventh, one ended in an internal error (`#SBATCH --gpus`, which the corrections had
brought), and a list of CLIP models was taken for Axolotl. Refused were Nanotron and LLM Foundry. Behind answers that
agreed, the first value of a key that a file gives twice was taken, not the last. In the twenty-eighth, training with
preferences that only its option `beta` shows was read as supervised, and AdaLoRA as LoRA; lacking were adapters that
only the name of the program turns on, which the output named. In the twenty-ninth, a shortened option of `torchrun` was
lacking.

In the thirtieth, the contradiction (ZeRO 3 by another name) and the missing fact (micro batches that verl fills by
default) were expectations, which the list has corrected. Refused were a RayService, and a service of Compose whose own
image starts vLLM with options alone. Behind answers that agreed, four files said less than they state without a word
of it: the resources in runtimes of KServe and OME, what `#SBATCH` asks for around a DeepSpeed configuration, options of
an engine whose values are variables, and adapters (`peft.dim`) of a Megatron Bridge configuration, which were listed
among the keys not imported while the rest was read as training of all parameters.

In the thirty-first, files of Terraform, values of charts, device types of Nautobot, a HyperPodPyTorchJob and a network
of a simulator were refused. The contradiction was a number of steps that a
variable of the scheduler changes. Lacking were options that move states to host memory, which stood among the keys not
imported, and, without a word, the pods of a RayClusterFleet and what `#SBATCH` requests in addition to a launch. In the
thirty-second, one file lost nodes and precision without a word: several options on a line of `#SBATCH`, and options
after placeholders of several words. A configuration of a HyperPod cluster was refused.

In the thirty-third, networks of ASTRA-sim, a graph of Dynamo, a launch of `dynamo.sglang`, a configuration of Calculon
and values of Terraform variables had no reader, and a container that only opens a shell was a launch in addition to the
one of a page. The contradicted file had no warning about it: a sharded optimizer of Megatron that a variable turns on
was taken as
off. In the thirty-fourth, a slice of an accelerator was one of the job, dots in place of a time ended in an
internal error, and a configuration of a program of its own was read by the names of the Trainer. In the thirty-fifth,
the dies of MI250 were accelerators (twice), the second collective of a log had no name, and three files that should be
refused were read, without a false statement; these three and the one of the Trainer's names are left as they are. In
the thirty-sixth, values of KubeRay's chart and a page with the manifest of a server were refused, and one value had the
line of another key. In the thirty-seventh, a node of a recipe that runs no engine was passed over without a word, and
the script that another one sources, whose variables replace its defaults.

Of the three wrong of the thirty-eighth, two joined tests of different links (once without a word), and one took a table
without its ranks. Lacking, and not listed, were the nodes of a job (twice), the steps of an accumulation that a
variable gives, and a launch of MaxText in an object. In the thirty-ninth, linear attention was imported as attention,
and an image of an engine was a launch in a list of choices. Lacking were the arguments that a log of Megatron prints
(twice), the size of a group that its pods have as a variable, accelerators that pods claim, sizes that a checkpoint
replaces, and a trainer together with a server.

The contradiction in the forty-first was an expectation: the degree that an engine takes by default. Lacking were
the hosts that DeepSpeed's launcher includes, and algorithms that two files leave open. Behind answers that agreed, the
parameters of a model with an undecided number of experts were counted, and a recipe of Megatron-Bridge stated defaults
of Megatron-LM. In the forty-second, a conversion of checkpoints was read as training. Behind answers that agreed, a
launch that a script only prints was read as one, experts per token were stated of a model without experts, and another
program's options had the defaults of Megatron-LM. Two lots of files that no reader was made for: blueprints of Google
Cluster Toolkit and XML of hwloc, which are read since then.

The four of the forty-third were wrong without a word: a matrix of PCIe paths alone said that no NVLink exists, an
interface that an NCCL topology lists below each CPU counted twice, the configuration of an encoder without a type was a
decoder, and rows of one table of nccl-tests had bus bandwidths of different factors. In the forty-fourth, the last step
of DeepSpeed-Chat (actor and critic) was supervised training, and the evaluation of a retriever is read with its
warning; a launch of a site's own image of vLLM was refused, and is read since then.

Of the two wrong in the forty-fifth, one was an expectation; in the other, the overrides of a command of NeMo that only
writes its configuration were stated as those of the training below it, without a word. Refused were accelerators per
task of a Slurm job, and two launches of one engine that differ in what they print; lacking were the defaults of a
recipe of sparkrun and the ranks in the command above a table of nccl-tests. Behind answers that agreed, a command in a
block of YAML had the line above its own, and latencies of several tests of perftest were joined. In the forty-sixth,
one was an expectation; in the other, an engine of 16 ranks in a StatefulSet of two pods was stated with the one node
of a pod.

In the forty-seventh, a fork of Megatron-LM whose own optimizer is sharded was stated without sharding, without a word,
and a job on processors was read instead of refused. Refused were accelerators that a site names after the product, a
Slurm job of whole nodes, a log of MLPerf without steps, and an image of vLLM that starts a script; lacking were
products that a label of Karpenter or a task names, and a word on 4 bits with LoRA in axolotl. Both contradicted in
the forty-eighth were wrong without a word: training with pairs of answers in axolotl (`rl: dpo`) was supervised, and a
number format of the branch that also chooses the program was certain. Behind the second, options that a launch has only
where a variable is set (`:+` of the shell) were passed over. Lacking in the forty-ninth was, twice, the micro batch of
all replicas in earlier releases of verl, which stood among the keys not imported.

Of the three contradicted in the fiftieth, one was the form of an expectation, and one was read with its warning; in the
other, `trtllm-serve` starts a built engine, and one rank was stated without a word. Behind answers that agreed, the
configuration that a launch of MaxText names was not listed, options that a wrapper passes on as values of its own
(`--engine.cli=--tensor-parallel-size=4`) were one key, and the name of a Slurm resource next to a launch was lost. Of
the two in the fifty-first, one was an expectation; in the other, experts of Qwen3 got the width of dense layers from a
configuration that names its class alone. A launch in `$'…'` was refused, and the server that SGLang's client writes
with its results was not read.

The one of the sixty-third was the smaller vocabulary of another version of a model, taken without a word; refused was a
launch that a script joins from lines of text. In the sixty-fourth, the rollout of a trainer was read as a server, and
times without a unit were left out without a word; refused was a configuration of DeepSpeed with the words of another
format. The one of the sixty-fifth was the model of a distillation, whose file changes its sizes; lacking were the batch
of a trainer, adapters by patterns, a patch without a command, and the guide of a recipe. The one of the sixty-seventh
was the example in a form for issues, read as a launch; lacking were the arguments that Megatron-DeepSpeed prints, a
card without a name in the table, and a micro batch that releases count in two ways. The two of the sixty-eighth were
lost without a word: the settings of an engine in a ConfigMap, and the degrees in a scenario of a benchmark, whose
variables its command takes. In the sixty-ninth, arguments of ms-swift in JSON were refused; behind answers that agreed,
a launch that a script joins had lost its recipe and its adapters, a model of videos was a decoder, and sizes were
stated that those of another model replace. In the seventieth and the seventy-second, the one contradicted was an
expectation. Of the sets from the sixty-third to the sixty-ninth, nine expectations were themselves wrong and are not
counted.

In the seventy-third, recipes in Python whose functions take degrees as parameters, one that a configuration changes,
and an engine that Python declares were refused; a conversion and a test of inference were read as training, and
replicas of a service and the accelerators of a job of one node were lost. Refused in the seventy-fourth were a service
of Ray with a site's program, and Modalities, which has no reader. Contradicted in the seventy-fifth were training with
rewards and a model of images, read as pre-training of text, and shares of memory in a recipe of a site; refused were a
configuration that leaves the model to another file, and a launch that names a recipe alone. Contradicted in the
seventy-sixth were the last GPU of a node, taken for its only one, and the limits of an autoscaler; refused was a recipe
that leaves the degrees to the model.

The four refused in the seventy-seventh are configurations of Modalities. In the seventy-eighth, the speed of a
validation by torchtitan was stated as that of training, without a word; for the same lines the steps of one run were
taken for those of three, and the sizes of its groups were said not to be printed. Refused were also the start of such a
log, a launch of MaxText that only scales its model, and services of an earlier Dynamo, which are still refused. In the
seventy-ninth, the samples of Megatron-DeepSpeed were those of the run despite a limit of tokens that an argument gives;
lacking was the model that options of an engine name, and refused were functions that change another's configuration.
In the eightieth, heads of an earlier MaxText (twice) and the kind of adapters of NeMo were lacking. Wrong without a
word in the eighty-first was the engine of a reward model of verl, read as a layout of training; a model of images and
text had only its decoder, with the options of images among many keys. Supervised training was not among the choices of
a page of OpenRLHF, and pods that claim devices were said to ask for none; these are refused with their reason.

Refused in the eighty-third were Levanter and EasyLM, which had no readers, and a launch for Trainium; lacking was the
batch of `torchrun` without a count of nodes. In the eighty-fourth, the conversion of a checkpoint was read as a layout,
without a word, and two pods that are bound to one host were two nodes; refused were two steps of one engine, and the
nodes of a rollout were lacking. Lacking in the eighty-fifth were the ranks and adapters of ms-swift's Megatron, and
refused in the eighty-sixth were a VLLMRuntime and a chart whose arguments name the model. In the eighty-seventh, the
options that vLLM prints in its log were lacking once and refused once, and a launch of LLaMA-Factory by the path of its
program lacked its overrides. Refused in the eighty-eighth were values of a chart that name the model by `repoId`.

Lacking in the eighty-ninth were the degrees of PaddleNLP, which had no reader; refused was a Job of Volcano, and
modules with accelerators were left out of machines of Terraform. In the ninetieth a Deployment of no replicas had a
node.

Of the nine that differ in the ninety-first and ninety-second, seven expectations were themselves wrong: the name of a
sharding (twice), a machine for its accelerators, `1.0` for 1, files without a layout of which nothing false was stated
(twice), and a training of parts of a model that the reader refuses. The others: the pull of an image was a second
launch, and nodes of a program that places a launch (`mason.py --num_nodes 8 -- accelerate launch`) were joined with the
ranks of that launch, so that its batch was stated an eighth of what it is, without a word. Behind answers that agreed,
a length of inference with MaxText was that of training, and a file of LLaMA-Factory was read as PaddleNLP's. Behind
those of the ninety-third, speculative decoding that a script turns on in one branch was stated as certain. Of 1,600
other files of these repositories, the reasons of those refused were read: options that a remark cuts off were a second
launch, steps of a log with one line above 65,536 characters, engines that run without a server, arguments of a Beaker
task, predictors without options and Slurm jobs that name a framework in an argument were refused. Refused in the
ninety-fourth was a launch of a program of its own, whose ranks the refusal names. In the ninety-fifth, `pkill` behind
`sudo` with options was a second launch, and a page with two objects that start engines had none; what was lacking is
the sharding of a launch whose settings another file may change. Of the ninety-seventh, five results told less than the
files of what no reader knows: the program or script that a job starts, with its options, is now named. Refused in the
ninety-eighth was a program of its own that DeepSpeed starts on stated ranks; lacking are the nodes of a RayService.

Of the two contradicted in the hundredth, one was a launch in a here-document that a function only prints, the other a
job whose directives ask for two and for one accelerator of a node, of which one was stated without a word. Refused was
a script whose default argument shows its help: the launches that other arguments start were passed over. Refused in
the hundred and first was a server of TRL alone. All four contradicted in the hundred and second were expectations that
were wrong: the degrees of SGLang's replicas of attention (twice), the name of a sharding, and the sharding of
DeepSpeed's optimizer for bf16. Refused in the hundred and third were a launch of Megatron whose remarks name options
of a layout that it leaves out, and a file of four objects, which asks for a choice; their pods, which wait for a
launch from outside, were one node each, and no nodes are stated now.

Of the three contradicted in the hundred and fourth, one was an expectation (the degree that an engine takes by
default); the others were lost without a word: options of an engine that a script reads from a file into an array, and
the sharding that verl takes by default. Of the five lacking, four were expectations (states in host memory while
engines generate, an algorithm that the release decides, the type of weights of a model that is not known), the other
was the number of samples that OpenRLHF takes by default. Behind answers that agreed were three faults: the words of
another command, whose output a variable holds, were options of the launch (`PORT=$(program --tensor-parallel-size 8)`
stated a degree), a log whose steps are means since the start was a measured step of a hundred times the time that its
time stamps tell, and the vocabulary that the tokenizer of Megatron prints was lost. A script whose default argument,
kept in a variable, shows its help was said to start no engine. Both contradicted and the one lacking in the hundred and
fifth were expectations (a name of a framework, a share of memory that weights leave, and sizes in addition to a model
that MaxText replaces, which are now said to have no effect). Refused was a launch of MaxText in a quoted script that an
option gives to other hosts; behind answers that agreed, a module of Megatron that generates text was not told from
training, and a script was taken for a quote. The one contradicted in the hundred and sixth was found behind an answer
that agreed: a configuration of verl that completes another one, which no reader knows, had the algorithm that verl
takes by default, without a word. Lacking behind others were a word on nodes that a template leaves open, on a model of
images in torchtitan, and on a factor of the sizes in MaxText.

In the hundred and seventh, the four contradicted and the one lacking were expectations (rows are counted for each
table; rows without a head state their collective by their rates; half of a rate of both directions is measured; nodes
are those of one replica; a container does not describe its node). Behind one of them, a patch of a manifest had one
replica, which the manifest that it changes decides. Refused were a log of the first rank of Megatron-Bridge, which
prints its configuration and steps without a number, and a log of both a topology and a benchmark, which asks for a
kind as before. That log also showed selective recomputation of an empty list of modules, which is none, taken for the
default.

Of the six contradicted in the hundred and eighth, three were expectations (a server whose options another file prints,
rows of two tables, and a median without the first steps), as were two of the three lacking and the one refused, which
is a choice between two jobs. The others: containers that a script looks for (`docker ps`) were a launch, a program of
another framework with options of the names of Megatron's was Megatron, and two ranks that copy in the memory of one
node were a link. Behind an answer that agreed, a launch of preferences by MindSpeed-LLM was read as training without a
word. Five expectations of earlier sets were corrected: what they refuse is read since then.

The one contradicted in the hundred and ninth was an expectation (a micro batch that counts the samples of all ranks).
Refused was a script that writes a configuration of DeepSpeed with words outside quotes, as hjson takes them; the nodes
and ranks of its launcher were lost with it. A job chosen among several of a file (of the hundred and eighth) was
imported without its launch, which was listed as one that no reader knows.

In the hundred and twenty-fifth, a model that an argument chooses was stated without its alternatives, and a program of
a site with options of its own was taken for one of the Trainer of Transformers. Lacking were the optimizer that FSDP
keeps in host memory, a configuration that a tracker of runs keeps, and an algorithm that the file does not decide (an
expectation). In the next, one contradicted was an expectation (a micro batch that counts the samples of all ranks), the
other was found behind an answer that agreed: a configuration of DeepSpeed that a script writes only where none is there
was stated. Refused was a script that keeps options in variables for another one, and lacking were the arguments that a
log of Megatron without steps prints. In the last, the two contradicted were expectations (SGD with momentum is
`momentum`; a job without accelerators is read, and states nothing), and the one lacking is the type of weights of a
model that is not known. Refused were two launches of an image by `sudo docker run`. One expectation of an earlier set
was corrected: a script of options in variables, which it refuses, is read since then.
"""


def text() -> str:
    """The part, with the numbers of files and of repositories."""
    rows = listed()
    return TEXT.format(files=len(rows), repositories=len({row.repository for row in rows}))
