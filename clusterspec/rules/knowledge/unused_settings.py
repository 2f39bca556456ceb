"""Settings of models, services and reinforcement learning that the rest of the design leaves without effect."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.records import NamedTuple
from clusterspec.spec.model import (
    AttentionWindowSpec,
    LayoutSpec,
    ModelSpec,
    RlSpec,
    ServingSpec,
    WeightSyncSpec,
    WorkloadSpec,
)


class UnusedSetting(NamedTuple):
    """A key without effect: its path, the reason, the remedy, and the severity (empty for the usual one)."""

    at: str
    message: str
    help: str
    severity: str = ""


REMOVE = "remove the key"
MODEL, RL, SERVING = "workload.model", "workload.rl", "workload.serving"


def unused_settings(written: WorkloadSpec, keys: LayoutSpec, model: Model) -> Iterator[UnusedSetting]:
    """Settings of the model, of serving and of reinforcement learning without effect."""
    if isinstance(written.model, ModelSpec):
        yield from unused_model_sizes(written.model, model)
    if written.rl is not None:
        yield from unused_rl_settings(written.rl, written, model)
    if written.serving is not None:
        yield from unused_serving_settings(written.serving, keys)


def unused_model_sizes(written: ModelSpec, model: Model) -> Iterator[UnusedSetting]:
    """Sizes of a model that limit or describe nothing."""
    longest, window, sparse = model.max_sequence_length, written.attention_window, written.sparse_attention
    tokens = window.tokens if isinstance(window, AttentionWindowSpec) else window
    within = f"the model's longest sequence has {longest:,} tokens: attention is never limited" if longest else ""
    if longest and tokens and tokens > longest:
        at = f"{MODEL}.attention_window" + ".tokens" * isinstance(window, AttentionWindowSpec)
        yield UnusedSetting(at, f"a window of {tokens:,} tokens has no effect: {within}", REMOVE)
    if longest and sparse is not None and sparse.tokens and sparse.tokens >= longest:
        message = f"an index that ranks {sparse.tokens:,} tokens has no effect: {within}"
        yield UnusedSetting(f"{MODEL}.sparse_attention.tokens", message, "state the tokens that a query attends to")
    nodes, each = written.routing.max_nodes if written.routing else None, model.experts_per_token
    if nodes and each and nodes >= each:
        message = f"`max_nodes: {nodes}` limits nothing: the {each} experts of a token lie on {each} nodes at most"
        yield UnusedSetting(f"{MODEL}.routing.max_nodes", message, REMOVE)
    if model.experts and written.shared_expert_ffn_hidden and not model.shared_experts:
        message = "`shared_expert_ffn_hidden` has no effect: the model has no shared experts"
        help_ = "state `shared_experts`, or remove the key"
        yield UnusedSetting(f"{MODEL}.shared_expert_ffn_hidden", message, help_)
    if model.latent and written.kv_heads is not None and written.kv_heads not in {1, model.heads}:
        message = f"`kv_heads: {written.kv_heads}` has no effect: with latent attention every head has keys and values of its own"
        yield UnusedSetting(f"{MODEL}.kv_heads", message, "remove the key, or `latent_attention`")
    linear = written.linear_attention
    if linear is not None and linear.kind not in {None, "kimi-delta"}:
        for key in ("gate_rank", "output_gate_rank"):
            if getattr(linear, key):
                message = f"`{key}` describes Kimi delta attention, but the recurrence is {linear.kind}"
                yield UnusedSetting(f"{MODEL}.linear_attention.{key}", message, REMOVE)


def unused_rl_settings(rl: RlSpec, work: WorkloadSpec, model: Model) -> Iterator[UnusedSetting]:
    """Settings of roles and of the weight transfer that do not apply to the stated placement and method."""
    if rl.critic is not None and rl.algorithm not in {None, "ppo"}:
        message = f"{rl.algorithm} compares the samples of a prompt, so that no critic takes part"
        yield UnusedSetting(f"{RL}.critic", message, "remove the key, or write `algorithm: ppo`")
    if rl.reference is not None and rl.algorithm == "dapo":
        message = "dapo has no penalty for divergence, so that no reference model takes part"
        yield UnusedSetting(f"{RL}.reference", message, "remove the key, or write `algorithm: grpo`")
    for name in ("reference", "critic", "reward"):
        role = getattr(rl, name)
        if role is not None and role.offload and (role.nodes or role.pool):
            message = f"`offload` frees memory of the trainer, but the {name} model has nodes of its own"
            yield UnusedSetting(f"{RL}.{name}.offload", message, REMOVE, "note")
    adapters = work.trainable is not None and work.trainable.method != "full"
    reference = rl.reference
    if adapters and reference is not None and reference.model is None and (reference.nodes or reference.pool):
        message = "with adapters, the reference model is the trainer's frozen weights without them: the nodes hold a second copy"
        key = "nodes" if reference.nodes else "pool"
        yield UnusedSetting(f"{RL}.reference.{key}", message, f"drop `{key}`, and give its nodes to another role")
    if rl.weight_sync is not None:
        yield from _unused_sync_settings(rl.weight_sync, rl, model)


def _unused_sync_settings(sync: WeightSyncSpec, rl: RlSpec, model: Model) -> Iterator[UnusedSetting]:
    at = f"{RL}.weight_sync"
    if sync.ranks is not None and sync.method not in {None, "nccl"}:
        message = f"`ranks` says which ranks join a broadcast, but the method is {sync.method}"
        yield UnusedSetting(f"{at}.ranks", message, REMOVE, "note")
    if sync.gather == "every-expert" and not model.experts:
        message = "`gather: every-expert` has no effect: the model has no experts"
        yield UnusedSetting(f"{at}.gather", message, "write `packed` or `single`")
    if sync.requests == "kept" and rl.max_staleness == 0:
        message = "no request is in flight when weights change: with `max_staleness: 0` rollout waits for them"
        yield UnusedSetting(f"{at}.requests", message, "remove the key, or let rollout run ahead", "note")


def unused_serving_settings(serving: ServingSpec, layout: LayoutSpec) -> Iterator[UnusedSetting]:
    """Settings of engines and requests that do not apply to this load or layout."""
    sides = serving.disaggregated
    engines = [side for side in ((sides.prefill, sides.decode) if sides is not None else ()) if side is not None]
    replicas = max(engine.attention_dp or 1 for engine in engines) if engines else layout.attention_dp or 1
    if (serving.hold_steps or 1) > 1 and replicas == 1:
        message = "`hold_steps` holds prompts until each replica of attention has one, but an engine has one replica"
        yield UnusedSetting(f"{SERVING}.hold_steps", message, "remove the key, or state `attention_dp`")
    for key in ("tp", "pp", "attention_dp", "ep"):
        if len(engines) == 2 and (getattr(layout, key) or 1) > 1:
            message = f"`{key}` has no effect: prefill and decode have degrees of their own"
            yield UnusedSetting(f"layout.{key}", message, f"state `{key}` in `disaggregated`, and remove it here")
            break
    drafted = serving.speculative
    if drafted is not None and drafted.acceptance and drafted.tokens == 0:
        message = "no tokens are drafted (`tokens: 0`), so that none are accepted"
        yield UnusedSetting(f"{SERVING}.speculative.acceptance", message, "state `tokens`, or remove the section")
    elif drafted is not None and drafted.tokens and drafted.acceptance == 0:
        message = f"none of {drafted.tokens} drafted tokens is accepted: each step verifies them, and gains no token"
        yield UnusedSetting(f"{SERVING}.speculative.acceptance", message, "state the share that was measured")
    session = serving.session
    if session is not None and session.turns == 1 and session.growth:
        message = "`growth` is between the turns of a conversation, but it has one turn"
        yield UnusedSetting(f"{SERVING}.session.growth", message, "state `turns`, or remove the section", "note")
    if serving.output_tokens == 1:
        yield from _settings_of_later_tokens(serving)


def _settings_of_later_tokens(serving: ServingSpec) -> Iterator[UnusedSetting]:
    """Settings of the tokens after the first, in a service that generates one token."""
    targets, drafted = serving.targets, serving.speculative
    stated = [f"targets.{key}" for key in ("tpot", "itl") if targets is not None and getattr(targets, key) is not None]
    stated += ["speculative"] * (drafted is not None and bool(drafted.tokens))
    for key in stated:
        message = f"`{key.rpartition('.')[2]}` concerns the tokens after the first, but a request generates one token"
        yield UnusedSetting(f"{SERVING}.{key}", message, "remove the key, or correct `output_tokens`", "note")
