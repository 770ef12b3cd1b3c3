"""Where the command `em` begins: it listens for signals before it imports anything that takes time."""

import sys

from em_pipelines.interfaces.cli import interrupts


def main() -> None:
    """Runs `em`. Told to stop at whichever instant, it says so in one sentence and does not end with success."""
    code = interrupts.EXIT_CODE
    try:
        interrupts.listen()
        from em_pipelines.interfaces.cli.app import exit_code

        code = exit_code()
    except KeyboardInterrupt:  # at an import, or as a command ended
        pass
    finally:
        interrupts.close()
    sys.exit(interrupts.end() if interrupts.came() else code)
