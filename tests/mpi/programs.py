# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The programs of OFED's time that scripts/try-mpi runs, and the cases of each.

To add a program: a class with cases(), and its row in PROGRAMS.
In command lines WORK is the case's directory, HOST0 the server's host and HOST1 the client's.
"""

import itertools
import pathlib
import subprocess

EXCHANGE = pathlib.Path(__file__).resolve().parent / "exchange.c"
# {layout: adapters}, of "machines" each. The ranks of the first three have no shared memory, so all
# use the adapters.
LAYOUTS = {"one adapter": 1, "two adapters": 2, "hosts by rank": 2, "two hosts": 2, "machines": 1}
HOSTS = "two hosts", "machines"  # the layouts with a hostfile
NO_MPI = "only MPIs run on machines here"


# What a case is unless it says otherwise. "stays": its ranks go on when its launcher is killed.
USUAL = {"skip": None, "machines": 0, "layout": "two hosts", "kill": None, "stays": False,
         "server": None}


class Program:
    """Installed below a prefix."""

    def __init__(self, name, prefix):
        self.name, self.bin = name, prefix / "bin"

    def prepare(self, work):
        """Returns the output of a compiler that fails."""
        return ""


class Mpi(Program):
    """An MPI: how its launcher is told the hosts and the settings."""
    launchers = ["mpirun"]
    missing = {}  # {layout: why there is no such case}

    def words(self, launcher, layout, ranks, xrc):
        raise NotImplementedError

    def why_not(self, layout, machines, ranks, xrc):
        """Returns why there is no such case, or None."""
        return self.missing.get(layout)

    def prepare(self, work):
        done = subprocess.run([
            str(self.bin / "mpicc"), "-std=gnu11", "-o", "exchange", str(EXCHANGE)
        ], cwd=str(work), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout.decode() if done.returncode else ""

    def cases(self, model, work, machines):
        layouts = ["machines"] if machines else [name for name in LAYOUTS if name != "machines"]
        for layout, ranks, xrc in itertools.product(layouts, (2, 4, 8, 16), (True, False)):
            for launcher in self.launchers if layout in HOSTS else self.launchers[:1]:
                if ranks >= machines:
                    yield self.case(model, work, machines, launcher, layout, ranks, xrc)
        for launcher, kill in itertools.product(self.launchers, ("rank", "launcher")):
            yield self.case(model, work, machines, launcher, layouts[-1], 4, True, kill)

    def case(self, model, work, machines, launcher, layout, ranks, xrc, kill=None):
        name = [self.name, launcher, model, f"{machines} machines" if machines else layout,
                f"np {ranks}", f"XRC {'on' if xrc else 'off'}"]
        return {
            **USUAL, "name": ", ".join(name + ([f"kill -9 of {kill}"] if kill else [])),
            "skip": self.why_not(layout, machines, ranks, xrc), "model": model,
            "layout": layout, "ranks": ranks, "machines": machines, "xrc": xrc, "kill": kill,
            # Its mpispawn does not notice that mpirun_rsh has gone.
            "stays": launcher == "mpirun_rsh" and kill == "launcher",
            "expect": rf"verified \d+ bytes on {ranks} ranks",
            "command": [str(self.bin / launcher), *self.words(launcher, layout, ranks, xrc),
                        f"{work}/exchange", "0" if kill else "2"]
        }


class Mvapich2(Mpi):
    launchers = ["mpiexec.hydra", "mpirun_rsh"]

    def words(self, launcher, layout, ranks, xrc):
        # Without XRC, on adapters that it does not know, it joins messages into one that has no
        # sequence number. The receiver then waits for ever.
        settings = {"MV2_USE_XRC": int(xrc), "MV2_ENABLE_AFFINITY": 0, "MV2_USE_COALESCE": 0,
                    "MV2_USE_SHARED_MEM": int(layout in HOSTS)}
        if layout == "two adapters":
            settings["MV2_NUM_HCAS"] = 2
        if launcher == "mpirun_rsh":
            return ["-np", str(ranks), "-hostfile", "WORK/hostfile",
                    *(f"{name}={value}" for name, value in settings.items())]
        hosts = ["-f", "WORK/hostfile", "-launcher", "ssh", "-launcher-exec", "WORK/ssh"]
        return ["-n", str(ranks), *(hosts if layout in HOSTS else []),
                *(word for name, value in settings.items() for word in ("-env", name, str(value)))]


class Mvapich(Mpi):
    launchers = ["mpirun_rsh"]
    missing = {layout: "its ranks on one host share memory; no setting sends them to the adapter"
               for layout in ("one adapter", "two adapters", "hosts by rank")}

    def why_not(self, layout, machines, ranks, xrc):
        if xrc and ranks > machines > 2:
            return "it drops packets while ranks of several hosts connect over shared QPs"
        return super().why_not(layout, machines, ranks, xrc)

    def words(self, launcher, layout, ranks, xrc):
        # With the registration cache its malloc deregisters while it holds the lock that the
        # provider's free() waits for.
        return ["-np", str(ranks), "-hostfile", "WORK/hostfile.ranks", f"VIADEV_USE_XRC={int(xrc)}",
                "VIADEV_USE_AFFINITY=0", "VIADEV_USE_DREG_CACHE=0"]


class MvapichHybrid(Mpi):
    launchers = ["mpirun_rsh"]
    missing = {"two adapters": "a rank uses one"}

    def words(self, launcher, layout, ranks, xrc):
        # With an MTU of 4096 it fails its own assertion: two sets of its buffers have that size.
        settings = {"MV_MTU": 2048, "MV_ENABLE_AFFINITY": 0, "MV_USE_REG_CACHE": 0,
                    "MV_USE_SHARED_MEM": int(layout in HOSTS)}
        if xrc:
            settings["MV_CONN_TYPE"] = "XRC_SHARED_SRQ"
        hosts = ["-hostfile", "WORK/hostfile.ranks"] if layout in HOSTS else ["HOST0"] * ranks
        return ["-np", str(ranks), *hosts,
                *(f"{name}={value}" for name, value in settings.items())]


class OpenMpi(Mpi):
    def __init__(self, name, prefix):
        super().__init__(name, prefix)
        # In its namespaces a case runs as root. Releases that refuse this have the option.
        launcher = (self.bin / "mpirun").read_bytes()
        self.as_root = ["--allow-run-as-root"] if b"allow-run-as-root" in launcher else []

    def words(self, launcher, layout, ranks, xrc):
        hosts = layout in HOSTS
        short, long = "XX" if xrc else "PS"
        queues = f"{short},128,256,192,128:{long},65536,256,192,128"
        words = [*self.as_root, "-np", str(ranks), "--mca", "btl", f"openib,{'sm,' if hosts else ''}self",
                 "--mca", "btl_openib_receive_queues", queues]
        return words + (["--mca", "plm_rsh_agent", "WORK/ssh", "--hostfile", "WORK/hostfile.slots"]
                        if hosts else [])


class Pair(Program):
    """A server on one host, a client on the other."""
    tests = {}  # {name: what the client prints}

    def server(self, test):
        raise NotImplementedError

    def client(self, test):
        raise NotImplementedError

    def cases(self, model, work, machines):
        for test, expect in self.tests.items():
            yield {
                **USUAL, "name": f"{self.name}, {model}, {test}",
                "skip": NO_MPI if machines else None, "model": model, "ranks": 2,
                "xrc": test.startswith("xrc"), "expect": expect,
                "server": ["WORK/ssh", "HOST0", *self.server(test)],
                "command": ["WORK/ssh", "HOST1", *self.client(test)]
            }


class Qperf(Pair):
    tests = {
        test: rf"^{test}:\n +(send_)?(bw|latency|msg_rate) "
        for test in ("rc_bw rc_bi_bw rc_lat rc_rdma_read_bw rc_rdma_write_lat uc_bw ud_lat "
                     "rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add xrc_bw xrc_bi_bw "
                     "xrc_lat").split()
    }

    def server(self, test):
        return [str(self.bin / "qperf")]

    def client(self, test):
        return [*self.server(test), "-t", "1", "HOST0", test]


class Perftest(Pair):
    tests = {
        **{f"ib_{test}": r"^ *\d+ +\d+ +[\d.]+ +[\d.]+" for test in (
            "write_bw write_bw_postlist write_lat read_bw read_lat send_bw send_lat").split()},
        "rdma_bw": "Bandwidth average: ", "rdma_lat": "Latency typical: "
    }

    def server(self, test):
        return [str(self.bin / test), "-n", "200"]

    def client(self, test):
        return [*self.server(test), "HOST0"]


class Gasnet(Program):
    """Its own testgasnet, started by its ssh spawner. It uses XRC where hosts have several
    processes, and takes the emulated hosts, whose gethostid() is the same, for one."""

    def cases(self, model, work, machines):
        for ranks, xrc in itertools.product((4, 8, 16), (True, False)):
            settings = {"SPAWNER": "ssh", "SSH_CMD": "WORK/ssh", "SSH_OPTIONS": "",
                        "SSH_NODEFILE": "WORK/hostfile.ranks", "SUPERNODE_MAXSIZE": ranks // 2,
                        "USE_SRQ": int(xrc), "EXITTIMEOUT": 60, "PHYSMEM_NOPROBE": 1,
                        "PHYSMEM_MAX": f"{32 * ranks}M"}
            yield {
                **USUAL, "name": f"{self.name}, {model}, np {ranks}, XRC {'on' if xrc else 'off'}",
                "skip": NO_MPI if machines else None, "model": model, "ranks": ranks, "xrc": xrc,
                "expect": rf"(?s)(passed AM test.*){{{ranks}}}",
                "command": ["WORK/ssh", "HOST0", "env",
                            *(f"GASNET_{name}={value}" for name, value in settings.items()),
                            str(self.bin / "gasnetrun_ibv"), "-n", str(ranks),
                            str(self.bin / "testgasnet")]
            }


# {name: (class, what it is, where its sources are published)}
PROGRAMS = {
    "mvapich2": (Mvapich2, "MVAPICH2 1.4 to 2.3 (gen2): receive QPs; malloc and munmap of its own",
                 "releases of the MVAPICH project: mvapich2-1.7"),
    "mvapich": (Mvapich, "MVAPICH 1.1 and 1.2 (ch_gen2): XRC QPs that send and receive",
                "releases of the MVAPICH project: mvapich-1.2rc1"),
    "mvapich-hybrid": (MvapichHybrid, "MVAPICH 1.1 and 1.2 (ch_hybrid): UD, RC and XRC in one job",
                       "releases of the MVAPICH project: mvapich-1.2rc1"),
    "openmpi": (OpenMpi, "Open MPI 1.3 to 2.1 (openib; xoob or udcm): receive QPs",
                "releases of the Open MPI project: 1.6.5, 1.10.7"),
    "gasnet": (Gasnet, "GASNet 1.26 (ibv conduit) and its testgasnet: receive QPs",
               "releases of the GASNet project: 1.26.4"),
    "qperf": (Qperf, "qperf 0.4: XRC QPs that send and receive",
              "repository qperf of linux-rdma: v0.4.10, v0.4.11"),
    "perftest": (Perftest, "perftest 1.0 to 1.3 of OFED: RC queue pairs; none of it used XRC",
                 "repository perftest of linux-rdma: commit 30a230a, the last of 1.3.0"),
}
