"""The door for Python: `from em_pipelines.memory import Memory`. Everything behind it may move; this does not."""

from em_pipelines.interfaces.async_memory import AsyncMemory
from em_pipelines.interfaces.memory import Memory

__all__ = ["AsyncMemory", "Memory"]
