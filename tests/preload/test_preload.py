"""The preload shim in processes with and without torch: loads where it should, disturbs nothing."""

import importlib.util
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time

import pytest

EXP = "import torch; y = torch.exp(torch.ones(1000)); assert abs(y[999].item() - 2.7182817) < 1e-5"


def silent(result, code=0):
    assert result.returncode == code, result.stderr
    assert result.stderr == ""


def test_bash_is_undisturbed(preloaded):
    result = preloaded.run("bash", "-c", "echo a; exit 3")
    silent(result, 3)
    assert result.stdout == "a\n"
    assert preloaded.hits() is None


def test_c_program_is_undisturbed(preloaded):
    result = preloaded.run(preloaded.build / "tests" / "plain_program", "x")
    silent(result, 7)
    assert result.stdout == "2 x\n"


def test_python_without_torch_is_undisturbed(preloaded):
    result = preloaded.python("print(sum(range(10)))")
    silent(result)
    assert result.stdout == "45\n"
    assert preloaded.hits() is None


def test_bind_now_in_a_program_without_torch(preloaded):
    silent(preloaded.run(preloaded.build / "tests" / "plain_program", LD_BIND_NOW="1"), 7)


def test_cost_without_torch(preloaded):
    """Less than 3 ms and 1 MB in /bin/true: medians of paired runs."""
    program = shutil.which("true")

    def run_once(env):
        start = time.perf_counter()
        process = subprocess.Popen([program], env=env)
        usage = os.wait4(process.pid, 0)[2]
        process.returncode = 0
        return time.perf_counter() - start, usage.ru_maxrss

    with_shim = dict(os.environ, LD_PRELOAD=str(preloaded.shim))
    pairs = [(run_once(os.environ), run_once(with_shim)) for _ in range(41)]
    median = lambda values: sorted(values)[len(values) // 2]  # noqa: E731
    assert median([b[1] - a[1] for a, b in pairs]) < 1024, "KiB of resident memory"
    # Wall time is asserted nowhere; the cost is printed for people.
    print("shim costs %.2f ms" % (1e3 * median([b[0] - a[0] for a, b in pairs])))


def test_python_with_torch_takes_the_fast_path(preloaded):
    silent(preloaded.python(EXP))
    assert preloaded.hits() >= 1


def test_bind_now_with_torch(preloaded):
    silent(preloaded.python(EXP, LD_BIND_NOW="1"))
    assert preloaded.hits() >= 1


def test_libtorch_program(preloaded):
    result = preloaded.run(preloaded.build / "tests" / "libtorch_program")
    silent(result)
    assert result.stdout == "right\n"
    assert preloaded.hits() >= 1


def test_libtorch_program_that_forks(preloaded):
    silent(preloaded.run(preloaded.build / "tests" / "libtorch_program", "fork"))


def test_fork_after_a_parallel_region(preloaded):
    """A child of a process that used threads must not hang: stock's does."""
    program = """
import os, torch
torch.set_num_threads(2)
x = torch.ones(1 << 20)
torch.exp(x)
child = os.fork()
if child == 0:
    assert torch.exp(x)[5].item() > 2.7
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    # Python 3.12 and later warn of any fork beside threads.
    silent(preloaded.python(program, PYTHONWARNINGS="ignore::DeprecationWarning"))


SPAWN = """
import multiprocessing as mp, torch
def work(i):
    import torch
    return torch.exp(torch.full((100,), float(i)))[0].item()
if __name__ == "__main__":
    with mp.get_context("spawn").Pool(2) as pool:
        assert abs(pool.map(work, [0, 1])[1] - 2.7182817) < 1e-5
"""

LOADER = """
import torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 8
    def __getitem__(self, i): return torch.exp(torch.full((1000,), float(i)))
if __name__ == "__main__":
    torch.exp(torch.ones(1 << 20))
    loader = torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=2,
                                         multiprocessing_context="fork")
    assert sum(b.shape[0] for b in loader) == 8
"""


@pytest.mark.parametrize("program", [SPAWN, LOADER], ids=["spawn", "fork_dataloader"])
def test_worker_processes(preloaded, tmp_path, program):
    script = tmp_path / "program.py"
    script.write_text(program)
    silent(preloaded.run(sys.executable, script))


def test_loaded_by_two_routes(preloaded, tmp_path):
    """Preloaded, and loaded again from another path: the second copy stands back."""
    plugin = next(preloaded.build.glob("libtenon_aten.*.so"))
    copy = tmp_path / plugin.name
    shutil.copy(plugin, copy)
    silent(preloaded.python(EXP + "; import ctypes; ctypes.CDLL(%r); torch.exp(y)" % str(copy)))
    assert preloaded.hits() >= 1


def test_torch_of_another_version(preloaded, tmp_path):
    """No plugin for this torch: one line, and stock goes on."""
    shim = shutil.copy(preloaded.shim, tmp_path / "libtenon.so")
    result = preloaded.run(sys.executable, "-c", EXP, shim=shim)
    assert result.returncode == 0
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("tenon: not loaded: ")


def test_plugin_that_is_no_library(preloaded, tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_text("not a library")
    result = preloaded.python(EXP, TENON_ATEN_LIB=str(broken))
    assert result.returncode == 0
    assert result.stderr.count("\n") == 1 and "tenon: not loaded: " in result.stderr


def test_preload_that_is_missing(preloaded, tmp_path):
    result = preloaded.run("true", shim=tmp_path / "nowhere.so")
    assert result.returncode == 0


@pytest.mark.parametrize("module", ["numpy", "scipy.linalg", "sklearn.cluster"])
@pytest.mark.parametrize("order", ["before", "after"])
def test_beside_other_openmp_users(preloaded, module, order):
    if importlib.util.find_spec(module.split(".")[0]) is None:
        pytest.skip("%s is not installed" % module)
    imports = ["import %s" % module, "import torch"]
    program = "; ".join(imports if order == "before" else imports[::-1])
    program += "; torch.set_num_threads(2); torch.exp(torch.ones(1 << 18)); " + EXP
    silent(preloaded.python(program))
    assert preloaded.hits() >= 2


@pytest.mark.parametrize(
    "name,value,known",
    [
        ("TENON_ISA", "sse9", "avx512"),
        ("TENON_OPS", "nosuch", "exp"),
        ("TENON_DISABLE", "nosuch", "exp"),
        ("TENON_VERBOSE", "loud", "0 and 1"),
        ("TENON_CHECK", "maybe", "0 and 1"),
    ],
)
def test_environment_that_makes_no_sense(preloaded, name, value, known):
    """One line that names the known values, then stock behaviour."""
    result = preloaded.python(EXP, **{name: value})
    assert result.returncode == 0
    assert result.stderr.count("\n") == 1 and known in result.stderr
    assert preloaded.hits() in (None, 0)


def test_refused_environment_stays_refused(preloaded):
    """Leaving tenon.stock() must not put in place what was refused."""
    root = pathlib.Path(__file__).resolve().parents[2]
    plugin = str(next(preloaded.build.glob("libtenon_aten.*.so")))
    program = """
import torch, tenon
with tenon.stock(): pass
torch.exp(torch.ones(8))
assert not any(o['hits'] for o in tenon.report()['operators'])
"""
    result = preloaded.python(program, TENON_VERBOSE="loud", PYTHONPATH=str(root / "python"),
                              TENON_ATEN_LIB=plugin)
    assert result.returncode == 0 and "not active" in result.stderr, result.stderr


def test_disabled_operator_is_stocks(preloaded):
    silent(preloaded.python(EXP, TENON_DISABLE="exp"))
    assert preloaded.hits() == 0


def test_one_openmp_runtime(preloaded):
    """torch's runtime is the only one, whichever threads ran."""
    program = EXP + """
torch.set_num_threads(2); torch.exp(torch.ones(1 << 20))
maps = {l.split()[-1] for l in open('/proc/self/maps') if 'omp' in l.split()[-1].rsplit('/')[-1]}
assert len(maps) == 1, maps
"""
    silent(preloaded.python(program))


def test_tenon_run_becomes_the_program(preloaded):
    tenon = preloaded.build / "tenon"
    assert os.stat(tenon).st_mode & stat.S_IXUSR
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TENON_", "LD_", "THP_"))}
    run = lambda *c: subprocess.run([tenon, *c], env=env, capture_output=True, text=True)  # noqa: E731
    result = run("run", "bash", "-c", "echo $LD_PRELOAD $THP_MEM_ALLOC_ENABLE; exit 5")
    assert result.returncode == 5
    assert result.stdout == "%s 1\n" % preloaded.shim
    assert run("run", "no-such-program").returncode == 127
    with tempfile.TemporaryDirectory(prefix="a blank ") as folder:
        for file in (tenon, preloaded.shim):
            shutil.copy(file, folder)
        result = subprocess.run([folder + "/tenon", "run", "true"], capture_output=True, text=True)
        assert result.returncode == 127 and "blank" in result.stderr
    assert run("run").returncode == 2


def test_entry_point_loads_at_import(preloaded, tmp_path):
    """The torch.backends entry point alone, and beside the preload shim."""
    site = tmp_path / "site"
    info = site / "torch_tenon-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-tenon\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[torch.backends]\ntenon = tenon._autoload:load\n")
    root = pathlib.Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(site), str(root / "python")])
    plugin = str(next(preloaded.build.glob("libtenon_aten.*.so")))
    silent(preloaded.python(EXP, PYTHONPATH=path, TENON_ATEN_LIB=plugin, LD_PRELOAD=""))
    assert preloaded.hits() >= 1
    silent(preloaded.python(EXP, PYTHONPATH=path, TENON_ATEN_LIB=plugin))
    assert preloaded.hits() >= 1
    silent(preloaded.python(EXP, PYTHONPATH=path, TENON_ATEN_LIB=plugin, LD_PRELOAD="",
                            TORCH_DEVICE_BACKEND_AUTOLOAD="0"))


def test_entry_point_without_a_plugin_warns_and_torch_works(preloaded, tmp_path):
    program = "import tenon._autoload as a; a.load(); " + EXP
    root = pathlib.Path(__file__).resolve().parents[2]
    package = tmp_path / "tenon"
    shutil.copytree(root / "python" / "tenon", package)
    result = preloaded.python(program, PYTHONPATH=str(tmp_path), LD_PRELOAD="")
    assert result.returncode == 0 and "no plugin for torch" in result.stderr


def test_thread_count_is_torchs(preloaded):
    """As many OpenMP threads as torch.set_num_threads says, and the same bits from all counts."""
    program = """
import os, torch
x = torch.randn(1 << 20)
threads = lambda: len(os.listdir('/proc/self/task'))
torch.set_num_threads(1)
before = threads()
one = torch.exp(x)
assert threads() == before, 'one thread must not start another'
for n in (2, 3):
    torch.set_num_threads(n)
    assert torch.equal(torch.exp(x), one)
    assert threads() == before + n - 1, (threads(), before, n)
"""
    silent(preloaded.python(program))
    assert preloaded.hits() >= 3


def test_thread_count_reaches_other_threads(preloaded):
    """torch.set_num_threads holds in threads started later, whose runtime has a number of its own."""
    program = """
import os, threading, torch
torch.set_num_threads(1)
threads = lambda: len(os.listdir('/proc/self/task'))
def job():
    before = threads()
    torch.exp(torch.randn(1 << 20))
    torch.softmax(torch.randn(512, 512), 1)
    seen.append(threads() - before)
seen = []
thread = threading.Thread(target=job)
thread.start(); thread.join()
assert seen == [0], seen
"""
    silent(preloaded.python(program))
    assert preloaded.hits() >= 1


def test_check_compares_with_stock(preloaded):
    """TENON_CHECK=1: results are Tenon's, and the exit line has the largest difference in ulp."""
    program = EXP + "; torch.exp(y, out=torch.empty(1000)); y.exp_(); torch.exp(y.double())"
    result = preloaded.python(program, TENON_CHECK="1")
    assert result.returncode == 0
    lines = [l for l in result.stderr.splitlines() if l.startswith("tenon: check aten::exp")]
    assert len(lines) == 3, result.stderr  # functional, in-place and out; f64 fell back
    for line in lines:
        assert float(line.split("difference ")[1].split(" ulp")[0]) <= 2
        assert "1 results" in line
    assert preloaded.hits() >= 3


def test_check_names_the_first_call_beyond_tolerance(preloaded):
    """bf16 log_softmax of stock loses what is near zero: the check shows the call it saw it in."""
    program = """
import torch
x = torch.zeros(3, 5, dtype=torch.bfloat16)
x[:, 0] = 6.0
torch.log_softmax(x, 1)
"""
    result = preloaded.python(program, TENON_CHECK="1")
    line = next(l for l in result.stderr.splitlines() if "_log_softmax" in l)
    assert "1 results" in line and "ulp" in line
    if "beyond tolerance" in line:
        assert "BFloat16[3, 5] strides [5, 1]" in line


def test_report_file_has_every_operator(preloaded):
    silent(preloaded.python(EXP))
    report = json.loads(preloaded.report_file.read_text())
    assert report["isa"]
    exp = next(o for o in report["operators"] if o["schema"] == "exp")
    assert exp["state"] == "registered" and exp["hits"] == 1 and exp["kernels"]
    assert set(exp) == {"schema", "state", "takes", "hits", "fallbacks", "kernels"}
