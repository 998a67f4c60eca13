# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Memory regions: the memory, protection domain and access rights of each key."""

from .layouts import MPT
from .memory import Translation

# mlx4.h: MLX4_PERM_* from bit 10 on
LOCAL_READ, LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC = 1, 2, 4, 8, 16
HARDWARE, SOFTWARE = 0x0, 0xf  # the owner of an entry


class Denied(Exception):
    """The key does not open this memory."""


class Keys:
    """The keys of one adapter. @_find(key) returns the region, or None."""

    def __init__(self, function):
        self.function = function

    def views(self, pd, segment, access):
        """Views of the memory of @segment (bytes, key, address)."""
        size, key, address = segment
        region = self._find(key)
        if (not region or region.pd != pd or region.access & access != access or
                not region.start <= address <= region.start + region.length - size):
            raise Denied
        return list(region.pages.pieces(address - (region.start & -(1 << region.log_page)), size))


class Table(Keys):
    """The table of regions in context memory, where the driver also changes them."""

    def __init__(self, function, base, log_count):
        super().__init__(function)
        self.base, self.last = base, (1 << log_count) - 1

    def _address(self, index):
        return self.base + (index & self.last) * MPT.size

    def give(self, index, data):
        self.function.icm.write(self._address(index), data)
        self._set_owner(index, HARDWARE)

    def take(self, index):
        self._set_owner(index, SOFTWARE)

    def _set_owner(self, index, owner):
        entry = bytearray(self.function.icm.read(self._address(index), MPT.size))
        MPT.put(entry, owner=owner)
        self.function.icm.write(self._address(index), entry)

    def _find(self, key):
        """The region of a key. The low byte of a key is the high byte of the region's index."""
        index = key >> 8 | (key & 0xff) << 24
        region = MPT.parse(self.function.icm.read(self._address(index), MPT.size))
        region.pages = Translation(self.function.icm, self.function.mtt_base + region.mtt,
                                   region.log_page)
        return region if region.key == index and region.owner == HARDWARE else None


def scatter(views, data):
    data = memoryview(data)
    for view in views:
        part = min(len(view), len(data))
        view[:part] = data[:part]
        data = data[part:]
