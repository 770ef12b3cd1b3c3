"""At the start of a coding session: what memory has to say goes to stdout, which the agent reads.

EM names the command (`em`), EM_HOME the home and EM_USER whose memory it is. Whatever goes wrong, the session starts:
then without memory, and stderr says why.
"""

import os
import subprocess
import sys

SECONDS = 8


def main() -> int:
    """Prints the bootstrap; returns 0, always."""
    command = [os.environ.get("EM", "em"), "bootstrap", "--user", os.environ.get("EM_USER", os.environ.get("USER", ""))]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"memory: {error}", file=sys.stderr)
        return 0
    print(found.stdout, end="")
    print(found.stderr, end="", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
