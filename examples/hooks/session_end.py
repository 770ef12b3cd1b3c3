"""At the end of a coding session: its transcript lands, with what was called and how it failed.

The agent says on stdin, in JSON, where the transcript lies (`transcript_path`). EM names the command (`em`), EM_HOME
the home and EM_USER whose memory it is. What has landed is taken in by the sensor of a running Dagster, or by the next
`em run`; landing it again changes nothing. Whatever goes wrong, the session ends, and stderr says why.
"""

import json
import os
import subprocess
import sys

SECONDS = 25


def main() -> int:
    """Lands the transcript; returns 0, always."""
    try:
        path = json.load(sys.stdin)["transcript_path"]
    except (ValueError, KeyError, TypeError):
        print("memory: stdin names no transcript_path; nothing has landed", file=sys.stderr)
        return 0
    user = os.environ.get("EM_USER", os.environ.get("USER", ""))
    command = [os.environ.get("EM", "em"), "land", path, "--format", "claude-code", "--user-id", user]
    wanted = {**os.environ, "EM_LANDING__KEEPS_TOOL_CALLS": "true"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=wanted)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"memory: {error}", file=sys.stderr)
        return 0
    print(done.stderr, end="", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
