"""Takes the program's place for one measurement in virtual time: hands its arguments to the process that has the cluster, waits for
the end, and says what that says. Run as a file of its own: it imports nothing of the package, and so begins at once."""

import json
import os
import socket
import sys


def main(place: str, arguments: list[str]) -> int:
    """Hands the arguments to the socket `place`; returns the exit status."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        connection.sendall(json.dumps({"arguments": arguments, "folder": os.getcwd()}).encode() + b"\n")
        answer = json.loads(connection.makefile("rb").readline() or b'{"status": 3, "line": "the cluster was lost"}')
    if answer["line"]:
        print(answer["line"], file=sys.stderr)
    return int(answer["status"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
