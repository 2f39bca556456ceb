"""Words of commands in shell scripts, compared with those that Bash itself gives to a command."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from clusterspec.exchange.import_result import FormatError
from clusterspec.exchange.shell import Script, script_of
from clusterspec.exchange.shell_words import Word
from clusterspec.exchange.workloads.keys import _has_alternatives
from tests.effort import telling

SCRIPTS = {
    "words where a variable is set": 'A=1\nB=\nlaunch ${A:+--a "x y" $A} ${B:+--b} ${B+--c} ${NO_ONE:+--d} "${A:+q}"',
    "what a command prints": (
        'A="\n--a 1\n--b\n"\n'
        "launch $(echo \"$A\" | tr '\\n' ' ') $(echo -n x) \"$(echo 'p  q' r)\" $(echo $A) $(echo 'a\nb' | xargs)"
    ),
    "words and quotes": "launch --a 1 '--b c' \"d  e\" f\\ g --h=i",
    "a variable is split unless it is quoted": 'X="--a  1"\nlaunch $X "$X" p${X}q',
    "a default where a variable is not set": "launch ${NO_ONE:-8} ${NO_ONE-4} ${NOBODY:=2} $NOBODY",
    "words of a default": 'launch ${NO_ONE:---a "x y" 2} "${NO_ONE:-p q}" ${NOBODY:=c d} $NOBODY end',
    "a default with dashes": (
        'launch ${NO_ONE:-llama-3} "${NO_ONE:-meta-llama/Llama-3.1-8B}" ${NO_ONE:-x_y-1 z-2} ${NOBODY:=a-b} $NOBODY'
        ' ${NO_ONE:-$NOBODY-c} ${NO_ONE:-d-e.f-g} ${NOBODY:+w-x} "${NOBODY:+y-1 z}"'
    ),
    "a calculated default": "N=4\nlaunch ${NO_ONE:-$((N * 8))} ${NO_ONE:-x-$((N + 1))} ${NOBODY:=$((N - 1))} $NOBODY",
    "a default is not used where a variable is set": "TP=2\nlaunch ${TP:-8} ${TP}",
    "an empty variable takes the default of a colon alone": "X=\nlaunch a ${X:-b} ${X-c} d",
    "an array on lines of its own, its last word included": "ARGS=(\n  --a 1\n  --bf16\n)\nlaunch ${ARGS[@]}",
    "an array keeps words with blanks": 'ARGS=("a b" c)\nARGS+=(\'d e\')\nlaunch "${ARGS[@]}" "x${ARGS[@]}y"',
    "an array within a text": 'A=(--a 1 "x y")\nC="go ${A[@]}"\nlaunch $C',
    "a variable as a test": "X=false\nif $X; then Y=--y; else Y=--n; fi\nlaunch $Y --b",
    "an array that follows another on its line": "A=(--a)\nB=(--b\n)\nlaunch ${A[*]} ${B[@]} --c",
    "arithmetic in brackets": 'N=4\nlaunch $(( (N + 1) * 2 )) $(( N - (1 + 1) )) ""',
    "arithmetic of counts": "N=4\nlaunch $((N * 8)) $((${N} + 1)) $(( (N - 1) / 2 )) $((N % 3))",
    "continuations": "launch --a \\\n  1 \\\n  --b",
    "a text over several lines": 'ARGS="\n  --a 1 \\\n  --b\n"\nlaunch $ARGS',
    "expansions one after another in a text": (
        'A="--a  1"\nB=2\nlaunch "$A $B" "${A}  ${B:-3} $((B * 2)) $A" "x \\\n  $B \\\n$B" "$A$B" " $B"\n'
        'C="$A \\\n $B"\nlaunch $C'
    ),
    "a text is extended": 'X="--a"\nX+=" --b"\nlaunch $X',
    "a function with arguments": 'go() { local n=$1; launch --n $n "$@"; }\ngo 3 "x y"',
    "a test that the script decides": (
        "M=7B\nif [ $M = 13B ]; then L=4; elif [[ $M == 7B ]]; then L=3; else L=1; fi\nlaunch $L"
    ),
    "numbers are compared": "N=4\nif [ $N -gt 1 ] && [ $N -le 4 ]; then X=many; else X=one; fi\nlaunch $X",
    "arithmetic tests": (
        "N=4\nM=0\nif (( N > 1 && N <= 4 )); then X=many; else X=one; fi\nif ((M)); then Y=on; else Y=off; fi\n"
        "if (( N == 4 || M )); then Z=z; fi\nlaunch $X $Y $Z $((N > 1)) $((N != 4)) $((N && M))"
    ),
    "a text with parts replaced": 'T=2_000_000\nN=7B\nlaunch ${T//_} ${T/_/.} "${N/B/ b}" ${N//7B/x} $((${T//_} / 4))',
    "patterns of a test in double brackets": (
        "M=Qwen-72B\nA=1\nif [[ $M == *72B* && $M != llama* ]]; then A=8; fi\nB=1\n[[ $M = Q*-?2B ]] && B=2\nC=1\n"
        '[[ "$M" == *"72"* ]] && C=3\nD=1\n[[ $M == "*72B*" ]] && D=4\nE=1\n[[ $M == [QR]wen-[!1]2B ]] && E=5\n'
        'F=1\n[ "$M" = "Q*" ] && F=6\nlaunch $A $B $C $D $E $F'
    ),
    "patterns of a case": (
        "M=Qwen-72B\ncase $M in\n *7B) A=1;;\n llama*|*72[Bb]) A=8;;\n *) A=2;;\nesac\n"
        "case $M in\n \"*\"*) B=1;;\n Q\\*) B=2;;\n 'Qwen'-*) B=3;;\nesac\nlaunch $A $B"
    ),
    "tests joined before a command": (
        "N=4\nM=7B\nA=1\nB=1\nC=1\nD=1\n(( N > 8 )) && A=2\n[ $N = 4 ] && [ $M = 13B ] && B=2\n"
        "[ $N = 4 ] && [ $M = 7B ] && C=2\n(( N == 4 )) || [ $M = 13B ] || D=2\nlaunch $A $B $C $D"
    ),
    "what follows a test": (
        "N=1\nM=1\nK=1\nJ=1\n[ 1 = 1 ] || N=2\n[ 1 = 2 ] || M=3\n[ 1 = 1 ] && K=4\n[ 1 = 2 ] && J=5\n"
        "launch a$N b$M c$K d$J"
    ),
    "a case": "M=70B\ncase $M in 7B) H=4 ;; 13B|70B) H=8 ;; *) H=1 ;; esac\nlaunch $H",
    "an unset variable is empty in a test": 'if [ -z "$NOT_OF_THIS_SCRIPT" ]; then X=1; fi\nlaunch $X',
    "a pipeline in backquotes": "A=`seq 1 2 | sort -r <(seq 3) | head -n 1`\nlaunch --a 1",
    "comments": "# launch --no\nlaunch --a # --b\n",
    "a variable before a comma, beside quotes": (
        'B=2\nexport A="--a "x=$B,y=$B,z=$B,w=1" --c"\nlaunch $A --d "x="$B,3 z=[$B,4] \'$B,\' "\\$B,$B,"'
    ),
    "a redirected pipeline": "launch --a 2>&1 | cat > /dev/stderr",
    "a line read into an array": 'E="--a 1  --b"\nread -r -a X <<< "$E"\nX+=("c d")\nlaunch "${X[@]}" -- $X',
    "a line read into variables": 'read -r A B C <<< "4 2 x y"\nlaunch $A --n=$B "$C"',
    "a line divided by other characters": "IFS=',' read -ra X <<< 4,2\nIFS=: read A B <<< 1:8\nlaunch ${X[@]} $A $B",
    "lines read into an array": (
        'mapfile -t X <<EOF\n--a\n--b\nEOF\nreadarray -t Y <<< "--c"\nlaunch "${X[@]}" "${Y[@]}"'
    ),
}


def launched(script: Script) -> list[list[str]]:
    """The arguments of every command ``launch`` of a script."""
    return [[word.text for word in each.words[1:]] for each in script.commands if each.words[0].text == "launch"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="Bash is not installed")
@pytest.mark.parametrize("title", SCRIPTS)
def test_words_are_those_of_bash(title: str) -> None:
    printed = "launch() { printf '%s\\0' \"$@\" >&2; }\n"
    ran = subprocess.run(["bash", "-c", printed + SCRIPTS[title]], capture_output=True, text=True, check=True)
    words = [word for words in launched(script_of(SCRIPTS[title])) for word in words]
    assert words == ran.stderr.split("\0")[:-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("if [ $GIVEN = 1 ]; then A=--x; fi\nlaunch $A --b", [("--x", 1, 1), ("--b", 2, 0)]),
        ("A=(--a)\nif test $GIVEN; then\n  A+=(--x)\nfi\nlaunch ${A[@]}", [("--a", 1, 0), ("--x", 3, 2)]),
        ("for n in 1 2; do\n  launch --n $n\ndone", [("--n", 2, 0), ("$n", 1, 1)]),
        ("case $GIVEN in a) launch --a ;; esac", [("--a", 1, 1)]),
        ('N=1\nif [ ! -z "$SLURM_NTASKS" ]; then N=$SLURM_NTASKS; fi\nlaunch $N', [("$SLURM_NTASKS", 2, 2)]),
        ("if [ -z $WORLD_SIZE ]; then\n  N=2\nfi\nlaunch $N $((N * 4))", [("2", 2, 1), ("$((N * 4))", 4, 0)]),
    ],
)
def test_words_of_an_undecided_branch_carry_the_line_of_its_test(text: str, words: list[tuple[str, int, int]]) -> None:
    found = [word for each in script_of(text).commands if each.words[0].text == "launch" for word in each.words[1:]]
    # a word that a variable holds has the line on which it is written
    assert [(word.text, word.line, word.branch) for word in found] == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('ARGS="--a 1\n  $MORE"\nlaunch $ARGS', [("--a", 1), ("1", 1), ("$MORE", 2)]),
        ('ARGS="--a 1\n\n  ${MORE} --b"\nlaunch $ARGS', [("--a", 1), ("1", 1), ("${MORE}", 3), ("--b", 3)]),
        ('ARGS="\n\n$MORE"\nlaunch $ARGS', [("$MORE", 3)]),
        ('ARGS="$X \\\n  $MORE"\nlaunch $ARGS', [("$X", 1), ("$MORE", 2)]),
    ],
)
def test_a_variable_without_a_value_is_on_its_own_line_of_a_text(text: str, words: list[tuple[str, int]]) -> None:
    found = [word for each in script_of(text).commands if each.words[0].text == "launch" for word in each.words[1:]]
    assert [(word.text, word.line) for word in found] == words


def test_quoted_scripts_and_here_documents_are_read() -> None:
    text = 'T=8\nsrun bash -c "cd x; launch --tp $T"\ncat <<EOF > run.sh\nlaunch --pp 2\nEOF\n'
    assert launched(script_of(text)) == [["--tp", "8"], ["--pp", "2"]]
    assert [each.line for each in script_of(text).commands if each.words[0].text == "launch"] == [2, 4]
    held = 'S=$(cat <<EOF\nlaunch --pp 2 \\$RANK\nEOF\n)\ntorchrun bash -c "$S"\n'
    assert launched(script_of(held)) == [["--pp", "2", "$RANK"]]
    assert [each.line for each in script_of(held).commands if each.words[0].text == "launch"] == [2]


def test_a_text_whose_lines_are_joined_keeps_the_lines_of_its_words() -> None:
    joined = 'C="\nlaunch\n--tp 2\n${X:+--fp8}\n"\nC=$(echo "$C" | tr \'\\n\' \' \')\nbash -c "$C"\n'
    undecided = "if [ $GIVEN = 1 ]; then X=1; fi\n"
    for before, expected in (("", []), ("X=1\n", [("--fp8", 5, 0)]), (undecided, [("--fp8", 5, 1)])):
        launched_by = [each for each in script_of(before + joined).commands if each.words[0].text == "launch"]
        found = [(word.text, word.line, word.branch) for each in launched_by for word in each.words]
        at = 2 + bool(before)
        assert found[:3] == [("launch", at, 0), ("--tp", at + 1, 0), ("2", at + 1, 0)]
        assert found[3:] == expected


@telling(1)
@pytest.mark.parametrize(
    "text",
    [
        "A=(1 2)\n" + 'A+=("${A[@]}")\n' * 60,
        "a=x" + "\na=$a$a" * 60,
        "f() { f; f; }\nf",
        'f() { bash -c "f --x"; }\nf --y',
    ],
)
def test_a_script_that_grows_without_end_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        script_of(text)


@pytest.mark.parametrize("text", ["(" * 50_000, "$((" * 20_000, "if a; then " * 5_000, "\0\\"])
def test_a_malformed_script_has_commands_or_none(text: str) -> None:
    script_of(text)


def test_comments_within_an_array_are_no_words() -> None:
    text = "A=(\n  --x 1\n  # --y 2 (as before)\n  --z  # the last\n)\nrun ${A[@]} end\n"
    assert [command.text for command in script_of(text).commands] == ["run --x 1 --z end"]


@pytest.mark.parametrize(
    ("words", "branch", "several"),
    [
        ((("torchrun", 3), ("python3", 3)), 3, True),
        ((("/usr/bin/torchrun", 3), ("python", 4), ("deepspeed", 0)), 3, False),  # one in this branch
        ((("torchrun", 0), ("python", 0)), 0, False),  # no test around them
        ((("echo", 3), ("torchrun", 3)), 3, False),
    ],
)
def test_a_test_has_alternatives_where_one_of_its_branches_starts_several_programs(
    words: tuple[tuple[str, int], ...], branch: int, several: bool
) -> None:
    assert _has_alternatives([Word(text, 1, at) for text, at in words], branch) is several


@pytest.mark.parametrize(
    ("assigned", "word", "branch"),
    [
        ("P=${para#*=}", "--model=${P}/Qwen3-8B", 0),  # what the script is given, in any of its branches
        ("P=${para##--path=}", "--model=${P}/Qwen3-8B", 0),
        ("P=/models", "--model=/models/Qwen3-8B", 3),
    ],
)
def test_a_value_that_the_caller_gives_is_unknown_and_not_undecided(assigned: str, word: str, branch: int) -> None:
    text = f"for para in $*\ndo\n  if [[ $para == --a* ]]; then {assigned}; fi\ndone\nrun --model=${{P}}/Qwen3-8B\n"
    last = script_of(text).commands[-1].words[-1]
    assert (last.text, last.branch) == (word, branch)


def test_a_default_behind_an_empty_variable_is_the_text_of_a_branch_that_repeats_it() -> None:
    text = "A=${A:-}\nn=${A:-8}\nif [[ $X == npu ]]; then n=8; fi\nrun $n\n"
    assert [(word.text, word.branch) for word in script_of(text).commands[-1].words] == [("run", 0), ("8", 0)]
