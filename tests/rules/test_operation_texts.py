"""Schedulers, adapters, error tests, evaluations, budgets and loaders that a description states, each with a sound one."""

# ruff: noqa: E501 (a case is one line of a table)

from __future__ import annotations

from tests.effort import each

from .conftest import Check
from .test_network_texts import told

CLUSTER = "platform: dgx-h200, nodes: 24"
WINDOWS = [
    # a day against seven
    ("Partition full has MaxTime=7-00:00:00; bf_window stays at its default.", "plans 24 h ahead, but a job may run 7-00:00:00"),
    ("Partition full has MaxTime 7 days. The bf_window is 1440 minutes.", "may run 7 days"),
    ("The longest jobs run for 5 days, bf_window=2880.", "plans 48 h ahead"),
    ("bf_window: 2,880 min. Jobs may run for up to 72 hours.", "may run 72 hours"),
    ("The backfill window is one day.", ""),
    ("The backfill window is 1 day, the time limit 48 h.", "plans 24 h ahead"),
    ("Zeitlimit 3 Tage; bf_window ist nicht geändert, also Standard.", "may run 3 Tage"),
    ("Limite de temps de 4 jours ; bf_window est laissé à sa valeur par défaut.", "may run 4 jours"),
    ("El límite de tiempo es de 4 días y bf_window=1440.", "may run 4 días"),
    ("Partition dev has MaxTime=4:00:00; bf_window stays at its default.", ""),
    ("Partition full has MaxTime=7-00:00:00; bf_window=10080.", ""),
    ("The time limit is 48 h, and bf_window is 2 days.", ""),
    ("bf_window is 10,080 minutes, and jobs may run for up to 7 days.", ""),
    ("MaxTime is 2880 and bf_window 2880.", ""),
    ("The time limit is 48 h; backfill is on.", ""),
    ("bf_window was 1440 minutes until May; now it is 10080. The time limit is 7 days.", ""),
]  # fmt: skip


@each("text, words", WINDOWS)
def test_backfill_looks_as_far_ahead_as_a_job_runs(text: str, words: str, check: Check) -> None:
    assert_told(check, "backfill-window-below-limit", text, words)


LISTS = [
    ("mlx5_10 and mlx5_11 are storage ports; NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2.", "`mlx5_1` selects `mlx5_10` and `mlx5_11`, too"),
    ("Devices mlx5_0 to mlx5_11; the last two carry storage. NCCL_IB_HCA: mlx5_0,mlx5_1,mlx5_2,mlx5_3", "`mlx5_1` selects `mlx5_10`"),
    ("NCCL_IB_HCA=mlx5_0:1,mlx5_2:1 and the store is on mlx5_20", ""),
    ("NCCL_IB_HCA=mlx5_0, mlx5_2 and the store is on mlx5_20", "`mlx5_2` selects `mlx5_20`, too"),
    ("NCCL_IB_HCA=^mlx5_1,mlx5_2; the compute ports are mlx5_10 to mlx5_17", "`mlx5_1` excludes `mlx5_10`"),
    ("Der Speicher hängt an mlx5_12. Gesetzt ist NCCL_IB_HCA=mlx5_1,mlx5_3.", "`mlx5_1` selects `mlx5_12`, too"),
    ("eth1 is the bootstrap network and eth10 the public one; NCCL_SOCKET_IFNAME=eth1", "`eth1` selects `eth10`, too"),
    ("mlx5_10 and mlx5_11 are storage ports; NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2.", ""),
    ("mlx5_10 and mlx5_11 are storage ports; NCCL_IB_HCA==mlx5_0,mlx5_1 is exact.", ""),
    ("mlx5_8 and mlx5_9 are storage ports; NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_2.", ""),
    ("The rails are mlx5_10 to mlx5_17; NCCL_IB_HCA=mlx5_1 selects them.", ""),
    ("NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_10,mlx5_11 on hosts with mlx5_0, mlx5_1, mlx5_10 and mlx5_11.", ""),
    ("NCCL_IB_HCA=mlx5 on hosts with mlx5_0 to mlx5_15.", ""),
    ("NCCL_SOCKET_IFNAME=ens beside ens1 and ens10", ""),
]  # fmt: skip


@each("text, words", LISTS)
def test_a_list_of_adapters_selects_by_the_beginnings_of_names(text: str, words: str, check: Check) -> None:
    assert_told(check, "adapter-list-by-prefix", text, words)


ERROR_TESTS = [
    # 400e9 x 600 s = 2.4e14 bits; 1 - exp(-0.24) = 21 %; 3.0e15 bits take 7,489 s
    ("Each link runs at 400 Gb/s for ten minutes. Without an error its bit error ratio is below 1e-15 with 95 % confidence.", "21 % confidence; 95 % take 3e+15 bits, 2.08 h at 400 Gb/s"),
    ("Each link runs at 400 Gb/s for 10 min. A link with no bit errors has a BER below 10^-15.", "21 % confidence"),
    ("BER < 1E-12 at 99 % confidence: 3.2e12 bits, error-free.", "96 % confidence; 99 % take 4.6e+12 bits"),
    ("A port is accepted as error-free below a BER of 10⁻¹⁵ after 1 h at 200 Gb/s.", "51 % confidence"),
    ("Jeder Link läuft 10 Minuten mit 400 Gbit/s; fehlerfrei heißt Bitfehlerrate unter 1e-15.", "21 % confidence"),
    ("Chaque lien tourne 10 minutes à 400 Gb/s : sans erreur, le taux d'erreur est inférieur à 1e-15.", "21 % confidence"),
    ("Cada enlace funciona 10 minutos a 400 Gb/s; sin errores, la tasa de errores de bits es menor que 1e-15.", "21 % confidence"),
    ("Each link runs at 400 Gb/s for 125 minutes. Without an error its bit error ratio is below 1e-15 with 95 % confidence.", ""),
    ("Each link runs at 400 Gb/s for ten minutes. Without an error its bit error ratio is below 1.3e-14 with 95 % confidence.", ""),
    ("The 64 links together carry 400 Gb/s for ten minutes each; without an error the BER is below 1e-15.", ""),
    ("Each link runs at 400 Gb/s for ten minutes. The bit error ratio has to be below 1e-15 by the data sheet.", ""),
    ("3e15 bits without an error show a BER below 1e-15.", ""),
    ("3e14 bits without an error show a BER below 1e-15.", "26 % confidence"),
    # the run is told in the two sentences before, or in the next one, the confidence in the sentence or the nearest
    ("Each link runs at 400 Gb/s for ten minutes. All are cleaned first. Without an error the BER is below 1e-15.", "21 % confidence"),
    ("Each link runs at 400 Gb/s for ten minutes. All are cleaned first. Then they are tested. Without an error the BER is below 1e-15.", ""),
    ("A link without an error has a BER below 1e-15. It runs at 400 Gb/s for ten minutes.", "21 % confidence"),
    ("A link without an error has a BER below 1e-15. It is cleaned first. It runs at 400 Gb/s for ten minutes.", ""),
    ("Each link runs at 400 Gb/s for ten minutes, for 99 % confidence. Without an error the BER is below 1e-15.", "99 % take 4.6e+15 bits"),
    ("We ask for 99 % confidence. Each link runs at 400 Gb/s for ten minutes. Without an error the BER is below 1e-15.", "95 % take 3e+15 bits"),
    ("Each link runs at 400 Gb/s or 200 Gb/s for ten minutes. Without an error the BER is below 1e-15.", ""),  # which of both?
    # 3.0e15 bits may be rounded: 95 % of the exact 2.996e15
    ("2.84e15 bits without an error show a BER below 1e-15.", "94 % confidence"),
    ("2.85e15 bits without an error show a BER below 1e-15.", ""),
]  # fmt: skip


@each("text, words", ERROR_TESTS)
def test_bits_without_an_error_show_a_bound(text: str, words: str, check: Check) -> None:
    assert_told(check, "error-test-too-short", text, words)


def test_a_test_at_line_rate_has_the_rate_of_the_keys(check: Check) -> None:
    text = "Each link runs at line rate for 10 minutes. A link without an error has a BER below 1e-15."
    fabric = f"{CLUSTER}, scale_out: {{technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: rail-optimized}}"
    ((severity, message),) = told(check, "error-test-too-short", text, fabric)
    assert severity == "warning"
    assert "2.4e+14 bits" in message


EVALUATIONS = [
    # sqrt(0.72 x 0.28 / 400) = 0.02245; sqrt(0.09 / 400) = 0.015
    ("400 questions per checkpoint. The standard error is sqrt(0.72 x 0.28 / 400) = 0.7 points.", "is 2.2 points, but the text has `0.7 points`"),
    ("400 questions. The standard error is sqrt(0.72 x 0.28 / 400) = 2.2 points.", ""),
    ("400 Fragen, Standardfehler √(0,72 x 0,28 / 400) = 0,0224.", ""),
    ("1,000 questions: sqrt(0.5 x (1 - 0.5) / 1,000) = 1.6 %.", ""),
    ("1,000 questions: sqrt(0.5 x (1 - 0.5) / 1,000) = 0.5 %.", "is 1.6 points"),
    ("Evaluation on 400 questions, pass rate 0.72. A drop of 1.5 points stops the run.", "1.5 points is below the standard error of one score, 2.2 points"),
    ("Accuracy is measured on 200 test cases. A checkpoint that is 1 point better is promoted.", "2.1 points for 200 questions"),
    ("A benchmark of 164 problems selects the model: a gain of 2 points is real. Its score is 60 %.", "3.8 points for 164 questions"),
    ("Die Auswertung hat 300 Fragen; ein Rückgang um 1 Punkt stoppt den Lauf.", "1.7 points for 300 questions"),
    ("L'évaluation compte 300 questions ; une baisse de 1 point arrête la course.", "1.7 points"),
    ("La evaluación tiene 300 preguntas; una caída de 1 punto detiene el entrenamiento.", "1.7 points"),
    ("Evaluation on 400 questions, pass rate 0.72. A drop of 7 points stops the run.", ""),
    ("Evaluation on 40,000 questions, pass rate 0.72. A drop of 1.5 points stops the run.", ""),
    ("Evaluation on 400 questions in a paired test. A drop of 1.5 points stops the run.", ""),
    ("Evaluation on 400 questions. A drop of 1.5 points is reported to the team.", ""),
    ("Evaluation on 400 questions, then on 12,000 questions. A drop of 1.5 points stops the run.", ""),
]  # fmt: skip


@each("text, words", EVALUATIONS)
def test_a_difference_of_scores_is_more_than_their_standard_error(text: str, words: str, check: Check) -> None:
    assert_told(check, "difference-below-standard-error", text, words)


BUDGETS = [
    ("Six replicas, PodDisruptionBudget minAvailable 100%; kubectl drain empties one node after another.", "`minAvailable 100%` allows no eviction"),
    ("The PDB has maxUnavailable: 0, and the node pool is upgraded every month.", "`maxUnavailable: 0`"),
    ("Six replicas, minAvailable: 6. Nodes are drained for maintenance.", "`minAvailable: 6`"),
    ("minAvailable ist 100 %, und jede Wartung entleert einen Knoten.", "`minAvailable ist 100 %`"),
    ("Six répliques, minAvailable: 6 ; la mise à jour vide les nœuds un par un.", "`minAvailable: 6`"),
    ("Seis réplicas, minAvailable: 6; el mantenimiento vacía los nodos.", "`minAvailable: 6`"),
    ("maxUnavailable=0% in the budget; Karpenter consolidates nodes at night.", "`maxUnavailable=0%`"),
    ("Upgrades drain node by node (no --disable-eviction, no --force); minAvailable 100 %.", "`minAvailable 100 %`"),
    ("Six replicas, PodDisruptionBudget minAvailable 5; kubectl drain empties one node after another.", ""),
    ("The PDB has maxUnavailable: 1, and the node pool is upgraded every month.", ""),
    ("Six replicas, minAvailable 100%; an extra replica is started before each drain.", ""),
    ("minAvailable 100%, and the drain runs with --disable-eviction.", ""),
    ("minAvailable 100% so that nobody evicts a pod.", ""),
    ("minAvailable 100% blocks every drain: nodes are rebooted by hand.", ""),
    ("maxUnavailable 0.5 of the zone; nodes are drained.", ""),
]  # fmt: skip


@each("text, words", BUDGETS)
def test_a_budget_leaves_an_eviction_for_a_drain(text: str, words: str, check: Check) -> None:
    assert_told(check, "disruption-budget-blocks-drain", text, words)


BEGINS = "begins at the start of its order after every restart"
LOADERS = [
    ("The order of the shards is fixed. After a restart the data loader begins with the first shard again.", BEGINS),
    ("A restart loads the weights; the state of the data loader is not saved, and it begins again with the first shard.", BEGINS),
    ("The loader's position is not saved in the checkpoint: after a failure it starts over.", BEGINS),
    ("After each requeue the sampler starts again at sample 0 of the same permutation.", BEGINS),
    ("Nach jedem Neustart beginnt der Datenlader wieder von vorn.", BEGINS),
    ("À chaque reprise, le chargeur recommence au début de l'ordre.", BEGINS),
    ("Tras cada reinicio el cargador empieza de nuevo por el primer fragmento.", BEGINS),
    ("After a restart the data loader skips the samples that were consumed; no shard is read from the beginning.", ""),
    ("The state of the loader is saved with each checkpoint; a restart continues at the next sample.", ""),
    ("After a restart the loader starts over with a new seed.", ""),
    ("The data loader begins with the first shard again in the second epoch; a restart loads its state.", ""),
    ("The data loader reads 4 GB/s; a restart takes 10 min.", ""),
    ("Nach jedem Neustart überspringt der Datenlader die gelesenen Proben.", ""),
    ("A restart of the job begins with the first node of the list; the data loader has its own state.", ""),
]  # fmt: skip


@each("text, words", LOADERS)
def test_a_restart_goes_on_in_the_order_of_the_data(text: str, words: str, check: Check) -> None:
    assert_told(check, "data-order-starts-over", text, words)


ACTIONS = [
    ("Xid 79: reset the GPU with nvidia-smi --gpu-reset and return the node.", "asks for a restart of the node, but the text answers it with a reset of the GPU"),
    ("Xid 79 (fallen off the bus): do not reboot, run nvidia-smi -r.", "a reset of the GPU"),
    ("On Xid 79 the job is requeued on the same node.", "a restart of the job"),
    ("On Xid 79 the job is requeued on another node.", ""),
    ("On Xid 79: restart the job.", "a restart of the job"),
    ("Xid 95: restart the job on the same GPU. Xid 94: restart the application.", "Xid 95 (uncontained memory error) asks for a reset of the GPU"),
    ("Xids 119 and 120 are ignored, the job continues.", "Xid 119"),
    ("Xid 64: keine Maßnahme.", "Xid 64"),
    ("Xid 79 : on ignore, relancer le job.", "a restart of the job"),
    ("Xid 79: el nodo no se reinicia, se restablece la GPU.", "a reset of the GPU"),
    ("Xid 79: reboot the node, check its GPUs, and return it.", ""),
    ("Xid 79: drain the node and open a case.", ""),
    ("Xid 95: stop the job, reset the GPU before the next one.", ""),
    ("Xid 63: finish the job. Xid 94: restart the application.", ""),
    ("Xid 79: Neustart, also reboot des Knotens.", ""),
    ("The dashboard counts Xid 79 by node.", ""),
    ("Xid 48 and 74: reset the GPU.", ""),
]  # fmt: skip


@each("text, words", ACTIONS)
def test_a_runbook_takes_the_action_of_the_list(text: str, words: str, check: Check) -> None:
    assert_told(check, "xid-action-unfit", text, words)


def test_the_actions_are_those_of_nvidia_alone(check: Check) -> None:
    text = "Xid 79: reset the GPU and return the node."
    assert told(check, "xid-action-unfit", text, CLUSTER)
    assert not told(check, "xid-action-unfit", text, "platform: mi300x-ubb8, nodes: 4")


FORMATS = [
    ("Saved with --ckpt-format torch at tp 8, pp 4. The new cluster resumes as it is with tp 8, pp 2.", "loaded with another pp, but the format torch"),
    ("ckpt_format: torch, tp 4 pp 2; it is loaded with tp 8 pp 2 after the move.", "another tp"),
    ("We keep --ckpt-format torch: tp=4, pp=4 before, tp=8, pp=2 after the restart.", "another pp and tp"),
    ("Gespeichert mit --ckpt-format torch bei tp 8, pp 4; der neue Cluster lädt mit tp 8, pp 2.", "another pp"),
    ("Enregistré avec --ckpt-format torch, tp 8, pp 4 ; la reprise se fait en tp 8, pp 2.", "another pp"),
    ("Guardado con --ckpt-format torch, tp 8, pp 4; se reanuda con tp 8, pp 2.", "another pp"),
    ("DeepSpeed: ZeRO checkpoints of 64 ranks are loaded by 48 ranks instead of 64.", "another dp, but the format ZeRO"),
    ("FSDP saves LOCAL_STATE_DICT, and a restart loads it with another number of GPUs.", "another dp"),
    ("Saved with --ckpt-format torch_dist at tp 8, pp 4. The new cluster resumes with tp 8, pp 2.", ""),
    ("--ckpt-format torch at tp 8, pp 4 is converted with tools/checkpoint/convert.py, then loaded with pp 2.", ""),
    ("--ckpt-format torch at tp 8, pp 4; from 64 to 32 GPUs, it is loaded with the same degrees.", ""),
    ("--ckpt-format torch; the job restarts from 64 to 48 GPUs with tp 8, pp 4.", ""),
    ("DeepSpeed: ZeRO checkpoints, converted with ds_to_universal and loaded with load_universal by 48 ranks instead of 64.", ""),
    ("DeepSpeed: ZeRO checkpoints are loaded by the same number of ranks.", ""),
    ("FSDP saves SHARDED_STATE_DICT, and a restart loads it with another number of GPUs.", ""),
    ("--ckpt-format torch at tp 8, pp 4; evaluation at tp 8, pp 1 loads the weights only.", ""),
    # a format that may be split again, or several that may not: which of them is loaded?
    ("Saved with --ckpt-format torch before and torch_dist now, at tp 8, pp 4; it is loaded with tp 8, pp 2.", ""),
    ("FSDP saves LOCAL_STATE_DICT, Megatron --ckpt-format torch at tp 8, pp 4; it is loaded with tp 8, pp 2.", ""),
    ("Saved with --ckpt-format torch at tp 8, pp 4, beside a universal checkpoint; it is loaded with tp 8, pp 2.", "the format torch"),
    ("Per-rank torch filesets are slow. Those per-rank torch files of tp 8, pp 4 are loaded with tp 8, pp 2.", "the format torch"),
    ("Saved at tp 8, pp 4 and loaded with tp 8, pp 2: --ckpt-format torch", "the format torch"),
    ("Saved at tp 8, pp 4 and loaded with tp 8, pp 2: --ckpt-format torch_own", ""),
]  # fmt: skip


@each("text, words", FORMATS)
def test_a_checkpoint_is_loaded_with_degrees_that_its_format_allows(text: str, words: str, check: Check) -> None:
    assert_told(check, "checkpoint-not-resharded", text, words)


def test_the_layout_has_the_new_degrees(check: Check) -> None:
    text = "Saved with --ckpt-format torch at tp 8, pp 4; the new cluster resumes from the directory as it is."
    layout = "workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512}\nlayout: {framework: megatron-core, tp: 8, pp: %d}\n"
    assert told(check, "checkpoint-not-resharded", text, CLUSTER, layout % 2)
    assert not told(check, "checkpoint-not-resharded", text, CLUSTER, layout % 4)


def test_a_job_that_shrinks_needs_a_format_for_another_dp(check: Check) -> None:
    text = "DeepSpeed saves ZeRO checkpoints every hour."
    assert told(check, "checkpoint-not-resharded", text, CLUSTER, "operations: {recovery: shrink}\n")
    assert not told(check, "checkpoint-not-resharded", text, CLUSTER, "operations: {recovery: restart}\n")


P5 = "platform: aws-p5-48xlarge, nodes: 16"
ND = "platform: azure-nd-h200-v5, nodes: 16"
A3 = "platform: gcp-a3-ultragpu-8g, nodes: 16"
CANCELED = [
    (P5, "An EC2 Capacity Block for 28 days. If the data are late, we cancel the block 48 h before its start and get a full refund.", "EC2 Capacity Blocks for ML cannot be canceled once bought"),
    (P5, "The capacity block can be canceled until the day before.", "cannot be canceled"),
    (P5, "If the vendor is late, we cancel the Capacity Block and get the money back.", "cannot be canceled"),
    (P5, "Unused weeks of the Capacity Blocks are given back for a refund.", "cannot be canceled"),
    (P5, "A Capacity Block cannot be cancelled, so it begins a week after delivery.", ""),
    (P5, "16 Instanzen als Capacity Block. Verzögert sich die Freigabe, stornieren wir den Block und bekommen das Geld zurück.", "cannot be canceled"),
    (P5, "Un Capacity Block de 28 jours. En cas de retard, nous annulons le bloc et sommes remboursés.", "cannot be canceled"),
    (P5, "Un Capacity Block de 28 días. Si los datos se retrasan, cancelamos el bloque con reembolso.", "cannot be canceled"),
    (A3, "Three years of committed use; the commitment is canceled if the project ends early.", "committed use discounts of Google Cloud cannot be canceled"),
    (ND, "An Azure savings plan for three years, which we cancel when the project ends.", "Azure savings plans for compute cannot be canceled"),
    (P5, "A Savings Plan of one year, returned 30 days after the purchase if nothing runs.", "can be returned within 7 days of the purchase only"),
    (P5, "A Savings Plan of one year, returned 5 days after the purchase if nothing runs.", ""),
    (P5, "A Savings Plan of one year, returned 7 days after the purchase if nothing runs.", ""),
    (P5, "A Savings Plan of one year, returned 8 days after the purchase if nothing runs.", "can be returned within 7 days of the purchase only"),
    (P5, "A Savings Plan, returned 5 days after the purchase, before the 30 days of the first bill end.", ""),
    (P5, "A Savings Plan of one year, returned 30 days after the start of the project.", ""),
    (P5, "An EC2 Capacity Block for 28 days. The block cannot be canceled, so it is bought when the data are there.", ""),
    (P5, "An EC2 Capacity Block for 28 days. The order of the storage is canceled if the data are late.", ""),
    (P5, "A Capacity Block; jobs are canceled when its end is near.", ""),
    (P5, "On-demand capacity reservations are canceled when the run ends.", ""),
    (A3, "Flexible start; the queued request is canceled if nothing comes.", ""),
]  # fmt: skip


@each("cluster, text, words", CANCELED)
def test_a_plan_cancels_what_its_provider_takes_back(cluster: str, text: str, words: str, check: Check) -> None:
    found = [message for _, message in told(check, "cancellation-not-offered", text, cluster)]
    assert any(words in one for one in found) if words else not found, (text, found)


A3_MEGA = "platform: gcp-a3-megagpu-8g, nodes: 16"
LASTING = [
    (P5, "A single Capacity Block covers the run of nine months.", "lasts 182 days at most, but the plan counts on nine months"),
    (P5, "We reserve the entire 30 weeks as one Capacity Block.", "30 weeks"),
    (P5, "An EC2 Capacity Block of 26 weeks is booked.", ""),  # 182 days
    (P5, "An EC2 Capacity Block of 27 weeks is booked.", "27 weeks"),
    (P5, "Der Capacity Block läuft 200 Tage.", "200 Tage"),
    (P5, "The run takes nine months, so one Capacity Block is not enough; two blocks are booked back to back.", ""),
    (P5, "Capacity Blocks cover the nine months.", ""),
    (P5, "A Capacity Block lasts 182 days at most, and the run takes nine months.", ""),
    (ND, "A single Capacity Block covers the run of nine months.", ""),
    (A3_MEGA, "The pretraining of six weeks runs on A3 Mega obtained by Flex-start, in one go.", "lasts 7 days at most, but the plan counts on six weeks"),
    (A3_MEGA, "DWS Flex Start gives us the GPUs for 30 days.", "30 days"),
    (A3_MEGA, "Für zwei Wochen am Stück holen wir die Maschinen über flex-start.", "zwei wochen"),
    (A3_MEGA, "Flex-start VMs run for seven days, so the six weeks are cut in parts with a checkpoint.", ""),
    (A3_MEGA, "Fine-tuning of two days a month uses Flex-start VMs of a week at most.", ""),
    (A3_MEGA, "A three-week pretraining run on Flex-start VMs.", "three-week"),
    (A3_MEGA, "The nodes are reserved in calendar mode for 120 days.", "lasts 90 days at most, but the plan counts on 120 days"),
    (A3_MEGA, "The nodes are reserved in calendar mode for 90 days.", ""),
    (A3_MEGA, "The nodes are reserved in calendar mode; backups are kept elsewhere.", ""),
]  # fmt: skip


@each("cluster, text, words", LASTING)
def test_an_offer_lasts_as_long_as_its_provider_says(cluster: str, text: str, words: str, check: Check) -> None:
    found = [message for _, message in told(check, "term-outlasts-offer", text, cluster)]
    assert any(words.lower() in one.lower() for one in found) if words else not found, (text, found)


def test_one_offer_for_the_whole_term_is_compared_with_the_term(check: Check) -> None:
    term = "procurement: {currency: USD, term: %d days}\n"
    whole = "The machine is a single Capacity Block, reserved for the whole term."
    ((_, message),) = told(check, "term-outlasts-offer", whole, P5, term % 183)
    assert message == "an EC2 Capacity Block lasts 182 days at most, but the plan counts on a term of 183 days"
    assert not told(check, "term-outlasts-offer", whole, P5, term % 182)
    assert not told(check, "term-outlasts-offer", "A Capacity Block for the tests.", P5, term % 400), (
        "a part of the term"
    )


def test_limits_of_dollars_come_from_the_prices(check: Check) -> None:
    bought = "procurement: {currency: USD, term: 1 years, prices: {node_hour: %s}}\n"
    plan = "A Savings Plan of one year, which is returned within 5 days of the purchase."
    # 16 x 55 = 880 USD an hour
    ((_, message),) = told(check, "cancellation-not-offered", plan, P5, bought % 55)
    assert "up to 100 dollars an hour, but the nodes cost 880" in message
    ((_, message),) = told(check, "cancellation-not-offered", plan, P5, bought % "[55, 60]")
    assert "but the nodes cost 880" in message, "the least of a range"
    for price in (6, 6.25):  # 16 x 6.25 = 100 USD an hour
        assert not told(check, "cancellation-not-offered", plan, P5, bought % price)
    assert not told(check, "cancellation-not-offered", plan, P5, bought.replace("USD", "EUR") % 55), "limits in dollars"
    reservation = "An Azure reservation for one year, which we cancel when the project ends early."
    # 16 x 60 x 8,766 h = 8,415,360 USD
    ((_, message),) = told(check, "cancellation-not-offered", reservation, ND, bought % 60)
    assert "up to 50,000 dollars in twelve months, but this one is 8,4" in message
    assert not told(check, "cancellation-not-offered", reservation, ND, bought % 0.3)


def assert_told(check: Check, rule: str, text: str, words: str) -> None:
    """A rule reports a text in some words, or not at all without them."""
    found = [message for _, message in told(check, rule, text, CLUSTER)]
    assert any(words in one for one in found) if words else not found, (text, found)
