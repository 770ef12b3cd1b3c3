"""What the parser of the command line says of wrong use, in the words of every other sentence."""

import re

import typer

_CHOICES = re.compile(r"(?:Value error, )?'(?P<given>[^']*)' is not one of (?P<choices>'[^']*'(?:, '[^']*')*)")
_POSSIBLE = re.compile(r"(?P<what>No such option: \S+) \(Possible options: (?P<names>[^)]*)\)")


def sentence_of(error: typer.TyperException) -> str:
    """One sentence: what is wrong, what was meant or is allowed, and whose `--help` says more."""
    said = getattr(error, "format_message", error.__str__)().strip().removesuffix(".")
    said = _CHOICES.sub(_with_the_nearest, said.replace("Value error, ", ""))
    said = _POSSIBLE.sub(lambda found: f"{found['what']}; did you mean {_or(found['names'].split(', '))}?", said)
    said = re.sub(r"\. Did you mean ", "; did you mean ", said)
    where = getattr(getattr(error, "ctx", None), "command_path", None) or "em"
    return f"{said}{'' if said.endswith('?') else ';'} see `{where} --help`"


def _with_the_nearest(found: re.Match[str]) -> str:
    from em_pipelines.schema.near_names import near

    choices = re.findall(r"'([^']*)'", found["choices"])
    meant = near(found["given"], choices)
    told = f"{found['given']!r} is not one of {', '.join(choices)}"
    return f"{told}; did you mean {_or([repr(one) for one in meant])}?" if meant else told


def _or(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
