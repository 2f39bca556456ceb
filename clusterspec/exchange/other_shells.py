"""Files of other languages that start commands, as the shell script that starts the same ones, line by line.

Makefiles (GNU make manual), recipes of just, units of systemd (systemd.service(5), systemd.exec(5)), Dockerfiles
(docker.com, Dockerfile reference), scripts of csh (csh(1)), fish and PowerShell, and scripts with expressions of Jinja.
A test of another language becomes one that the script leaves undecided.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from shlex import quote

from clusterspec.exchange.import_result import InputFile
from clusterspec.standard import recent

LARGEST_SCRIPT = 256 << 10
"""Bytes of the largest file that is rewritten; a longer text is data."""
_UNDECIDED = "test_of_another_language"
"""A command that no script defines, in place of a test."""


class RewrittenFile(InputFile):
    """A file as a script of a shell; its lines are those of the original."""


def as_shell_script(file: InputFile) -> InputFile:
    """The shell script that starts the commands of a file in another language; any other file as it is."""
    if isinstance(file, RewrittenFile) or len(file.data) > LARGEST_SCRIPT:
        return file
    return _rewritten_file(file)


@recent(2)
def _rewritten_file(file: InputFile) -> InputFile:
    rewrite = _rewriter(file)
    if rewrite is None:
        return file
    lines = "\n".join(rewrite(file.text.split("\n")))
    return RewrittenFile(file.name, lines.encode(), file.part)


# Makefiles

_MAKE_VALUE = re.compile(
    r"(?:export[ \t]+|override[ \t]+)?(?P<name>[A-Za-z_]\w{0,60})[ \t]*(?P<sign>\?|:{1,3}|\+)?=[ \t]*(?P<value>.*)"
)
_MAKE_TEST = re.compile(r"[ ]*(?P<else>else[ \t]+)?if(?P<not>n?)(?:eq|def)\b.*")
_MAKE_NAME = re.compile(r"\$\((?P<name>[A-Za-z_]\w{0,60})\)")
_INCLUDE = re.compile(r"[-s]?include[ \t]+(?P<file>\S{1,200})[ \t]*")


def _make_lines(lines: Sequence[str]) -> Iterator[str]:
    """The recipes of a Makefile as commands, after its variables; conditionals are undecided."""
    continued = ""
    for line in lines:
        ends = line.rstrip().endswith("\\")
        if continued == "value":
            yield _make_words(line) if ends else f'{_make_words(line)}"'
        elif continued or line.startswith("\t"):
            yield _make_words(line) if continued == "recipe" else _make_words(line.lstrip("\t @+-"))
        elif found := _MAKE_VALUE.match(line):
            yield _make_assignment(found, ends)
        else:
            yield _make_statement(line)
        assigned = continued == "value" or (not continued and not line.startswith("\t") and "=" in line)
        continued = "" if not ends else "value" if assigned else "recipe"


def _make_assignment(found: re.Match[str], continued: bool) -> str:
    value = _make_words(found["value"].partition(" #")[0].rstrip() if not continued else found["value"])
    value = value.replace('"', "")
    end = "" if continued else '"'
    if found["sign"] == "?":
        return f'{found["name"]}="${{{found["name"]}:-{value}}}"' if not continued else f'{found["name"]}="{value}'
    return f'{found["name"]}{"+=" if found["sign"] == "+" else "="}"{" " if found["sign"] == "+" else ""}{value}{end}'


def _make_words(text: str) -> str:
    """Words of a recipe with variables as a shell has them."""
    text = text.replace("$$", "$").replace("$(shell ", "$(")
    return _MAKE_NAME.sub(r"${\g<name>}", text)


def _make_statement(line: str) -> str:
    """A conditional or an inclusion of make; a rule becomes an empty line."""
    if found := _MAKE_TEST.fullmatch(line):
        return f"{'el' if found['else'] else ''}if {_UNDECIDED}; then :"
    if found := _INCLUDE.fullmatch(line):
        return f"source {found['file']}"
    return {"else": "else :", "endif": "fi"}.get(line.strip(), "")


# Recipes of just

_JUST_VALUE = re.compile(r"(?:export[ \t]+)?(?P<name>[A-Za-z_]\w{0,60})[ \t]*:=[ \t]*(?P<value>.*)")
_JUST_HEAD = re.compile(r"@?[A-Za-z_][\w-]{0,60}(?P<given>[^:\n]{0,300}):(?!=).*")
_JUST_GIVEN = re.compile(
    r"(?<=[ \t+*$])(?P<name>[A-Za-z_]\w{0,60})=(?P<value>\"[^\"]{0,200}\"|'[^']{0,200}'|[^\s\"']{1,80})"
)
_BRACED = re.compile(r"\{\{-?[ \t]*(?P<name>[A-Za-z_][\w.]{0,80})[ \t]*-?\}\}")


def _just_lines(lines: Sequence[str]) -> Iterator[str]:
    """The recipes of a justfile as commands, after its variables and the defaults of their parameters."""
    for line in lines:
        if line[:1] in {" ", "\t"}:
            yield _BRACED.sub(_braced_name, line.strip().lstrip("@-"))
        elif found := _JUST_VALUE.fullmatch(line):
            yield f"{found['name']}={found['value']}"
        elif found := _JUST_HEAD.fullmatch(line):
            given = _JUST_GIVEN.finditer(found["given"])
            yield "; ".join(f"{each['name']}=${{{each['name']}:-{_unquoted(each['value'])}}}" for each in given)
        else:
            yield ""


def _braced_name(found: re.Match[str]) -> str:
    return f"${{{found['name'].replace('.', '_')}}}"


def _unquoted(text: str) -> str:
    return text.strip().strip("\"'")


# Scripts with expressions of Jinja

_VALUE_IN_BRACES = r"[\w./-]{1,60}|\"[^\"{}]{0,60}\"|'[^'{}]{0,60}'"
_DEFAULTED = re.compile(
    rf"\{{\{{-?[ \t]*(?P<name>[A-Za-z_][\w.]{{0,80}})[ \t]*\|[ \t]*default\([ \t]*(?P<value>{_VALUE_IN_BRACES})"
    r"[^{}]{0,40}\}\}"
)
_JINJA_LINE = re.compile(
    r"[ \t]*\{%-?[ \t]*(?P<word>if|elif|else|endif|for|endfor|set)\b(?P<rest>[^%\n]{0,300})-?%\}[ \t]*"
)
_JINJA_SET = re.compile(r"[ \t]*(?P<name>[A-Za-z_]\w{0,60})[ \t]*=[ \t]*(?P<value>[^{}]{1,200})")
_OTHER_EXPRESSION = re.compile(r"\{\{[^{}\n]{0,200}\}\}")
_JINJA_WORDS = {
    "if": f"if {_UNDECIDED}; then :",
    "elif": f"elif {_UNDECIDED}; then :",
    "else": "else :",
    "endif": "fi",
    "for": "for item_of_template in $items_of_template; do :",
    "endfor": "done",
}


def _jinja_lines(lines: Sequence[str]) -> Iterator[str]:
    """A script with its expressions as variables, and its tests as tests that are undecided."""
    for line in lines:
        if found := _JINJA_LINE.fullmatch(line):
            stated = _JINJA_SET.match(found["rest"]) if found["word"] == "set" else None
            yield (
                f"{stated['name']}={quote(_unquoted(stated['value']))}"
                if stated
                else _JINJA_WORDS.get(found["word"], "")
            )
        else:
            with_defaults = _DEFAULTED.sub(_defaulted_name, line)
            yield _OTHER_EXPRESSION.sub("${EXPRESSION_OF_TEMPLATE}", _BRACED.sub(_braced_name, with_defaults))


def _defaulted_name(found: re.Match[str]) -> str:
    return f"${{{found['name'].replace('.', '_')}:-{_unquoted(found['value'])}}}"


# Units of systemd

_UNIT_KEY = re.compile(r"(?P<key>[A-Za-z]{1,40})[ \t]*=[ \t]*(?P<value>.*)")
_UNIT_VARIABLE = re.compile(
    r"(?P<quote>[\"']?)(?P<name>[A-Za-z_]\w{0,60})=(?P<value>(?:[^\s\"'\\]|(?<=[\w,:]) ){0,300})(?P=quote)"
)


def _unit_lines(lines: Sequence[str]) -> Iterator[str]:
    """The command of a unit, after its variables."""
    within = False
    for line in lines:
        found = None if within else _UNIT_KEY.fullmatch(line)
        key = found["key"] if found else ""
        if within or key == "ExecStart":
            yield line if within or found is None else found["value"].lstrip("-@:+!")
            within = line.rstrip().endswith("\\")
        elif key == "Environment" and found:
            yield "; ".join(
                f"export {each['name']}={quote(each['value'])}" for each in _UNIT_VARIABLE.finditer(found["value"])
            )
        else:
            yield f"source {found['value'].lstrip('-')}" if key == "EnvironmentFile" and found else ""


# Dockerfiles

_INSTRUCTION = re.compile(r"[ \t]*(?P<name>FROM|ENV|ARG|ENTRYPOINT|CMD)[ \t]+(?P<value>.*)", re.IGNORECASE | re.DOTALL)
_ENV_PAIR = re.compile(r"(?P<name>[A-Za-z_]\w{0,60})=(?P<value>\"[^\"]{0,300}\"|'[^']{0,300}'|[^\s\"']{0,300})")


def _docker_lines(lines: Sequence[str]) -> Iterator[str]:
    """The command that an image starts by its last entry point and command, after its variables."""
    image, started, empty = "", dict[str, tuple[int, list[str]]](), dict[int, str]()
    for number, text in _instructions(lines):
        if not (found := _INSTRUCTION.fullmatch(text)):
            continue
        name, value = found["name"].upper(), found["value"].strip()
        if name == "FROM":
            image, started = value.split()[0] if value else "", {}
        elif name in {"ENTRYPOINT", "CMD"}:
            started[name] = (number, _exec_words(value))
            if name == "ENTRYPOINT":
                started.pop("CMD", None)
        else:
            empty[number] = _docker_variables(name, value)
    if not any(word.startswith("--") for _, words in started.values() for word in " ".join(words).split()):
        yield from lines  # an image alone, whose options a container states
        return
    words = [word for name in ("ENTRYPOINT", "CMD") if name in started for word in started[name][1]]
    last = max(number for number, _ in started.values())
    empty[last] = " ".join(words if "ENTRYPOINT" in started else ["docker", "run", image, *words])
    yield from (empty.get(number, "") for number in range(len(lines)))


def _instructions(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The instructions of a Dockerfile with the index of their first line, continued lines joined."""
    start, parts = 0, list[str]()
    for number, line in enumerate(lines):
        if not parts and line.lstrip().startswith("#"):
            continue
        start = start if parts else number
        if parts and line.lstrip().startswith("#"):
            continue
        parts.append(line.rstrip().removesuffix("\\"))
        if not line.rstrip().endswith("\\"):
            yield start, " ".join(parts)
            parts = []


def _exec_words(value: str) -> list[str]:
    """The words of an entry point or command in the form of a list, or of a shell."""
    try:
        listed = json.loads(value) if value.startswith("[") else None
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        return [value]
    words = [str(each) for each in listed]
    if len(words) > 2 and words[0].rpartition("/")[2] in {"sh", "bash"} and words[1].startswith("-"):
        return [words[2]]
    return [word if re.fullmatch(r"\$\{?\w{1,60}\}?", word) else quote(word) for word in words]


def _docker_variables(name: str, value: str) -> str:
    pairs = [(each["name"], _unquoted(each["value"])) for each in _ENV_PAIR.finditer(value)]
    if name == "ENV" and not pairs and " " in value:
        pairs = [(value.split(maxsplit=1)[0], _unquoted(value.split(None, 1)[1]))]
    if name == "ARG":
        return "; ".join(f"{each}=${{{each}:-{held}}}" for each, held in pairs)
    return "; ".join(f"export {each}={quote(held)}" for each, held in pairs if each.isidentifier())


# csh, fish and PowerShell

_CSH_SET = re.compile(r"(?P<lead>[ \t]*)set[ \t]+(?P<name>[A-Za-z_]\w{0,60})[ \t]*=[ \t]*(?P<value>.*)")
_CSH_ENV = re.compile(r"(?P<lead>[ \t]*)setenv[ \t]+(?P<name>[A-Za-z_]\w{0,60})[ \t]+(?P<value>.*)")
_CSH_COUNT = re.compile(r"[ \t]*@[ \t]*(?P<name>[A-Za-z_]\w{0,60})[ \t]*=[ \t]*(?P<value>.*)")
_CSH_IF = re.compile(r"(?P<lead>[ \t]*)(?P<else>else[ \t]+)?if[ \t]*\(.*\)[ \t]*then[ \t]*")
_CSH_LOOP = re.compile(r"[ \t]*(?:foreach|while)\b.*")


def _csh_lines(lines: Sequence[str]) -> Iterator[str]:
    """A script of csh with its assignments and tests as a shell has them."""
    for line in lines:
        if found := _CSH_SET.fullmatch(line) or _CSH_ENV.fullmatch(line):
            yield f"{found['lead']}export {found['name']}={found['value']}"
        elif found := _CSH_COUNT.fullmatch(line):
            yield f"{found['name']}=$(({found['value']}))"
        elif found := _CSH_IF.fullmatch(line):
            yield f"{'el' if found['else'] else ''}if {_UNDECIDED}; then :"
        elif _CSH_LOOP.fullmatch(line):
            yield "for item_of_loop in $items_of_loop; do :"
        else:
            yield {"else": "else :", "endif": "fi", "end": "done"}.get(line.strip(), line)


_FISH_SET = re.compile(
    r"set[ \t]+(?:-\w{1,4}[ \t]+|--[a-z]{1,12}[ \t]+){0,4}(?P<name>[A-Za-z_]\w{0,60})[ \t]+(?P<value>[^-].*)"
)


def _fish_lines(lines: Sequence[str]) -> Iterator[str]:
    """A script of fish with the assignments outside of its blocks as a shell has them."""
    for line in lines:
        found = _FISH_SET.fullmatch(line)
        value = found["value"].strip() if found else ""
        held = value if value[:1] in {'"', "'"} else f'"{value}"'
        yield f"{found['name']}={held}" if found else line


_POWER_SET = re.compile(
    r"\$(?:env:)?(?P<name>[A-Za-z_]\w{0,60})[ \t]*=[ \t]*"
    r"(?P<value>[\w./:-]{1,200}|\"[^\"`]{0,200}\"|'[^']{0,200}')[ \t]*"
)


def _power_lines(lines: Sequence[str]) -> Iterator[str]:
    """A script of PowerShell with the assignments outside of its blocks as a shell has them."""
    for line in lines:
        found = _POWER_SET.fullmatch(line)
        plain = line.rstrip()
        continued = f"{plain.removesuffix('`')}\\" if plain.endswith("`") else line
        yield f"{found['name']}={found['value']}" if found else continued


_SHEBANG = re.compile(rb"#!.{0,80}\b(?P<shell>[a-z]{1,8}sh)\b")


def _rewriter(file: InputFile) -> Rewriter | None:
    """The function that rewrites the lines of a file, by its name, its first line and its text; None without one."""
    name, data = file.name.rpartition("/")[2].lower(), file.data
    if found := next((rewriter for names, rewriter in _BY_NAME if names.fullmatch(name)), None):
        return None if found is _docker_lines and b"<<" in data else found
    first = _SHEBANG.match(data[:200].partition(b"\n")[0])
    shell = first["shell"] if first else b""
    if shell in {b"csh", b"tcsh", b"fish"}:
        return _fish_lines if shell == b"fish" else _csh_lines
    is_script = bool(shell) or b"\n#SBATCH" in data
    return _jinja_lines if is_script and (b"{{" in data or b"{%" in data) else None


Rewriter = Callable[[Sequence[str]], Iterator[str]]
_BY_NAME: tuple[tuple[re.Pattern[str], Rewriter], ...] = (
    (re.compile(r"(?:gnu)?makefile|[^\n]{1,200}\.(?:mk|make)"), _make_lines),
    (re.compile(r"\.?justfile|[^\n]{1,200}\.just"), _just_lines),
    (re.compile(r"[^\n]{1,200}\.service"), _unit_lines),
    (re.compile(r"(?:docker|container)file(?:\.[^\n]{1,200})?|[^\n]{1,200}\.dockerfile"), _docker_lines),
    (re.compile(r"[^\n]{1,200}\.t?csh"), _csh_lines),
    (re.compile(r"[^\n]{1,200}\.fish"), _fish_lines),
    (re.compile(r"[^\n]{1,200}\.ps1"), _power_lines),
)
"""How the lines of a file are rewritten, by its name in small letters."""
