"""The part of docs/exchange.md about the files with which the readers are tested."""

from __future__ import annotations

from tools.real_files import listed

TEXT = """### How the readers are tested

`tests/exchange/real.csv` lists {files} readings of real files of {repositories} public repositories by address, commit
and expected facts; `make real-files` fetches the files and compares. Each row below is the first score of one set: the
facts of files that no reader had seen were written down, the readers ran once, and what failed was corrected for all
files of its kind.

- *new*: no earlier set had used the repository. Since set 21, files are drawn at random within the stated choice.
- *after corrections*: the readers had the corrections of the set before.
- *state none*: the files state neither a layout nor a machine, so a refusal with the reason is right.
- *a fact lacking*: the result omits a fact of the file. Since set 52 a line of the result has to name the omission;
  an omission without such a line counts as contradicted.
- *contradicted*: the result states something that the file refutes.

| set | readings | right or refused rightly | a fact lacking | refused wrongly | contradicted |
| --- | --- | --- | --- | --- | --- |
| 1: mostly logs and listings | 52 | 35 | 5 | 2 | 10 |
| 2: other repositories, mostly launches and configurations | 49 | 42 | 3 | 1 | 3 |
| 3: other repositories, all kinds | 50 | 32 | 0 | 7 | 11 |
| 4: other repositories, after corrections | 38 | 35 | 0 | 3 | 0 |
| 5: other repositories, each file of a kind equally likely | 39 | 35 | 0 | 0 | 4 |
| 6: drawn like set 5, after corrections | 24 | 21 | 1 | 1 | 1 |
| 7: other repositories, mostly objects of Kubernetes and values of Helm | 42 | 29 | 3 | 10 | 0 |
| 8: other repositories, after corrections | 20 | 18 | 0 | 2 | 0 |
| 9: drawn by kind from 30 new repositories | 93 | 75 | 0 | 5 | 13 |
| 10: 12 other repositories, after corrections | 45 | 40 | 0 | 3 | 2 |
| 11: 31 new repositories, mostly small groups and clouds | 45 | 37 | 2 | 4 | 2 |
| 12: 21 other repositories, after corrections | 32 | 29 | 0 | 0 | 3 |
| 13: 32 other repositories; 44 state a layout or a machine | 54 | 41 | 6 | 4 | 3 |
| 14: 13 other repositories, after corrections; 29 state a layout or machine | 31 | 27 | 0 | 2 | 2 |
| 15: other files of the repositories of set 13 | 18 | 8 | 5 | 1 | 4 |
| 16: 22 new repositories | 35 | 19 | 7 | 7 | 2 |
| 17: 36 new repositories | 51 | 33 | 12 | 2 | 4 |
| 18: 16 repositories, 8 of them new, after corrections | 24 | 22 | 2 | 0 | 0 |
| 19: 54 new repositories | 66 | 54 | 6 | 4 | 2 |
| 20: 29 other repositories, after corrections | 39 | 34 | 1 | 4 | 0 |
| 21: 20 other repositories, after corrections; 15 state none | 20 | 18 | 0 | 2 | 0 |
| 22: 31 new repositories; 30 state none | 58 | 50 | 2 | 0 | 6 |
| 23: 15 other repositories, after corrections; 17 state none | 24 | 22 | 2 | 0 | 0 |
| 24: 40 of 55 files of 12 repositories, most of them used before; 18 state none | 40 | 24 | 5 | 8 | 3 |
| 25: training files of 25 repositories, 24 of them new; 14 state none | 44 | 30 | 2 | 11 | 1 |
| 26: 21 other repositories, and 4 files of two others, after corrections; 20 state none | 42 | 41 | 0 | 1 | 0 |
| 27: 17 repositories, 15 of them new, after corrections; 15 state none | 33 | 28 | 0 | 3 | 2 |
| 28: 19 other repositories, after corrections; 11 state none | 34 | 29 | 3 | 0 | 2 |
| 29: 7 other repositories, after corrections; 7 state none | 14 | 13 | 1 | 0 | 0 |
| 30: files of machines and launches of 21 repositories, 10 of them new | 26 | 22 | 1 | 2 | 1 |
| 31: 26 new repositories, of unlike kinds; 5 state none | 40 | 23 | 7 | 9 | 1 |
| 32: 13 repositories, 6 of them new, after corrections; 9 state none | 25 | 21 | 3 | 1 | 0 |
| 33: 25 repositories, most of them new; 18 state none | 40 | 31 | 1 | 7 | 1 |
| 34: 19 other repositories, after corrections; 14 state none | 29 | 26 | 0 | 1 | 2 |
| 35: 8 other repositories, after corrections; 12 state none | 21 | 14 | 2 | 0 | 5 |
| 36: 13 repositories, one of them used, after corrections; 13 state none | 24 | 21 | 0 | 2 | 1 |
| 37: 10 new repositories, after corrections; 18 state none | 29 | 28 | 1 | 0 | 0 |
| 38: 28 repositories, 19 of them new, mostly logs and listings | 41 | 32 | 3 | 3 | 3 |
| 39: 16 repositories, 2 of them of set 38, after corrections; 8 state none | 27 | 18 | 6 | 1 | 2 |
| 40: one file of each of 20 groups of files; 14 state none | 20 | 19 | 0 | 1 | 0 |
| 41: 24 repositories, 14 of them new; 25 state none | 62 | 57 | 3 | 1 | 1 |
| 42: 26 other repositories, 24 of them new, after corrections; 22 state none | 48 | 45 | 2 | 0 | 1 |
| 43: 9 other repositories, one chosen for its logs of one machine; 17 state none | 40 | 36 | 0 | 0 | 4 |
| 44: 11 other repositories, after corrections; 16 state none | 25 | 22 | 0 | 1 | 2 |
| 45: 26 new repositories; 15 state none | 40 | 34 | 2 | 2 | 2 |
| 46: other files of 21 repositories of set 45, after corrections; 15 state none | 26 | 23 | 1 | 0 | 2 |
| 47: repositories found by 20 file names and 9 topics; 14 state none | 40 | 31 | 3 | 4 | 2 |
| 48: 30 other repositories of these names and topics, after corrections; 20 state none | 40 | 38 | 0 | 0 | 2 |
| 49: other files of 20 repositories of sets 47 and 48; 18 state none | 36 | 34 | 2 | 0 | 0 |
| 50: 21 new repositories, with pages and programs; 22 state none | 40 | 35 | 2 | 0 | 3 |
| 51: 15 repositories, 9 of them not in set 50, without pages, after corrections; 6 state none | 22 | 18 | 1 | 1 | 2 |
| 52: launches, configurations and manifests alone, of mirrored repositories | 44 | 29 | 9 | 0 | 6 |
| 53: other files of the repositories of set 52, after corrections | 23 | 13 | 7 | 0 | 3 |
| 54: other files of the repositories of set 52, after corrections | 23 | 17 | 4 | 0 | 2 |
| 55: 8 repositories fetched for this set, after corrections | 24 | 18 | 3 | 0 | 3 |
| 56: other files of the repositories of sets 52 to 55, after corrections | 21 | 15 | 4 | 0 | 2 |
| 57: 230 mirrored repositories, 20 kinds of files | 40 | 31 | 0 | 5 | 4 |
| 58: other files of these repositories, after corrections | 40 | 26 | 3 | 3 | 8 |
| 59: other files of these repositories, after corrections | 40 | 34 | 1 | 2 | 3 |
| 60: 24 repositories, most of them fetched for this set, and 9 others, after corrections | 40 | 35 | 0 | 2 | 3 |
| 61: 35 mirrored repositories, after corrections | 40 | 34 | 2 | 1 | 3 |
| 62: 20 repositories of set 61, after corrections | 20 | 18 | 0 | 0 | 2 |
| 63: all mirrored repositories, and others fetched for this set; 30 state none | 44 | 41 | 1 | 1 | 1 |
| 64: one file that states facts of each of 40 repositories, after corrections | 40 | 36 | 1 | 1 | 2 |
| 65: one file of each of 40 repositories, after corrections | 40 | 35 | 4 | 0 | 1 |
| 66: one file of each of 40 repositories, after corrections | 40 | 38 | 2 | 0 | 0 |
| 67: one file of each of 40 repositories, with more logs and machines, after corrections | 40 | 36 | 3 | 0 | 1 |
| 68: one file of each of 40 repositories, after corrections | 40 | 38 | 0 | 0 | 2 |
| 69: 14 other repositories fetched for this set, after corrections | 27 | 25 | 1 | 1 | 0 |
| 70: 8 other repositories fetched for this set, after corrections | 23 | 22 | 0 | 0 | 1 |
| 71: 8 more repositories fetched for this set, after corrections | 15 | 15 | 0 | 0 | 0 |
| 72: topologies and machines of all repositories, after corrections; 11 state none | 16 | 15 | 0 | 0 | 1 |
| 73: one file of each of 28 repositories, most of them fetched for this set | 28 | 20 | 0 | 4 | 4 |
| 74: one file of each repository, after corrections | 26 | 24 | 0 | 2 | 0 |
| 75: one file of each repository, after corrections | 26 | 21 | 0 | 2 | 3 |
| 76: one file of each repository, after corrections | 25 | 22 | 0 | 1 | 2 |
| 77: 9 new repositories; 10 state none | 26 | 22 | 0 | 4 | 0 |
| 78: 7 other repositories, 6 of them new, before any correction; 15 state none | 25 | 20 | 0 | 4 | 1 |
| 79: 15 repositories, including those of sets 77 and 78, after corrections; 12 state none | 26 | 23 | 1 | 1 | 1 |
| 80: 15 repositories, 13 of them new to sets 77 to 79, after corrections; 11 state none | 26 | 22 | 3 | 1 | 0 |
| 81: 12 other repositories, 10 of them new, after corrections; 9 state none | 26 | 22 | 1 | 1 | 2 |
| 82: topologies, tables and nodes of 8 other repositories, after corrections; 9 state none | 15 | 15 | 0 | 0 | 0 |
| 83: one file of each of 26, 22 of them new, before any correction; 16 state none | 26 | 21 | 2 | 3 | 0 |
| 84: one file of each of 24, 14 of them new, after corrections; 12 state none | 24 | 20 | 1 | 1 | 2 |
| 85: one file of each of 25 new repositories, after corrections; 13 state none | 25 | 23 | 2 | 0 | 0 |
| 86: 19 repositories with more Kubernetes objects, after corrections; 13 state none | 22 | 20 | 0 | 2 | 0 |
| 87: 24 new repositories, after corrections; 18 state none | 24 | 21 | 2 | 1 | 0 |
| 88: 12 other repositories, 10 of them new, after corrections; 9 state none | 16 | 15 | 0 | 1 | 0 |
| 89: 24 new repositories; 14 state none | 25 | 22 | 1 | 1 | 1 |
| 90: 16 repositories, 13 of them new, after corrections; 13 state none | 21 | 20 | 0 | 0 | 1 |
| 91: 23 new repositories, by kind; 23 may state none | 30 | 26 | 0 | 2 | 2 |
| 92: 22 repositories, most of them not in set 91, before any correction; 14 may state none | 30 | 25 | 1 | 0 | 4 |
| 93: other files of 20 of these repositories, after corrections; 12 may state none | 30 | 30 | 0 | 0 | 0 |
| 94: launches of four new repositories, after corrections; 6 may state none | 8 | 7 | 0 | 1 | 0 |
| 95: 22 new repositories, one or two files of each; 20 state none | 34 | 31 | 1 | 2 | 0 |
| 96: short launches of 15 repositories that searches found, 13 of them new | 15 | 9 | 3 | 3 | 0 |
| 97: launches and manifests of 14 repositories, 7 of them new | 15 | 15 | 0 | 0 | 0 |
| 98: 8 other repositories, 2 of them new, after their messages became fuller | 8 | 6 | 1 | 1 | 0 |
| 99: other files of 22 repositories, 9 of them new; 22 state none | 33 | 33 | 0 | 0 | 0 |
| 100: 19 repositories that hold a given path, 12 of them new; 10 state none | 31 | 28 | 0 | 1 | 2 |
| 101: other files of 20 repositories, 3 of them new, mostly Kubernetes | 30 | 22 | 3 | 3 | 2 |
| 102: other files of 10 of these repositories, after corrections | 15 | 13 | 0 | 0 | 2 |
| 101: other files of nine of these repositories, after corrections; 4 state none | 12 | 11 | 0 | 1 | 0 |
| 102: 10 new repositories; 3 state none | 22 | 18 | 0 | 0 | 4 |
| 103: six new repositories, their first files; 4 state none | 13 | 11 | 0 | 2 | 0 |
| 104: 38 repositories, 33 of them new; 17 may state none | 40 | 32 | 5 | 0 | 3 |
| 105: 23 other repositories, 11 of them new, after corrections; 5 may state none | 23 | 19 | 1 | 1 | 2 |
| 106: 26 other repositories, 15 of them new, after corrections; 11 may state none | 26 | 25 | 0 | 0 | 1 |
| 107: 22 repositories, 2 of them new: logs, topologies, manifests; 12 may state none | 22 | 15 | 1 | 2 | 4 |
| 108: 40 owners, 31 of them new; 22 may state none | 40 | 30 | 3 | 1 | 6 |
| 109: 30 other repositories, 24 of them new, after corrections; 12 may state none | 30 | 28 | 0 | 1 | 1 |
| 110: 30 other repositories, after corrections; 14 may state none | 30 | 28 | 1 | 0 | 1 |
| 111: 29 other repositories, 13 of them new; 21 may state none | 29 | 21 | 4 | 0 | 4 |
| 112: 23 new repositories, and four excerpts; 8 may state none | 32 | 28 | 0 | 0 | 4 |
| 113: 23 other repositories, 22 of them new, after corrections; 10 may state none | 26 | 24 | 0 | 0 | 2 |
| 114: 14 new repositories, after corrections; 10 may state none | 24 | 22 | 0 | 0 | 2 |
| 115: 18 new repositories, after corrections; 12 state none | 24 | 23 | 0 | 0 | 1 |
| 116: small scripts of five new repositories, after corrections; 3 may state none | 6 | 3 | 0 | 1 | 2 |
| 117: 24 new repositories, after corrections; 3 state none | 24 | 18 | 3 | 1 | 2 |
| 118: 16 new repositories; 3 state none | 16 | 14 | 0 | 2 | 0 |
| 119: 16 new repositories; 9 state none | 16 | 15 | 1 | 0 | 0 |
| 120: 16 new repositories, after corrections; 4 state none | 16 | 14 | 1 | 1 | 0 |
| 121: 16 new repositories, after corrections; 10 state none | 16 | 16 | 0 | 0 | 0 |
| 122: 24 new repositories; 10 state none | 24 | 20 | 1 | 2 | 1 |
| 123: 20 new repositories, after corrections; 5 state none | 20 | 16 | 2 | 1 | 1 |
| 124: 21 new repositories, after corrections; 6 state none | 21 | 16 | 4 | 1 | 0 |
| 125: 29 repositories, 18 of them new; 8 state none | 42 | 37 | 3 | 0 | 2 |
| 126: 18 other repositories, 17 of them new, after corrections; 10 state none | 28 | 24 | 1 | 1 | 2 |
| 127: 17 other repositories, 8 of them new, after corrections; 8 state none | 29 | 24 | 1 | 2 | 2 |
| 128: 34 repositories, 28 of them new; 12 may state none | 40 | 33 | 2 | 3 | 2 |
| 129: 19 new repositories, after corrections; 9 may state none | 25 | 24 | 0 | 1 | 0 |
| 130: 26 new repositories, after corrections; 8 may state none | 28 | 25 | 0 | 0 | 3 |
| 131: other files of 24 of these repositories, at random, after corrections; 10 may state none | 24 | 23 | 1 | 0 | 0 |
| 132: other files of 16 repositories, 2 of them new, after corrections; 2 may state none | 16 | 14 | 1 | 0 | 1 |
| 133: 40 repositories, 33 of them new; 19 state none | 40 | 33 | 1 | 1 | 5 |
| 134: one file of each of 26 kinds, 3 of new repositories, after corrections; 10 state none | 26 | 20 | 2 | 1 | 3 |
| 135: one file of each of 26 kinds, 3 of new repositories, after corrections; 13 state none | 26 | 25 | 1 | 0 | 0 |
| 136: 20 new repositories, after corrections; 10 state none | 20 | 17 | 1 | 1 | 1 |
| 137: 25 repositories, 23 of them new, after corrections; 9 state none | 25 | 19 | 4 | 2 | 0 |
| 138: 13 new repositories, after corrections; 5 state none | 13 | 10 | 0 | 1 | 2 |
| 139: one file of each of 44 repositories, 34 of them new; 12 state none | 44 | 33 | 3 | 3 | 5 |
| 140: 38 other repositories, 12 of them new, after corrections; 8 state none | 38 | 31 | 7 | 0 | 0 |
| 141: 35 repositories, most of set 139, after corrections; 10 state none | 35 | 32 | 1 | 0 | 2 |
| 142: 34 new repositories; 16 may state none | 40 | 33 | 2 | 1 | 4 |
| 143: 23 repositories, 21 of them new, after corrections; 12 may state none | 28 | 23 | 3 | 1 | 1 |
| 144: 17 new repositories, after corrections; 7 may state none | 24 | 21 | 1 | 0 | 2 |
| 145: 27 new repositories, after names of the field were read; 19 may state none | 40 | 32 | 6 | 1 | 1 |
| 146: 8 new repositories, one of job scripts of others, after corrections; 12 may state none | 20 | 20 | 0 | 0 | 0 |
| 147: job scripts of 16 projects, others of set 145, after corrections; 7 may state none | 22 | 18 | 1 | 1 | 2 |
| 148: job scripts of 11 projects, and two new repositories, after corrections; 4 may state none | 16 | 16 | 0 | 0 | 0 |
| 149: 38 repositories, most of them fetched for this set, few logs; 31 may state none | 58 | 46 | 3 | 7 | 2 |
| 150: 30 other repositories, after corrections; 22 may state none | 42 | 37 | 1 | 2 | 2 |
| 151: 29 new repositories, all kinds, few logs; 20 may state none | 35 | 28 | 5 | 2 | 0 |
| 152: 36 other repositories, four used before, after corrections; 22 may state none | 45 | 44 | 1 | 0 | 0 |
| 153: graphs of engines, logs and charts of six repositories, two used before, after corrections | 8 | 7 | 0 | 0 | 1 |
| 154: 23 repositories, 10 of them new, launches, configurations and logs; 10 may state none | 40 | 29 | 5 | 2 | 4 |
| 155: 12 repositories, one of them new, after corrections; 6 may state none | 14 | 11 | 1 | 1 | 1 |
| 156: other files of 28 repositories used before, 23 kinds of files; 18 may state none | 39 | 29 | 5 | 1 | 4 |
| 157: other files of 18 repositories, after corrections; 10 may state none | 23 | 19 | 3 | 1 | 0 |
| 158: other files of 14 repositories, after corrections; 10 may state none | 17 | 11 | 2 | 1 | 3 |
| 159: 40 repositories, 5 of them new; 18 may state none | 40 | 27 | 6 | 5 | 2 |
| 160: 25 other repositories, one of them new, after corrections; 14 may state none | 25 | 23 | 1 | 1 | 0 |
| 161: 15 other repositories, one of them new, after corrections; 10 may state none | 15 | 15 | 0 | 0 | 0 |
| 162: other files of 12 of these repositories, after corrections; 4 may state none | 12 | 11 | 0 | 0 | 1 |
| 163: 39 repositories, 22 new, half logs, charts and inventories; 26 may state none | 40 | 31 | 3 | 2 | 4 |
| 164: 24 repositories, 16 of them used in set 163, after corrections; 14 state none | 25 | 22 | 2 | 0 | 1 |
| 165: other files of 15 of these repositories, after corrections; 12 may state none | 15 | 14 | 0 | 0 | 1 |

Some failures are errors of the expectation, not of the reader: 4 of the 10 contradictions of set 1, 3 of the 11 of
set 3, 5 of the 7 failures of set 107, 6 of the 8 of set 111, 3 of the 6 contradictions of the sets 125 to 127 (two
collectives in one log stay two measurements, a figure was rounded to six digits, and a launch of vLLM without an option
for it states no degree), 2 of the 5 of the sets 128 to 130 (a model that the catalog has, and the cited default of
SGLang), both failures of set 132 (a misspelled key, and a checkpoint whose sizes match a model of the catalog,
which a line names), six of the seven of set 133 (the spec calls ZeRO-3 `fsdp`, and sequences that are only cut have
no one length), one of set 136 (two chunks of PBS may share a node), four of the six of set 137 (a key that Accelerate
ignores, a trainer of the site with rewards, and counts of verl and OpenRLHF that the spec names otherwise), one of
set 138 (the cited default of SGLang), four of set 139 (three files whose result says that it states no training, and
sequences that are only cut), and six of the seven of set 140 (a request without nodes, two chunks of PBS, a product
whose form is not stated, a switch that another program decides, and two counts that the spec names otherwise), two of
set 142 (a result without facts, and GRPO without a reference model) one of set 143 (states that the host holds only
while engines generate), one of set 144 (a release of a model that the catalog has), three of set 145 (such states of
the host, GRPO without a reference model, and nodes that the degrees refute), one of set 147 (the batch of a
calibration), four of set 151 (GRPO without a reference model, and sequences that are only cut), two of set 154 (the
cited default of TensorRT-LLM, and an axis of MaxText that takes the devices left over), two of set 155 (training
with rewards, and an engine that the spec names otherwise), four of set 156 (an adapter without a key, a batch and
layers that another file decides, and 1.0 for 1), one of set 157 (a switch that another program decides), two of
set 158 (states that the host holds only while engines generate, and a conversion whose result says that it is one),
six of set 159 (three counts and a degree that the spec names otherwise, two launches of which one must be chosen,
and a count of ranks alone), one of set 160 (processes without accelerators), and five of set 163 (GRPO without a
reference model, a section that Accelerate ignores, a model of the same sizes, and two results without facts).
The table counts them all, except nine of the sets 63 to 69. Ten files of the sets 2, 7 and 112 are excerpts
without an address, so the list lacks them.

The failures fall into eight kinds; the history of this page in Git describes each one.

- **Separate things joined**: rows of several runs, tests of different links, the matrices of two vendors, a topology
  and a benchmark in one log.
- **Text taken for a launch**: commands in comments, in a document that a script only prints, in a form for issues;
  `docker ps`, `pkill`, the pull of an image.
- **A condition ignored**: options of one branch of a script, or the value of a variable that the scheduler changes,
  stated as certain.
- **The default of another program**: defaults of Megatron-LM for Megatron-Bridge or a fork, or of another release of
  verl or vLLM.
- **Another kind of work**: conversion, inference, evaluation, a reward model, an encoder or distillation read as
  training of a language model.
- **Another model**: gates, adapters, linear attention, quantization, experts or key-value heads were lost, so the
  imported model was larger or smaller.
- **Another unit**: pods, dies, slices, tasks or links counted as nodes, accelerators or ranks; the micro-batch of all
  replicas read as that of one.
- **No reader for the format**: objects of Kubernetes, values of charts, configurations of trainers, engines and
  simulators.

The importer still refuses options that a chart passes as a list of environment variables, a test of NeMo whose command
names no program, and services of the first releases of Dynamo. It reads three files of set 35 that it should refuse;
nothing that it states about them is false.
"""


def text() -> str:
    """The part, with the numbers of files and of repositories."""
    rows = listed()
    return TEXT.format(files=len(rows), repositories=len({row.repository for row in rows}))
