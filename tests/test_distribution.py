"""A batch over the replicas of a strategy: what one machine returns."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent


def lines(*args, **environment):
    """What each of these processes prints."""
    command = [sys.executable, "-m", "tests.replicas", *map(str, args)]
    return subprocess.Popen(
        command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def told(process):
    """The lines that it printed, as JSON."""
    out, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors[-3000:]
    return [json.loads(line) for line in out.splitlines()]


FIBONACCI = [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144]


def test_devices_of_one_process():
    results = dict(told(lines("one", 4)))
    assert results["fibonacci"] == FIBONACCI
    assert results["fewer members than replicas"] == [3]
    assert results["no members"] == []
    assert results["deep"] == [40 * 41 // 2, 3]
    assert results["nested"] == [40, 50, 60]
    kind, members, kept = results["unlucky"]
    assert kind == "MemberAssertionError" and members == [3, 11]
    assert [kept[k] for k in (0, 4, 10)] == [0, 12, 30]
    assert results["overflow"] == ["StackOverflowError", [11], [n * (n + 1) // 2 for n in range(11)]]
    assert results["max_steps"][0] == "StepLimitError"


def test_draws():
    assert dict(told(lines("draws", 2)))["the same"] is True


def test_a_replica_fails():
    replicas = 2
    results = dict(told(lines("failing", replicas)))
    kind, members, kept, message = results["one fails"]
    own = 12 // replicas
    assert kind == "ReplicaError" and members == list(range(12 - own, 12))
    assert kept[: 12 - own] == list(range(1, 13 - own))
    assert f"1 of {replicas} replicas failed" in message and f"replica {replicas - 1} (" in message
    assert f"CPU:{replicas - 1}" in message and "too large" in message and "replicas.py:" in message
    assert results["all fail"][:3] == ["ReplicaError", list(range(12)), None]


def test_two_processes():
    workers = [lines("worker", TF_CONFIG=config) for config in configs(2)]
    for worker in workers:
        results = dict(told(worker))
        assert results["fibonacci"] == FIBONACCI
        assert results["numbers"] == np.arange(5).tolist()
        kind, members, kept = results["unlucky"]
        assert kind == "MemberAssertionError" and members == [3, 11] and kept[10] == 30
        assert results["one fails"][:2] == ["ReplicaError", [6, 7, 8, 9, 10, 11]]
        assert results["one fails"][2][:6] == [1, 2, 3, 4, 5, 6]


def test_a_process_dies():
    first, second = (lines("mortal", TF_CONFIG=config) for config in configs(2))
    second.communicate(timeout=240)
    assert second.returncode == 9
    results = dict(told(first))
    assert results["before"] == FIBONACCI
    kind, members, kept, message = results["one is dead"]
    assert kind == "ReplicaError" and members == [6, 7, 8, 9, 10, 11] and kept[:6] == FIBONACCI[:6]
    assert "replica 1 (another process)" in message


def configs(count):
    """TF_CONFIG of each of so many workers on this machine."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    cluster = {"worker": [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]}
    for each in sockets:
        each.close()
    return [json.dumps({"cluster": cluster, "task": {"type": "worker", "index": k}}) for k in range(count)]
