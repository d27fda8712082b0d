"""The completion script for fish."""

from collections.abc import Iterable

from .words import Completed, Option, Values

_HEAD = """# fish completion for turntape. Load it with: turntape completion fish | source

function __turntape_is
    set -l tokens (commandline -opc)
    set -e tokens[1]
    for token in $tokens
        switch $token
            case '--'
                return 1
            case '-*'
                continue
            case '*'
                test $token = $argv[1]; and not contains -- -- $tokens
                return
        end
    end
    test -z "$argv[1]"
end

function __turntape_rest
    set -l tokens (commandline -opc)
    set -l place (contains -i -- -- $tokens); or return
    set -e tokens[1..$place]
    complete -C "$tokens "(commandline -ct)
end

complete -c turntape -f
complete -c turntape -n '__turntape_is ""' -s h -l help -d 'show the help'
complete -c turntape -n '__turntape_is ""' -l version -d 'show the version'
complete -c turntape -n '__turntape_is ""' -l debug -d 'show tracebacks'
complete -c turntape -n 'contains -- -- (commandline -opc)' -a '(__turntape_rest)'
"""


def script(commands: Iterable[Completed]) -> str:
    """The script; sourcing it is enough."""
    lines: list[str] = []
    for one in commands:
        lines.append(f"complete -c turntape -n '__turntape_is \"\"' -a {one.name} -d {_quoted(one.summary)}")
        condition = f"-n '__turntape_is {one.name}'"
        if one.positionals is not None:
            lines.append(f"complete -c turntape {condition}{_values(one.positionals, required=False)}")
        lines += [f"complete -c turntape {condition} {_option(option)}" for option in one.options]
    return _HEAD + "".join(f"{line}\n" for line in lines)


def _option(option: Option) -> str:
    flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
    values = _values(option.values, required=True) if option.values is not None else ""
    return f"{flags}{values} -d {_quoted(option.help)}"


def _values(values: Values, *, required: bool) -> str:
    match values.kind:
        case "words":
            return f"{' -x' if required else ''} -a {_quoted(' '.join(values.words))}"
        case "files":
            return f"{' -r' if required else ''} -F"
        case "folders":
            return " -x -a '(__fish_complete_directories)'"
        case "free":
            return " -x" if required else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
