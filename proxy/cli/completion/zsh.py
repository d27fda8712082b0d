"""The completion script for zsh: to be sourced, or a file `_turntape` in a folder of `fpath`."""

from collections.abc import Iterable

from .words import Completed, Option, Values

_HEAD = """#compdef turntape
# zsh completion for turntape. Load it with: source <(turntape completion zsh)

_turntape() {
    local context state state_descr line
    typeset -A opt_args
    local -a commands
    local -i place
    _arguments -C \\
        '(-h --help)'{-h,--help}'[show the help]' \\
        '--version[show the version]' \\
        '--debug[show tracebacks]' \\
        '1: :->command' \\
        '*:: :->arguments'
    case $state in
    command)
        commands=(
"""
_MIDDLE = """        )
        _describe -t commands 'turntape command' commands
        ;;
    arguments)
        # After `--` another command follows.
        place=${words[(i)--]}
        if (( place < CURRENT )); then
            words=("${(@)words[place + 1, -1]}")
            (( CURRENT -= place ))
            _normal
            return
        fi
        case $words[1] in
"""
_TAIL = """        esac
        ;;
    esac
}

if [[ $funcstack[1] == _turntape ]]; then
    _turntape "$@"
else
    compdef _turntape turntape
fi
"""


def script(commands: Iterable[Completed]) -> str:
    """The script; it needs `compinit` to have run."""
    known = list(commands)
    names = "".join(f"            {_quoted(f'{one.name}:{one.summary}')}\n" for one in known)
    return _HEAD + names + _MIDDLE + "".join(_command(one) for one in known) + _TAIL


def _command(one: Completed) -> str:
    specs = [_spec(option) for option in one.options]
    if one.positionals is not None:
        specs += [_quoted(f"*: :{_action(one.positionals)}")]
    joined = "".join(f" \\\n                {spec}" for spec in specs)
    return f"        {one.name})\n            _arguments -S{joined}\n            ;;\n"


def _spec(option: Option) -> str:
    """Such as `'(-o --output)'{-o,--output=}'[write to FILE]: :_files'`."""
    text = f"[{_escaped(option.help)}]"
    flags = list(option.flags)
    if option.values is not None:
        text += f": :{_action(option.values)}"
        flags = [f"{flag}=" if flag.startswith("--") else flag for flag in flags]  # --format json and --format=json
    if len(flags) == 1:
        return _quoted(("*" if option.repeatable else "") + flags[0] + text)
    exclusive = "*" if option.repeatable else f"({' '.join(option.flags)})"
    return f"{_quoted(exclusive)}{{{','.join(flags)}}}{_quoted(text)}"


def _action(values: Values) -> str:
    match values.kind:
        case "words":
            return f"({' '.join(values.words)})"
        case "files":
            return "_files"
        case "folders":
            return "_files -/"
        case "free":
            return ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
