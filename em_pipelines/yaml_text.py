"""YAML as plain values. The engine's word lists and patterns are long: what reads them is libyaml, ten times faster
than the parser in Python, which stands in where libyaml was not built in."""

from typing import Any

import yaml

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(text: str) -> Any:
    """The document of a text; raises yaml.YAMLError."""
    return yaml.load(text, Loader=_LOADER)
