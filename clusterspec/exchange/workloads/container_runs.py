"""Arguments that ``docker run`` or ``podman run`` passes to the entry point of a site's own image of an engine.

The image does not show what it starts. Options that one engine alone has do (vllm serve --help; SGLang,
python/sglang/srt/server_args.py), or the name of the image together with the options of a launch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from clusterspec.exchange.shell import Command
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.listed_commands import ENGINE_OPTIONS, OWN_BUILD

CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_SWITCHES = frozenset(
    {
        *("--detach", "--rm", "--interactive", "--tty", "--privileged", "--init", "--read-only", "--publish-all"),
        *("--no-healthcheck", "--oom-kill-disable", "--quiet", "--disable-content-trust", "--sig-proxy"),
        *("--replace", "--rmi", "--env-host", "--http-proxy", "--no-hosts", "--tls-verify", "--use-api-socket"),
    }
)
"""Options of ``run`` without a value: those of docker/cli 006ec01b, cli/command/container/opts.go (read 2026-11-25);
``--detach``, and from ``--quiet`` on, those of docker's run.go and of podman as recalled."""
_SHORT = re.compile(r"-[ditPq]+")
_OWN_OPTIONS = {
    "vllm serve": frozenset(
        (
            *("--max-model-len", "--gpu-memory-utilization", "--max-num-seqs", "--max-num-batched-tokens"),
            *(
                "--enable-expert-parallel",
                "--enforce-eager",
                "--data-parallel-size-local",
                "--distributed-executor-backend",
            ),
        )
    ),
    "sglang serve": frozenset(
        (
            *("--mem-fraction-static", "--context-length", "--chunked-prefill-size", "--max-running-requests"),
            *("--enable-dp-attention", "--disable-radix-cache", "--cuda-graph-max-bs", "--tp-size", "--ep-size"),
        )
    ),
}
"""Options that only one engine has, by its command."""
_MODELS = frozenset({"--model", "--model-path"})
_SHARED = frozenset(
    {"--served-model-name", "--tensor-parallel-size", "--tp", "--pipeline-parallel-size", "--data-parallel-size"}
)
_NAMES = {
    "vllm serve": OWN_BUILD,
    "sglang serve": re.compile(r"(?:\S{0,200}/)?[\w.-]{0,80}sglang[\w.-]{0,80}(?:[:@]\S+)?"),
}
_RUN = re.compile(r"\b(?:docker|podman|nerdctl)\s{1,9}(?:container\s{1,9})?run\s")
_IMAGE = re.compile(r"^[ \t-]{0,80}image[ \t]{0,9}:[ \t]{0,9}[\"']?(\S{1,200}?)[\"']?[ \t]*$", re.MULTILINE)
_POD = re.compile(r"^kind[ \t]*:[ \t]*[\"']?(?:Deployment|StatefulSet|LeaderWorkerSet)\b", re.MULTILINE)
_OPTION = re.compile(r"(?<![\w.-])(--[a-z-]{2,40})(?=[\s=\"',\]]|$)", re.MULTILINE)


UNDECIDED = "; options that vLLM and SGLang share do not show which of them an image starts"


def may_run_engine(text: str) -> bool:
    """Whether a text runs a container, and has options of an engine with a model, or patches such a container."""
    options = {match[1] for match in _OPTION.finditer(text)}
    if _POD.search(text) and not _IMAGE.search(text):
        return len(options & ENGINE_OPTIONS) > 1
    if not _RUN.search(text) and not any(OWN_BUILD.fullmatch(match[1]) for match in _IMAGE.finditer(text)):
        return False
    served = bool(options & _MODELS) or bool(re.search(r"(?<!\S)serve\s", text))
    return served and bool(options & (_SHARED | frozenset().union(*_OWN_OPTIONS.values())))


def engine_of_image(command: Command) -> Command | None:
    """The launch that the entry point of an image makes of its arguments; None if they do not show the engine."""
    split = _image_and_arguments(command)
    if split is None or split[0] is not None:
        return None
    _, image, given = split
    serves = bool(given) and given[0].text == "serve"
    options = {word.text.partition("=")[0] for word in given}
    if not serves and not (given and given[0].text.startswith("-") and options & _MODELS):
        return None
    own = [started for started, names in _OWN_OPTIONS.items() if options & names]
    if not own:
        own = [
            started for started, name in _NAMES.items() if name.fullmatch(image.text) and options & (_SHARED | _MODELS)
        ]
    if len(own) != 1:
        return None
    rest = (_on_host(word, command.words) for word in given[serves:])
    return command._replace(words=(*(Word(each, image.line) for each in own[0].split()), *rest))


def _on_host(word: Word, words: Sequence[Word]) -> Word:
    """A word of a command in a container, with a mounted path as that of the host."""
    source = mounted_source(words, word.text) if word.text.startswith("/") else None
    return word if source is None else word._replace(text=source)


_MOUNT = re.compile(r"(?P<source>.{1,400}?):(?P<target>/[^:]{1,300})(?::[\w,]{1,40})?", re.DOTALL)
_BIND = re.compile(
    r"(?:source|src)=(?P<source>[^,]{1,400}),(?:.{0,200},)?(?:target|dst|destination)=(?P<target>/[^,]{1,300})"
)


def mounted_source(words: Sequence[Word], path: str) -> str | None:
    """The path of the host that a container has at a path, by the mounts among the words of its command; None if no
    mount has the path, or if its last part is a variable.

    >>> words = [Word(each, 1) for each in ("docker", "run", "-v", "/data/Qwen3-8B:/model:ro")]
    >>> mounted_source(words, "/model"), mounted_source(words, "/models")
    ('/data/Qwen3-8B', None)
    """
    for option, value in zip(words, [*words[1:], None], strict=True):
        name, _, own = option.text.partition("=")
        given = own if name.startswith("--") and own else value.text if value else ""
        pattern = _MOUNT if name in {"-v", "--volume", "-B", "--bind"} else _BIND if name == "--mount" else None
        found = (_MOUNT.fullmatch(given) if pattern is _MOUNT else pattern and pattern.search(given)) if given else None
        target = found["target"].rstrip("/") if found else ""
        if found and (path.rstrip("/") == target or path.startswith(f"{target}/")):
            source = found["source"].rstrip("/") + path.rstrip("/")[len(target) :]
            return None if "$" in source.rpartition("/")[2] else source
    return None


def engine_at_entry(command: Command) -> Command | None:
    """The launch of an engine that is the entry point of a container (``docker run --entrypoint trtllm-serve …``)."""
    words = [word.text for word in command.words]
    at = next((n for n, word in enumerate(words) if word.partition("=")[0] == "--entrypoint"), None)
    split = _image_and_arguments(command)
    entry = None if at is None else _entry_at(command.words, at)
    if at is None or entry is None or entry.text.rpartition("/")[2] not in _ENTRIES:
        return None
    if "serve" in words[at:]:
        return command._replace(words=(entry, *command.words[words.index("serve", at) :]))
    return command._replace(words=(entry, *split[2])) if split and split[0] else None


def _entry_at(words: Sequence[Word], at: int) -> Word | None:
    """The value of the option at an index."""
    value = words[at].text.partition("=")[2]
    return words[at]._replace(text=value) if value else next(iter(words[at + 1 :]), None)


_ENTRIES = frozenset({"vllm", "sglang", "trtllm-serve"})


def _image_and_arguments(command: Command) -> tuple[Word | None, Word, tuple[Word, ...]] | None:
    """The entry point that a command states for a container, if any, its image, and the words after the image; None if
    the command runs no container.
    """
    words, entry = command.words, None
    texts = [word.text for word in words]
    if not texts or texts[0] not in CONTAINERS or "run" not in texts[:3]:
        return None
    at = texts.index("run") + 1
    while at < len(texts) and texts[at].startswith("-"):
        option = texts[at].partition("=")[0]
        alone = "=" in texts[at] or option in _SWITCHES or _SHORT.fullmatch(option)
        joined = not option.startswith("--") and len(option) > 2
        if option == "--entrypoint":
            entry = _entry_at(words, at)
        at += 1 if alone or joined else 2
    return (entry, words[at], words[at + 1 :]) if at < len(texts) else None
