"""Real Bolt servers on loopback, each a process of its own with a folder, ports and a password of its own.

`Arcade` is the one that comes with the package arcadedb-embedded; `Neo4j` is Neo4j itself, from a folder of jars that
EM_TEST_NEO4J_JARS names, as `make test-neo4j` does. Both stop at SIGTERM, keep what they hold between two starts, and
can be killed.
"""

import importlib.util
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from resources.graph_address import DATABASE, PASSWORD, URI, USER

JARS = os.environ.get("EM_TEST_NEO4J_JARS")  # read here: no EM_ variable reaches a test
START_SECONDS = 90
STOP_SECONDS = 30
POLL_SECONDS = 0.1
OPENED = (
    "java.io", "java.lang", "java.nio", "java.nio.channels.spi", "java.util.concurrent", "java.util.concurrent.atomic",
    "sun.nio.ch",
)  # fmt: skip
"""What both servers look into of Java's own."""


class BoltServer:
    """A server that starts and stops; `environment` is what `em sync-graph` needs to find it."""

    user = "neo4j"
    database = "neo4j"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.password = f"pw-{secrets.token_hex(12)}"
        self.port, self.other_port = _free_ports(2)
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {URI: self.uri, USER: self.user, PASSWORD: self.password, DATABASE: self.database}

    def driver(self, password: str | None = None) -> Driver:
        """A driver of its own, to look at what the server holds."""
        return GraphDatabase.driver(
            self.uri, auth=(self.user, password or self.password), notifications_min_severity="OFF"
        )

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        arguments = self.folder / "java.args"
        arguments.touch(mode=0o600)
        arguments.write_text("\n".join(f'"{word}"' for word in self.arguments()), encoding="utf-8")
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self.java(), f"@{arguments}", *self.main()],
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < deadline, f"not within {START_SECONDS} s: {self.log()}"
            time.sleep(POLL_SECONDS)

    def answers(self) -> bool:
        """Whether it takes our password and a query."""
        with suppress(DriverError, Neo4jError, OSError), self.driver() as driver:
            with driver.session(database=self.database) as session:  # which tries once, where a transaction insists
                session.run("RETURN 1").consume()
            return True
        return False

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """Ends the process and returns its exit code; SIGKILL gives it no time to write anything."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            self._process.send_signal(sign)
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait(STOP_SECONDS)

    def clear(self) -> None:
        """Takes everything out of the database."""
        with self.driver() as driver:
            driver.execute_query("MATCH (n) DETACH DELETE n", database_=self.database)

    def cpu_seconds(self) -> float:
        """What the server has used of the machine's cores since it started; 0 where Linux does not tell."""
        assert self._process is not None
        try:
            told = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            return 0.0
        return sum(int(ticks) for ticks in told[11:13]) / os.sysconf("SC_CLK_TCK")

    def log(self) -> str:
        """The end of what the server wrote, without its password."""
        text = (self.folder / "server.log").read_text(errors="replace")
        return text.replace(self.password, "…")[-4000:]

    def java(self) -> list[str]:
        raise NotImplementedError

    def arguments(self) -> list[str]:
        """For the virtual machine."""
        raise NotImplementedError

    def main(self) -> list[str]:
        """The main class and what it is told."""
        raise NotImplementedError


class Arcade(BoltServer):
    """ArcadeDB of the package arcadedb-embedded, which brings its own Java."""

    user = "root"
    database = "em"

    def java(self) -> list[str]:
        return [str(_package() / "jre" / "bin" / "java")]

    def arguments(self) -> list[str]:
        said = {
            "server.rootPath": self.folder,
            "server.rootPassword": self.password,
            "server.mode": "production",
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": self.other_port,
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server.defaultDatabases": f"{self.database}[root]",
            "bolt.host": "127.0.0.1",
            "bolt.port": self.port,
        }
        return [
            "-Xmx1g", "-Djava.awt.headless=true", "-Dfile.encoding=UTF8", "-Dpolyglot.engine.WarnInterpreterOnly=false",
            "--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED",
            *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED),
            *(f"-Darcadedb.{name}={value}" for name, value in said.items()),
            "-cp", f"{_package() / 'jars'}/*",
        ]  # fmt: skip

    def main(self) -> list[str]:
        return ["com.arcadedb.server.ArcadeDBServer"]


class Neo4j(BoltServer):
    """Neo4j from a folder of jars, on the Java of the machine."""

    def __init__(self, folder: Path, jars: Path) -> None:
        super().__init__(folder)
        self._jars = jars
        self._has_password = False

    def java(self) -> list[str]:
        return ["java"]

    def arguments(self) -> list[str]:
        said = {
            "server.bolt.listen_address": f"127.0.0.1:{self.port}",
            "server.default_listen_address": "127.0.0.1",
            "server.http.enabled": "false",
            "server.https.enabled": "false",
            "dbms.usage_report.enabled": "false",
            "server.memory.pagecache.size": "64m",
        }
        (self.folder / "neo4j.conf").write_text("".join(f"{name}={value}\n" for name, value in said.items()))
        opened = (f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED)
        return ["-Xmx1g", *opened, "-cp", f"{self._jars}/*"]

    def main(self) -> list[str]:
        return [
            "org.neo4j.server.CommunityEntryPoint", f"--home-dir={self.folder}", f"--config-dir={self.folder}",
        ]  # fmt: skip

    def answers(self) -> bool:
        """A new server has a password that everybody knows and that has to be changed before anything else."""
        if not self._has_password:
            with suppress(DriverError, Neo4jError, OSError), self.driver(self.user) as driver:
                with driver.session(database="system") as session:
                    change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
                    session.run(change, old=self.user, new=self.password).consume()
                self._has_password = True
        return self._has_password and super().answers()


@contextmanager
def running(folder: Path) -> Iterator[BoltServer]:
    """A server that has started, and is killed in the end, for what it holds is thrown away: Neo4j where there are jars
    of it."""
    server = Neo4j(folder, Path(JARS)) if JARS else Arcade(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop(signal.SIGKILL)


NO_SERVER = "arcadedb-embedded is not installed: it is not made for this machine, or see `make install-test`"


def has_server() -> bool:
    """Whether there is a server to start; there is no arcadedb-embedded for Intel Macs, for instance."""
    return JARS is not None or importlib.util.find_spec("arcadedb_embedded") is not None


def _package() -> Path:
    found = importlib.util.find_spec("arcadedb_embedded")
    assert found is not None and found.origin, NO_SERVER
    return Path(found.origin).parent


def _free_ports(n_ports: int) -> list[int]:
    with suppress(OSError):
        sockets = [socket.socket() for _ in range(n_ports)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = [int(one.getsockname()[1]) for one in sockets]
        for one in sockets:
            one.close()
    return ports
