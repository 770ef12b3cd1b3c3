"""Settings as people read them: every field by its dotted name, with its value and meaning."""

from collections.abc import Iterator

from pydantic import BaseModel


def described(settings: BaseModel, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yields (dotted name, value, meaning) of every field, nested ones after their parents."""
    for name, info in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            yield from described(value, f"{prefix}{name}.")
        elif isinstance(value, dict):
            for key, entry in value.items():
                yield f"{prefix}{name}.{getattr(key, 'value', key)}", str(entry), info.description or ""
        else:
            yield f"{prefix}{name}", str(getattr(value, "value", value)), info.description or ""
