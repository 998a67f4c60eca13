# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A PCI function outside QEMU: the server's side of vfio-user, as QEMU's docs/interop/vfio-user
describes it."""

import array
import json
import os
import socket
import struct
import sys

HEADER = struct.Struct("<HHIII")  # message id, command, size with this header, flags, errno
VERSION, DMA_MAP, DMA_UNMAP, DEVICE_INFO, REGION_INFO = 1, 2, 3, 4, 5
IRQ_INFO, SET_IRQS, READ, WRITE, RESET = 7, 8, 9, 10, 13
REPLY, NO_REPLY, ERROR = 0x01, 0x10, 0x20
ENOTSUP = 95

# linux/vfio.h
CONFIG_REGION, REGIONS, IRQ_KINDS = 7, 9, 5
INTX, MSIX = 0, 2
READABLE_WRITABLE, EVENTFD, NO_RESIZE, DATA_EVENTFD = 3, 1, 8, 4
DEVICE_IS_PCI, DEVICE_CAN_RESET = 2, 1


class Server:
    """The server of one function. @device has sizes (of regions), vectors, guest, read(), write()
    and reset()."""

    def __init__(self, path, device):
        self.device = device
        self.interrupts = {}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.connection = None

    def accept(self):
        self.connection, _ = self.listener.accept()
        self.listener.close()
        return self.connection

    def interrupt(self, vector):
        fd = self.interrupts.get(vector)
        if fd is not None:
            os.write(fd, (1).to_bytes(8, "little"))

    def _receive(self, size, fds):
        data = b""
        while len(data) < size:
            part, ancillary, _, _ = self.connection.recvmsg(size - len(data),
                                                            socket.CMSG_SPACE(64 * 4))
            if not part:
                sys.exit("QEMU has closed the connection")
            for _, _, raw in ancillary:
                numbers = array.array("i")
                numbers.frombytes(raw[:len(raw) - len(raw) % numbers.itemsize])
                fds += numbers
            data += part
        return data

    def serve(self):
        """Answers one message."""
        fds = []
        number, command, size, flags, _ = HEADER.unpack(self._receive(HEADER.size, fds))
        body = self._receive(size - HEADER.size, fds)
        handler = HANDLERS.get(command)
        answer = handler(self, body, fds) if handler else None
        if not flags & NO_REPLY:
            failed = answer is None
            head = HEADER.pack(number, command, HEADER.size + len(answer or b""),
                               REPLY | (ERROR if failed else 0), ENOTSUP if failed else 0)
            self.connection.sendall(head + (answer or b""))

    def version(self, body, _fds):
        offered = {"capabilities": {"max_msg_fds": 16, "max_data_xfer_size": 1 << 20}}
        return body[:4] + json.dumps(offered).encode() + b"\0"

    def dma_map(self, body, fds):
        _, _, offset, address, size = struct.unpack_from("<IIQQQ", body)
        if fds:
            self.device.guest.add(address, size, fds[0], offset)
            os.close(fds[0])
        return b""

    def dma_unmap(self, body, _fds):
        _, _, address, size = struct.unpack_from("<IIQQ", body)
        self.device.guest.remove(address, size)
        return body[:24]

    def device_info(self, _body, _fds):
        return struct.pack("<IIII", 16, DEVICE_IS_PCI | DEVICE_CAN_RESET, REGIONS, IRQ_KINDS)

    def region_info(self, body, _fds):
        index = struct.unpack_from("<I", body, 8)[0]
        size = self.device.sizes.get(index, 0)
        return struct.pack("<IIIIQQ", 32, READABLE_WRITABLE if size else 0, index, 0, size, 0)

    def irq_info(self, body, _fds):
        index = struct.unpack_from("<I", body, 8)[0]
        count = {INTX: 1, MSIX: self.device.vectors}.get(index, 0)
        return struct.pack("<IIII", 16, EVENTFD | (NO_RESIZE if index == MSIX else 0), index, count)

    def set_irqs(self, body, fds):
        _, flags, index, start, count = struct.unpack_from("<IIIII", body)
        if index == MSIX and flags & DATA_EVENTFD:
            for vector, fd in enumerate(fds, start):
                self._forget(vector)
                self.interrupts[vector] = fd
        elif index == MSIX and not count:
            for vector in list(self.interrupts):
                self._forget(vector)
        else:
            for fd in fds:
                os.close(fd)
        return b""

    def _forget(self, vector):
        fd = self.interrupts.pop(vector, None)
        if fd is not None:
            os.close(fd)

    def read(self, body, _fds):
        offset, region, size = struct.unpack_from("<QII", body)
        return body[:16] + self.device.read(region, offset, size)

    def write(self, body, _fds):
        offset, region, size = struct.unpack_from("<QII", body)
        self.device.write(region, offset, body[16:16 + size])
        return body[:16]

    def reset(self, _body, _fds):
        self.device.reset()
        return b""


HANDLERS = {
    VERSION: Server.version, DMA_MAP: Server.dma_map, DMA_UNMAP: Server.dma_unmap,
    DEVICE_INFO: Server.device_info, REGION_INFO: Server.region_info, IRQ_INFO: Server.irq_info,
    SET_IRQS: Server.set_irqs, READ: Server.read, WRITE: Server.write, RESET: Server.reset
}
