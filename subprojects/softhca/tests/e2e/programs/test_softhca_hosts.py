# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Every adapter is a host. SOFTHCA_HOST, or the rank in an MPI job, decides which adapters a
program sees."""

import os
import pathlib
import re
import sys
import tempfile

import pytest

import models
from built import OPEN_MPI
from installed import need

pytestmark = pytest.mark.any_model


def listed(text):
    return re.findall(r"^\s+(mlx\d_\d+)\s", text, re.M)


@pytest.fixture
def seen(run, softhca):
    """seen(OPTION..., env={...}): the adapters that a program sees."""
    need("ibv_devices")
    return lambda *options, env=None: listed(
        run([softhca, "run", *options, "--", "ibv_devices"], env=env).stdout)


def test_a_program_sees_only_its_own_host(seen):
    assert seen("--devices=3") == [models.device(i) for i in range(3)]
    assert seen("--devices=12", env={"SOFTHCA_HOST": models.device(11)}) == [models.device(11)]
    assert seen(env={"SOFTHCA_HOST": models.device(1).replace("_", "-")}) == [models.device(1)]
    assert seen(env={"SOFTHCA_HOST": ""}) == [models.device(0), models.device(1)]


@pytest.mark.parametrize("name", ["rxe0", "mlx9_0", "mlx4_2", "../mlx4_0"])
def test_no_such_host(run, softhca, name):
    need("ibv_devices")
    name = models.named(name)
    done = run([softhca, "run", "--", "ibv_devices"], env={"SOFTHCA_HOST": name})
    assert listed(done.stdout) == []
    assert done.stderr == f"softhca: SOFTHCA_HOST is the name of an adapter, as {models.device(0)}, not '{name}'\n"


def test_a_directory_of_others_is_no_daemons(run, softhca):
    assert "open to others" in run([softhca, "ssh", "h", "true"], env={"SOFTHCA_DIR": "/tmp"}).stderr


@pytest.mark.parametrize(
    "variable", ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "MPIRUN_RANK",
                 "MPI_RANKID", "PMI_ID"])
def test_each_launchers_variable_has_the_rank(seen, variable):
    assert seen("--devices=4", "--hosts=3", env={variable: "1"}) == [models.device(1)]


def test_ranks_are_dealt_to_the_hosts_in_turn(seen):
    for rank, host in (("0", 0), ("5", 2)):
        assert seen("--devices=4", "--hosts=3", env={"PMI_RANK": rank}) == [models.device(host)]
    assert len(seen(env={"PMI_RANK": "1"})) == 2, "without --hosts"


def test_softhca_host_in_the_environment_is_kept(seen):
    assert seen("--hosts=2", env={"PMI_RANK": "1",
                                  "SOFTHCA_HOST": models.device(0)}) == [models.device(0)]
    assert seen("--hosts=2", env={"PMI_RANK": "1", "SOFTHCA_HOST": ""}) == [models.device(1)]
    assert len(seen("--hosts=2")) == 2, "without a rank"


def test_a_number_of_hosts_that_is_none_hides_nothing(run, daemon):
    need("ibv_devices")
    done = run(["ibv_devices"], env={"SOFTHCA_HOSTS": str(1 << 32), "PMI_RANK": "0"})
    assert listed(done.stdout) == [models.device(0), models.device(1)]


@pytest.mark.parametrize("hosts", ["0", "3", "2x", "-1", "", str(1 << 32)])
def test_a_wrong_number_of_hosts_is_refused(run, softhca, hosts):
    done = run([softhca, "run", f"--hosts={hosts}", "--", "echo", "started"])
    assert (done.returncode, done.stdout) == (125, "") and "--hosts is 1 to 2" in done.stderr


@pytest.fixture
def ssh(run, softhca):
    """ssh(WORD...): `softhca ssh` below a run; @prefix is what starts all of it."""
    return lambda *words, prefix=(): run(
        [*prefix, softhca, "run", "--", softhca, "ssh", *words],
        # The directory of the run is where each host has a file system of its own.
        env={"XDG_RUNTIME_DIR": "/dev/shm"})


@pytest.fixture
def host():
    return models.device(1).replace("_", "-")


def test_ssh_runs_a_command_on_the_host(ssh, host):
    """Launchers put options before the host, and the command into one word or several."""
    need("ibv_devices")
    options = ["-x", "-p", "22", "-qP", "tag", "-Blo", "-O", "stop", "--"]
    done = ssh(*options, host, "echo", "$SOFTHCA_HOST;", "ibv_devices; exit 3")
    assert (done.returncode, done.stdout.split()[0]) == (3, models.device(1)), done
    assert listed(done.stdout) == [models.device(1)], done


@pytest.fixture
def shared():
    """A file in the shared memory of this host."""
    with tempfile.NamedTemporaryFile(prefix="softhca-test-", dir="/dev/shm") as file:
        yield file.name


def test_ssh_is_another_host(run, softhca, ssh, host, shared):
    name = ssh(host, "hostname").stdout.strip()
    if name != host and run(["unshare", "-Urum", "true"]).returncode != 0:
        pytest.skip("this system allows no UTS and mount namespaces")
    assert name == host
    done = ssh(host, f"[ ! -e {shared} ] && touch {shared}-inside")
    assert done.returncode == 0, "a /dev/shm of its own"
    assert not pathlib.Path(f"{shared}-inside").exists()


def test_ssh_without_namespaces(run, ssh, host):
    """Without permission to make namespaces, only verbs see the other host."""
    need("unshare")
    if run(["unshare", "-Ur", "true"]).returncode != 0:
        pytest.skip("this system allows no user namespaces")
    forbid = "for kind in user uts mnt ipc; do echo 0 >/proc/sys/user/max_${kind}_namespaces || exit 9; done; exec \"$@\""
    done = ssh(host, "echo $SOFTHCA_HOST", prefix=["unshare", "-Ur", "sh", "-c", forbid, "sh"])
    assert (done.returncode, done.stdout) == (0, models.device(1) + "\n"), done


@pytest.fixture
def unmapped():
    """The arguments that start a command which gets a user namespace, but no map of users in it, as
    by AppArmor of Ubuntu 24.04."""
    need("setpriv", "strace")
    inject = ["strace", "-f", "-qq", "-o/dev/null", "-P/proc/self/uid_map", "-etrace=openat",
              "-einject=openat:error=EPERM"]
    return [*([] if os.geteuid() else ["setpriv", "--bounding-set=-sys_admin"]), *inject]


def test_ssh_without_a_map_of_users(run, ssh, host, unmapped):
    """The command runs as the user, and not as nobody in a namespace without users."""
    if run([*unmapped, "unshare", "-U", "true"]).returncode != 0:
        pytest.skip("this system allows no user namespaces")
    assert run([*unmapped, "unshare", "-Ur", "true"]).returncode != 0
    done = ssh(host, "id", "-u", prefix=unmapped)
    assert (done.returncode, done.stdout) == (0, f"{os.geteuid()}\n"), done


@pytest.mark.parametrize("shell, name", [("/bin/bash", "bash"), ("/usr/sbin/nologin", "sh"),
                                         ("/missing", "sh")])
def test_ssh_runs_the_users_shell(run, softhca, tmp_path, host, shell, name):
    """mpirun_rsh of MVAPICH 1 ends ranks by `kill PID >&/dev/null`, which only bash and csh know.
    With a shell with which nobody logs in it is sh."""
    need("unshare", "bash")
    (tmp_path / "passwd").write_text(f"root:x:0:0::/:{shell}\n")
    (tmp_path / "shells").write_text("/bin/sh\n/bin/bash\n/missing\n")
    mount = "for f in passwd shells; do mount --bind $f /etc/$f || exit 9; done; exec \"$@\""
    command = "echo $0; echo lost >&/dev/null" if name == "bash" else "echo $0"
    done = run(["unshare", "-Urm", "sh", "-c", mount, "sh", softhca, "run", "--", softhca, "ssh",
                host, command], cwd=tmp_path)
    if done.returncode == 9 or "unshare" in done.stderr:
        pytest.skip("this system allows no user and mount namespaces")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{name}\n", "")


# ---- the names of hosts ----


@pytest.mark.parametrize("function", ["hosts", "ahostsv4"])  # gethostbyname2(), getaddrinfo()
def test_the_names_of_hosts_have_addresses(below, function):
    """Launchers look up the hosts that they start ssh for."""
    need("getent")
    first, second = (models.device(i).replace("_", "-") for i in (0, 1))
    out = below([], "getent", function, first, second, models.device(1), "localhost").stdout
    addresses = [line.split()[0] for line in out.splitlines() if "DGRAM" not in line
                 and "RAW" not in line]
    assert addresses[:3] == ["127.18.0.1", "127.18.1.1", "127.18.1.1"], out
    assert addresses[3] in ("127.0.0.1", "::1"), out


NAMES = """
import ctypes, socket, sys
libc = ctypes.CDLL(None)
for name in sys.argv[1:]:
    for function in (libc.gethostbyname, socket.gethostbyname):
        try:
            print(bool(function(name.encode() if function is libc.gethostbyname else name)))
        except OSError:
            print(False)
with socket.create_server((sys.argv[1], 0)) as server:
    socket.create_connection((sys.argv[1], server.getsockname()[1])).close()
"""


def test_programs_reach_a_host_by_its_name(below, host):
    """mpirun_rsh of MVAPICH 1 calls gethostbyname()."""
    out = below([], sys.executable, "-c", NAMES, host, f"{host}9", f"{host}/x").stdout
    assert out.split() == ["True", "True", "False", "False", "False", "False"]


def test_the_connection_manager_knows_the_names(below, softhca, host):
    need("rping")
    below([], "sh", "-c", f"SOFTHCA_HOST={models.device(1)} rping -s -C 1 & server=$!; "
          f"until {softhca} ctl objects | grep -q LISTEN; do kill -0 $server || exit; done; "
          f"SOFTHCA_HOST={models.device(0)} rping -c -a {host} -C 1 && wait $server")


# ---- what ssh refuses ----


@pytest.mark.parametrize("words, message", [("", "try: softhca ssh --help"), ("-p", "a host and a command"),
                                            ("mlx4_7 true", "mlx4_7: no such host"),
                                            ("../sys true", "no such host")])
def test_ssh_refused(ssh, words, message):
    done = ssh(*models.named(words).split())
    assert done.returncode == 255 and models.named(message) in done.stderr, done


# ---- hosts within runs ----


@pytest.mark.parametrize("by", ["ranks", "ssh"])
def test_mpi(below, softhca, mpi_program, by):
    """Each rank sees one adapter, and they reach one another, as on two machines. By ssh mpirun
    starts a daemon of its own on each host."""
    need("ibv_devices", "mpirun.openmpi")
    hosts = ",".join(models.device(i).replace("_", "-") for i in (0, 1))
    words = ["-mca", "plm_rsh_agent", f"{softhca} ssh", "--host", hosts] if by == "ssh" else []
    done = below(["--hosts=2"] if by == "ranks" else [], *OPEN_MPI, *words, "-n", "2", "sh",
                 "-c", f"ibv_devices; {mpi_program('openmpi')}", env={"UCX_TLS": "rc_v,self"})
    assert "2 ranks, 0 wrong" in done.stdout, done
    assert sorted(listed(done.stdout)) == [models.device(0), models.device(1)], done


def test_a_run_within_a_run_has_its_own_number_of_hosts(below):
    done = below([], "sh", "-c", "echo $SOFTHCA_HOSTS", env={"SOFTHCA_HOSTS": "2"})
    assert done.stdout == "\n"
