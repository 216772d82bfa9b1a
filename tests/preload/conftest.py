"""Runs programs under the preload shim of a build: pytest --build DIR (default build/x86_64)."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption("--build", default=str(ROOT / "build" / "x86_64"))


class Preloaded:
    """Programs with libtenon.so in LD_PRELOAD."""

    def __init__(self, build, tmp_path):
        self.build = pathlib.Path(build).resolve()
        self.shim = self.build / "libtenon.so"
        self.report_file = tmp_path / "report.json"

    def run(self, *command, shim=None, timeout=120, **environment):
        """subprocess.run of `command`; what it printed is in .stdout and .stderr."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("TENON_", "LD_"))}
        env.update(LD_PRELOAD=str(shim or self.shim), TENON_REPORT=str(self.report_file))
        env.update(environment)
        command = [str(c) for c in command]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout)

    def python(self, program, **environment):
        return self.run(sys.executable, "-c", program, **environment)

    def hits(self):
        """Calls on the fast path that the last program's report counts; None without a report."""
        if not self.report_file.exists():
            return None
        return sum(o["hits"] for o in json.loads(self.report_file.read_text())["operators"])


@pytest.fixture
def preloaded(request, tmp_path):
    return Preloaded(request.config.getoption("--build"), tmp_path)
