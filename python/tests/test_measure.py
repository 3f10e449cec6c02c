"""Measurements that the program makes."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import isobath as ib
from isobath.options import words
from isobath.program import find


def test_options_are_those_of_the_command_line() -> None:
    options = {"packet_log": True, "cc": "cubic", "lab": None, "ecn": False, "servers": ["a", "b"], "loss": 0.001, "duration": 20}
    assert words(options) == ["--packet-log", "--cc=cubic", "--servers=a", "--servers=b", "--loss=0.1%", "--duration=20"]
    with pytest.raises(ib.UsageError, match="loss is 2"):
        words({"loss": 2})


def test_a_measurement_in_a_lab_returns_its_run(here: Path) -> None:
    run = ib.btc(lab="dsl", duration="1s", note="from Python")
    # A machine that is busy with something else is told as such.
    assert run.test == "btc" and run.status in ("complete", "invalid")
    assert run.folder is not None and run.folder.parent == Path("isobath-runs")
    assert run.summary.throughput_mbps is not None and run.summary.throughput_mbps > 0
    assert run.plan.to_dict()["note"] == "from Python"
    assert "Mbit/s" in run.scorecard()
    assert run.report(here / "page.html").stat().st_size > 10_000


def test_responsiveness_is_measured_against_a_server() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = [str(find()), "serve", "--address", "127.0.0.1", "--port", "0", "--also", f"rpm:{port}", "--ephemeral", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None and server.stdout.readline()
        run = ib.rpm(f"https://127.0.0.1:{port}", ways="down", insecure=True, interval="200ms", most="2s", quiet=True)
        server.terminate()
    assert run.test == "rpm" and run.summary.up is None and run.summary.down is not None
    # Without a bottleneck it is a matter of this machine's processors.
    assert run.summary.idle.tcp_ms is not None and 0 < run.summary.idle.tcp_ms.p50 < 1_000
    assert run.summary.down.goodput_mbps is not None and run.summary.down.goodput_mbps > 0


def test_a_web_server_of_aioquic_is_measured_by_http3(here: Path) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    named = "[req]\ndistinguished_name=d\nx509_extensions=x\nprompt=no\n[d]\nCN=localhost\n[x]\nsubjectAltName=DNS:localhost\n"
    (here / "req.cnf").write_text(named)
    made = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-config", "req.cnf"]
    subprocess.run(["openssl", *made, "-keyout", "key.pem", "-out", "cert.pem"], check=True, capture_output=True)
    line = [sys.executable, str(Path(__file__).with_name("http3_server.py")), str(port), "cert.pem", "key.pem"]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None and server.stdout.readline() == b"ready\n"
        try:
            echoes = ib.estimate("rtt", f"h3://127.0.0.1:{port}", duration="1s", quiet=True)
            url = f"https://localhost:{port}"
            run = ib.rpm(url, ways="down", ca=here / "cert.pem", http="h3", interval="200ms", most="2s", ipv4=True, quiet=True)
        finally:
            server.kill()
    assert echoes.summary.probes_lost == 0 and echoes.summary.value is not None
    assert run.summary.down is not None and run.summary.idle.tcp_ms is None
    for times in (run.summary.idle.tls_ms, run.summary.idle.http_ms):
        assert times is not None and 0 < times.p50 < 1_000
    assert run.summary.down.goodput_mbps is not None and run.summary.down.goodput_mbps > 0


def test_why_a_server_has_no_test_for_us_is_told() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = [str(find()), "serve", "--address", "127.0.0.1", "--port", "0", "--ephemeral", "--json"]
    line += ["--also", f"udpst:{port}", "--udpst-key", "a"]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None and server.stdout.readline()
        with pytest.raises(ib.MeasurementError, match="does not know this key"):
            ib.udpst(f"127.0.0.1:{port}", ways="down", udpst_key="b", quiet=True)
        server.terminate()


def test_mistakes_are_exceptions_with_the_program_s_own_line() -> None:
    with pytest.raises(ib.UsageError, match="^unexpected argument '--speed' found$"):
        ib.btc(lab="lan", speed=3)
    with pytest.raises(ib.UsageError, match="nowhere"):
        ib.rrul(lab="nowhere")
    with pytest.raises(ib.MeasurementError) as told:
        ib.btc(lab="lan", duration=1, out="/proc/nothing")
    assert told.value.run is None and "\n" not in str(told.value)


def test_a_program_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "lan" in ib.program("lab", "list")
    monkeypatch.delenv("ISOBATH_PROGRAM")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ib.IsobathError, match="set ISOBATH_PROGRAM"):
        find()


def test_an_interrupt_keeps_the_record() -> None:
    # Whatever started the tests in the background has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        while not list(Path().glob("isobath-runs/*/*.arrows")):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(ib.Interrupted) as told:
        ib.rrul(lab="lan", duration="60s")
    thread.join()
    run = told.value.run
    assert run is not None and run.status == "incomplete"
    assert str(run.folder) in str(told.value)
    assert len(run.table("samples")) > 0


def test_a_simulation_is_interrupted_too() -> None:
    code = "import isobath as ib; ib.sim.btc(rate='1Gbit', rtt='20ms', duration='1h', flows=500, window=2)"
    child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert errors.rstrip().endswith("KeyboardInterrupt")
