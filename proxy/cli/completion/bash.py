"""The completion script for bash, 3.2 and later; it needs no bash-completion package."""

from collections.abc import Iterable, Sequence

from .words import Completed, Option, Values

_HEAD = r"""# bash completion for turntape. Load it with: source <(turntape completion bash)

_turntape_words() {
    local IFS=$' \t\n'
    COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

_turntape_files() {
    local IFS=$'\n'
    COMPREPLY=($(compgen "$1" -- "$cur"))
    compopt -o filenames 2> /dev/null
}

_turntape() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command= index=1 place options
    COMPREPLY=()
    # Bash splits --option=value at the equals sign.
    if [[ $cur == "=" ]]; then
        cur=
    elif [[ $prev == "=" ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    while ((index < COMP_CWORD)); do
        if [[ ${COMP_WORDS[index]} != -* ]]; then
            command=${COMP_WORDS[index]}
            break
        fi
        ((index++))
    done
"""
_AFTER_DASHES = r"""    # After `--` another command follows.
    for ((place = index + 1; place < COMP_CWORD; place++)); do
        if [[ ${COMP_WORDS[place]} == "--" ]]; then
            if ((place + 1 == COMP_CWORD)); then _turntape_files -c; else _turntape_files -f; fi
            return
        fi
    done
"""


def script(commands: Iterable[Completed]) -> str:
    """The script; sourcing it is enough."""
    known = list(commands)
    names = " ".join(one.name for one in known)
    lines = [_HEAD.rstrip("\n")]
    lines += ["    if [[ -z $command ]]; then"]
    lines += [f'        _turntape_words "{names} --help --version --debug"', "        return", "    fi"]
    lines += [_AFTER_DASHES.rstrip("\n"), "    case $command in"]
    for one in known:
        lines += _command(one)
    lines += ["    esac", "}", "complete -F _turntape turntape", ""]
    return "\n".join(lines)


def _command(one: Completed) -> list[str]:
    flags = " ".join(flag for option in one.options for flag in option.flags)
    lines = [f"    {one.name})", "        case $prev in"]
    lines += [line for option in one.options for line in _after_option(option)]
    lines += ["        esac", "        if [[ $cur == -* ]]; then", f'            _turntape_words "{flags}"']
    if one.positionals is not None and one.positionals.kind != "free":
        lines += ["        else", f"            {_complete(one.positionals)}"]
    return [*lines, "        fi", "        ;;"]


def _after_option(option: Option) -> Sequence[str]:
    if option.values is None:
        return []
    action = _complete(option.values)
    return [
        f"        {'|'.join(option.flags)})",
        *([f"            {action}"] if action else []),
        "            return ;;",
    ]


def _complete(values: Values) -> str:
    match values.kind:
        case "words":
            return f'_turntape_words "{" ".join(values.words)}"'
        case "files":
            return "_turntape_files -f"
        case "folders":
            return "_turntape_files -d"
        case "free":
            return ""
