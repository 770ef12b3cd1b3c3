"""A process that has imported everything and forks for each command: a fault costs the command, not the imports.

A line of JSON on stdin starts one ({"words", "out", "err", "limit"}: streams are files, `limit` is the size in bytes
that no file may exceed) and is answered by its process id; {"wait": pid} is answered by its exit code, negative for a
signal.
"""

import importlib
import json
import os
import resource
import sys
from typing import Any

MODULES = (
    "em_pipelines.interfaces.cli.entry",
    "em_pipelines.interfaces.cli.app",
    "em_pipelines.interfaces.cli.dagster_runner",
    "em_pipelines.definitions",
    "em_pipelines.governance.audit.soundness",
    "em_pipelines.governance.erasure.forget",
    "em_pipelines.extraction.rules.extractor",
    "em_pipelines.serving.facts",
    "em_pipelines.retrieval.packs",
)


def run(asked: dict[str, Any]) -> None:
    """The command, in the child; never returns."""
    code = 70
    try:
        os.setsid()
        for descriptor, name in ((1, asked["out"]), (2, asked["err"])):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if asked.get("limit") is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["limit"], resource.RLIM_INFINITY))
        sys.argv = ["em", *asked["words"]]
        importlib.import_module(MODULES[0]).main()
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    """Answers until stdin ends."""
    for name in MODULES:
        importlib.import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            _, status = os.waitpid(asked["wait"], 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = os.fork()
            if answer == 0:
                run(asked)
        print(answer, flush=True)


main()
