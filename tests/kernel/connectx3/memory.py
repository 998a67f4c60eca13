# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The guest's memory as the adapter reaches it: by DMA, through its context memory (ICM), through
translation tables (MTT)."""

import bisect
import mmap

PAGE = 4096


class Guest:
    """The guest's physical memory, as QEMU has given it to this process."""

    def __init__(self):
        self.maps = []

    def add(self, address, size, fd, offset):
        self.maps.append((address, size, memoryview(mmap.mmap(fd, size, offset=offset))))

    def remove(self, address, size):
        self.maps = [
            row for row in self.maps
            if not (address <= row[0] and row[0] + row[1] <= address + size)
        ]

    def view(self, address, size):
        """The @size bytes at this address, which can be read and written in place."""
        for start, length, data in self.maps:
            if start <= address and address + size <= start + length:
                return data[address - start:address - start + size]
        raise LookupError(f"no memory at {address:#x}+{size:#x}")


class Icm:
    """Context memory. The driver maps pages of its own at addresses of the adapter."""

    def __init__(self, guest):
        self.guest = guest
        self.starts, self.chunks = [], {}

    def map(self, virtual, physical, size):
        bisect.insort(self.starts, virtual)
        self.chunks[virtual] = (physical, size)

    def unmap(self, virtual, size):
        for start in [start for start in self.starts if virtual <= start < virtual + size]:
            self.starts.remove(start)
            del self.chunks[start]

    def pieces(self, address, size):
        """Views of the @size bytes at this address, in order."""
        while size:
            start = self.starts[bisect.bisect_right(self.starts, address) - 1]
            physical, length = self.chunks[start]
            if not start <= address < start + length:
                raise LookupError(f"no memory at {address:#x}")
            part = min(size, start + length - address)
            yield self.guest.view(physical + address - start, part)
            address, size = address + part, size - part

    def read(self, address, size):
        return b"".join(self.pieces(address, size))

    def write(self, address, data):
        for piece in self.pieces(address, len(data)):
            piece[:] = data[:len(piece)]
            data = data[len(piece):]


def addresses(entries):
    """The addresses of the pages in a list, without the low bits, which are flags."""
    return [int.from_bytes(entries[at:at + 8], "big") & -PAGE for at in range(0, len(entries), 8)]


class Pages:
    """The pages of a buffer or memory region: those at @known, of 1 << @shift bytes each."""

    def __init__(self, guest, shift, known=()):
        self.guest, self.shift, self.known = guest, shift, known

    def physical(self, first, count):
        return self.known[first:first + count]

    def pieces(self, offset, size):
        """Views of @size bytes, @offset bytes into the pages."""
        first, within = offset >> self.shift, offset & (1 << self.shift) - 1
        for page in self.physical(first, (within + size + (1 << self.shift) - 1) >> self.shift):
            part = min(size, (1 << self.shift) - within)
            yield self.guest.view(page + within, part)
            size, within = size - part, 0


class Translation(Pages):
    """The pages that the MTT lists from @address on."""

    def __init__(self, icm, address, shift):
        super().__init__(icm.guest, shift)
        self.icm, self.address = icm, address

    def physical(self, first, count):
        return addresses(self.icm.read(self.address + 8 * first, 8 * count))


class Ring:
    """A buffer of @count slots, each within one page. Its pages do not change while it is used."""

    def __init__(self, pages, count, size, offset=0):
        self.count, self.size, self.offset = count, size, offset
        self.shift = pages.shift
        needed = (offset + count * size + (1 << self.shift) - 1) >> self.shift
        self.pages = [pages.guest.view(page, 1 << self.shift) for page in pages.physical(0, needed)]

    def slot(self, index):
        at = self.offset + (index & self.count - 1) * self.size
        within = at & (1 << self.shift) - 1
        return self.pages[at >> self.shift][within:within + self.size]

    def turn(self, index):
        """The owner bit of a valid entry. It changes each time the ring has been filled."""
        return int(bool(index & self.count))
