# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Clients that write to the daemon's socket themselves, and send descriptors that the preload would
never send. The daemon must live, leak no descriptor and serve the next client."""

import array
import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import random
import resource
import socket
import struct
import time

import pytest

import models
from built import holding

pytestmark = pytest.mark.any_model

SECONDS = float(os.environ.get("SOFTHCA_FUZZ_SECONDS", "2"))
SEED = int(os.environ.get("SOFTHCA_FUZZ_SEED", "1").replace("fresh", str(int(time.time()))))
MAGIC, VERSION = 0x53484341, 7
CONTEXT, CONTROL, CM, NETLINK, CAPTURE = 1, 2, 3, 4, 5
HELLO = "<4I2Q"
PAGES = 1024
SIZE = 4096 + 4096 * PAGES  # the table, and the pages
MFD_ALLOW_SEALING, MFD_HUGETLB = 2, 4
F_ADD_SEALS, SEAL, SHRINK, GROW, WRITE = 1033, 1, 2, 4, 8

probe = ctypes.c_uint32(MAGIC)
answer = ctypes.create_string_buffer(4096)


def hello(kind=CONTEXT, device=0, pages=PAGES, version=VERSION, word=probe):
    return struct.pack(HELLO, MAGIC, version, kind, device, pages, ctypes.addressof(word))


@pytest.fixture
def balanced(daemon):
    """Afterwards the daemon still answers, and has no more descriptors than before."""
    before = daemon.descriptors()
    yield
    daemon.objects()
    daemon.until_given_back(before)


def connect(daemon):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.settimeout(30)
    sock.connect(str(daemon.directory / "socket"))
    return sock


def send(sock, data, fds=()):
    control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    sock.sendmsg([data], control)


def receive(sock):
    """Receives one message, and drops a descriptor that comes with it."""
    data, control, _, _ = sock.recvmsg(4096, socket.CMSG_SPACE(4))
    for _, _, fds in control:
        os.close(struct.unpack("i", fds[:4])[0])
    return data


def receive_descriptor(sock):
    """The descriptor that comes with the next message."""
    _, control, _, _ = sock.recvmsg(4096, socket.CMSG_SPACE(4))
    return struct.unpack("i", control[0][2][:4])[0]


def command(sock, number, *words):
    """Sends a command: the address of the response, then @words. Returns the daemon's status."""
    body = struct.pack("<Q", ctypes.addressof(answer)) + b"".join(words)
    send(sock, struct.pack("<IHH", number, 2 + len(body) // 4, 64) + body)
    return struct.unpack("<i", receive(sock)[:4])[0]


# ---- descriptors that are sent as the arena, and whether the daemon uses it ----

def memfd(size=SIZE, flags=0, seals=SEAL | SHRINK | GROW):
    fd = os.memfd_create("arena", MFD_ALLOW_SEALING | flags)
    os.ftruncate(fd, size)
    if seals:
        fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd


def opened(path, flags):
    return lambda: os.open(path, flags)


def a_file():
    fd = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
    os.ftruncate(fd, SIZE)
    return fd


ARENAS = {
    "as it should be": (memfd, 1),
    "huge pages that are not there": (lambda: memfd(flags=MFD_HUGETLB), 0),
    "not sealed": (lambda: memfd(seals=0), 0),
    "too short": (lambda: memfd(SIZE // 2), 0),
    "not to be written": (lambda: memfd(seals=SEAL | SHRINK | GROW | WRITE), 0),
    "a file": (a_file, 0),
    "a device": (opened("/dev/zero", os.O_RDWR), 0),
    "only for writing": (opened("/dev/null", os.O_WRONLY), 0),
    "only a path": (opened("/dev/null", os.O_PATH), 0),
    "a socket": (lambda: socket.socket().detach(), 0),
}


def use_ring(sock, base):
    """A completion queue, into which the daemon writes."""
    if models.driver() == "mlx4":
        driver = struct.pack("<QQ", 0, 0)
    else:
        driver = struct.pack("<IIIIB7xQ", 16, 4, 0, 0, 1, 3)
    assert command(sock, 0, driver) == 0
    place = struct.pack("<QQ", base, base + 0x100000)
    tail = b"" if models.driver() == "mlx4" else struct.pack("<IBBHHHI", 64, 0, 0, 0, 0, 0, 0)
    return command(sock, 18, struct.pack("<QIIiI", 0, 1000, 0, -1, 0), place, tail)


@pytest.mark.parametrize("arena", ARENAS)
def test_arena(daemon, balanced, arena):
    make, wanted = ARENAS[arena]
    try:
        fd = make()
    except OSError as error:
        pytest.skip(f"this kernel has none: {error}")
    memory = mmap.mmap(-1, SIZE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    sock = connect(daemon)
    send(sock, hello(), [fd])
    status, used = struct.unpack("<iI", receive(sock)[:8])
    assert (status, used) == (0, wanted)
    receive(sock)  # the page by which programs wake the daemon
    assert use_ring(sock, base) == 0
    os.close(fd)
    sock.close()


def test_several_descriptors_at_once(daemon):
    """The daemon closes descriptors that it did not ask for."""
    sock = connect(daemon)
    send(sock, hello(pages=0), [0, 1, 2])
    assert struct.unpack("<i", receive(sock)[:4])[0] == 0
    receive(sock)  # the page by which programs wake the daemon
    before = daemon.descriptors()
    for count in (1, 2, 3, 20):
        send(sock, struct.pack("<IHH", 3, 2, 0), [0] * count)
        assert struct.unpack("<i", receive(sock)[:4])[0] == -errno.EINVAL
    daemon.until_given_back(before)
    sock.close()


def must_keep_its_size(file):
    """A program that cut it short would kill the daemon by SIGBUS."""
    for size in (0, os.fstat(file).st_size + 4096):
        with pytest.raises(PermissionError):
            os.ftruncate(file, size)
    os.close(file)


def test_the_page_that_all_programs_share_keeps_its_size(daemon, balanced):
    with connect(daemon) as sock:
        send(sock, hello(pages=0))
        receive(sock)
        must_keep_its_size(receive_descriptor(sock))


def test_the_ring_of_a_capture_keeps_its_size(daemon, balanced):
    fd = a_file()
    with connect(daemon) as sock:
        send(sock, hello(CAPTURE, device=128), [fd])
        os.close(fd)
        must_keep_its_size(receive_descriptor(sock))


def test_a_client_that_fetches_no_answer_holds_up_no_other(daemon, balanced):
    with connect(daemon) as sock:
        send(sock, hello(pages=0))
        sock.settimeout(1)
        with contextlib.suppress(OSError):
            for _ in range(2000):
                send(sock, struct.pack("<IHH", 3, 2, 0))
        daemon.objects()


# ---- the greeting ----

@pytest.mark.parametrize("wrong, error", [
    ({"version": VERSION + 1}, errno.EPROTO),
    ({"word": ctypes.c_uint32(7)}, errno.EACCES),  # as memory of another process
    ({"kind": 9}, errno.EPROTO),
], ids=lambda value: next(iter(value), "") if isinstance(value, dict) else "")
def test_a_wrong_greeting_is_refused(daemon, wrong, error):
    with connect(daemon) as sock:
        send(sock, hello(pages=0, **wrong))
        assert struct.unpack("<i", receive(sock)[:4])[0] == -error


def test_a_connection_beyond_the_last_descriptor_is_closed(daemon, balanced):
    last = max(int(fd) for fd in os.listdir(f"/proc/{daemon.pid}/fd"))
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (last + 5, last + 5))
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connect(daemon)) for _ in range(32)]
        assert connections[-1].recv(1) == b""


def test_a_greeting_longer_than_any_command_is_not_answered(daemon):
    with connect(daemon) as sock:
        send(sock, hello(pages=0) + bytes(5000))
        assert receive(sock) == b""


def test_a_rejected_netlink_request_fails(daemon, monkeypatch):
    """As by a daemon of another version. The program gets the daemon's error."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(daemon.scratch / "socket"))
        listener.listen()
        monkeypatch.setenv("SOFTHCA_DIR", str(daemon.scratch))
        with daemon.start(["python3", "-c", "import socket; socket.socket(16, 3, 20).sendto(b'', (0, 0))"
                           ]) as program:
            sock = listener.accept()[0]
            sock.recv(4096)
            sock.send(struct.pack("<iII", -errno.EPROTO, 0, 0))
            assert f"[Errno {errno.EPROTO}]" in program.stdout.read()


@pytest.mark.parametrize("make, snap, error", [
    (a_file, 128, 0), (a_file, 8192, 0), (a_file, 127, errno.EINVAL), (a_file, 8193, errno.EINVAL),
    (ARENAS["a device"][0], 128, errno.EINVAL), (ARENAS["a socket"][0], 128, errno.EINVAL),
    (ARENAS["only a path"][0], 128, errno.EINVAL),
], ids=lambda value: getattr(value, "__name__", value))
def test_a_capture_brings_its_file(daemon, balanced, make, snap, error):
    fd = make()
    with connect(daemon) as sock:
        send(sock, hello(CAPTURE, device=snap), [fd])
        os.close(fd)
        assert struct.unpack("<i", receive(sock)[:4])[0] == -error


def test_a_capture_without_a_file_is_refused(daemon, balanced):
    with connect(daemon) as sock:
        send(sock, hello(CAPTURE, device=128))
        assert struct.unpack("<i", receive(sock)[:4])[0] == -errno.EINVAL


@pytest.mark.parametrize("message, words", [
    (struct.pack("<i", -errno.EIO), "Input/output error; 0 packets"),
    (struct.pack("<i", 5), "was killed; 0 packets"), (struct.pack("<i", -1 << 31), "was killed"),
    (bytes(3), "was killed"), (bytes(8), "was killed")])
def test_the_writer_of_a_capture_tells_how_it_has_ended(run, softhca, daemon, balanced, message,
                                                        words):
    fd = a_file()
    with connect(daemon) as sock:
        send(sock, hello(CAPTURE, device=128), [fd])
        os.close(fd)
        receive(sock)
        send(sock, message)
        assert receive(sock) == b""
    done = run([softhca, "ctl", "capture", "--stop"])
    assert done.returncode == 1 and words in done.stderr


def mutant(rng):
    """A greeting with some valid fields."""
    likely = [CONTEXT, CONTEXT, CM, CONTROL, NETLINK, CAPTURE, rng.getrandbits(32)]
    message = bytearray(
        struct.pack(HELLO, MAGIC, VERSION, rng.choice(likely),
                    rng.choice([0, 1, 2, 128, 2 ** 32 - 1]),
                    rng.choice([0, PAGES, 2 ** 20, 2 ** 52, 2 ** 64 - 1, rng.getrandbits(20)]),
                    rng.choice([ctypes.addressof(probe),
                                rng.getrandbits(64)])))
    for _ in range(rng.choice([0, 0, 1, 8])):
        message[rng.randrange(len(message))] = rng.getrandbits(8)
    message += rng.randbytes(rng.choice([0, 0, 8, 100, 4000, 5000]))
    return bytes(message[:rng.choice([len(message), len(message), rng.randrange(len(message))])])


ATTRIBUTES = {"device": 1, "port": 3, "lqpn": 21, "pid": 28, "cqn": 61, "ctxn": 64}


def ask(daemon, command, **named):
    """Asks by netlink for one object. Returns -errno, or the answer's attributes by their names."""
    body = b"".join(struct.pack("<HHI", 8, ATTRIBUTES[name], named[name]) for name in named)
    header = struct.pack("<IHHII", 16 + len(body), 5 << 10 | command, 1, 7, 0)
    with connect(daemon) as sock:
        send(sock, hello(NETLINK) + header + body)
        fd = receive_descriptor(sock)
    message, at, values = os.pread(fd, 4096, 0), 16, {}
    os.close(fd)
    if message[4] == 2:
        return struct.unpack_from("<i", message, at)[0]
    while at < len(message):
        size, attribute = struct.unpack_from("<HH", message, at)
        values[attribute] = int.from_bytes(message[at + 4:at + size], "little")
        at += size + 3 & ~3
    return {name: values.get(attribute) for name, attribute in ATTRIBUTES.items()}


def test_netlink_returns_one_object(daemon):
    """Without NLM_F_DUMP a request names one object, and the answer has no tables."""
    with holding(daemon) as holder:
        numbers = {o["type"]: o["number"] for o in daemon.objects()["contexts"][0]["objects"]
                   if o.get("state", "RTS") == "RTS" and "number" in o}
        for command, name, number, port in ((10, "lqpn", numbers["qp"], {"port": 1}),
                                            (12, "cqn", numbers["cq"], {}), (22, "ctxn", 0, {})):
            there = {"device": 0, name: number, **port}
            answer = ask(daemon, command, **there)
            assert (answer[name], answer["pid"]) == (number, holder.pid)
            assert ask(daemon, command, **{**there, name: 99999}) == -errno.ENOENT
            assert ask(daemon, command, **{**there, "device": 9}) == -errno.EINVAL
            for missing in there:
                rest = {key: there[key] for key in there if key != missing}
                assert ask(daemon, command, **rest) == -errno.EINVAL
    assert ask(daemon, 12, device=0, port=1, cqn=numbers["cq"]) == -errno.EINVAL
    assert ask(daemon, 5, device=0) == -errno.EINVAL


def netlink_request(rng):
    """One of the commands of RDMA, with attributes of any type and size."""
    attributes = b""
    for _ in range(rng.randrange(4)):
        value = rng.randbytes(rng.choice([0, 1, 4, 4, 4, 8]))
        attributes += struct.pack("<HH", rng.choice([len(value) + 4,
                                                     rng.randrange(16)]),
                                  rng.choice([1, 3, 18, rng.getrandbits(16)]))
        attributes += value.ljust((len(value) + 3) & ~3, b"\0")
    size = 16 + len(attributes)
    kind = rng.choice([5 << 10, 5 << 10, 5 << 10, rng.randrange(16) << 10]) | rng.randrange(32)
    return struct.pack("<IHHII", rng.choice([size, size, size, rng.getrandbits(7)]), kind,
                       rng.choice([1, 5, 0x301, 0x305]), 7, 0) + attributes


def test_random_netlink_requests(daemon, balanced):
    rng = random.Random(SEED)
    for _ in range(2000):
        with connect(daemon) as sock:
            send(sock, hello(NETLINK) + netlink_request(rng))
            assert struct.unpack("<i", receive(sock)[:4])[0] in (0, -errno.EINVAL)


def arenas():
    """The arenas that this kernel can make."""
    for make, _ in ARENAS.values():
        with contextlib.suppress(OSError):
            yield make()


def test_random_greetings(daemon, balanced):
    """SOFTHCA_FUZZ_SECONDS: for how long (default 2). SOFTHCA_FUZZ_SEED: which ones (default 1);
    "fresh" takes the clock."""
    print(f"SOFTHCA_FUZZ_SEED={SEED}")
    rng, fds, count = random.Random(SEED), list(arenas()), 0
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with connect(daemon) as sock:
            message = mutant(rng)
            send(sock, message, rng.sample(fds, rng.choice([0, 1, 1, 2, 5])))
            if message and rng.random() < 0.5:
                receive(sock)
                with contextlib.suppress(BrokenPipeError):  # it was not a greeting
                    send(sock, rng.randbytes(rng.choice([1, 8, 24, 64, 5000])), rng.sample(fds, 1))
        count += 1
    print(f"{count} greetings")
    for fd in fds:
        os.close(fd)
