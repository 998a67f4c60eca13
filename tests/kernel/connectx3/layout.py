# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Big-endian structures as tables of fields."""

from types import SimpleNamespace


class Field:
    """A field: @size bytes at @offset. With @width, only that many of their bits, from bit @shift
    on."""

    def __init__(self, offset, size, shift=0, width=None):
        self.offset, self.end, self.shift = offset, offset + size, shift
        self.bits = (1 << (8 * size - shift if width is None else width)) - 1

    def get(self, data):
        return int.from_bytes(data[self.offset:self.end], "big") >> self.shift & self.bits

    def put(self, data, value):
        if value & ~self.bits:
            raise ValueError(f"{value:#x} does not fit into {self.bits:#x}")
        old = int.from_bytes(data[self.offset:self.end], "big") & ~(self.bits << self.shift)
        data[self.offset:self.end] = (old | value << self.shift).to_bytes(
            self.end - self.offset, "big")


class Layout:
    """A structure of @size bytes; fields are given as tuples (offset, bytes[, shift, width])."""

    def __init__(self, size, **fields):
        self.size = size
        self.fields = {name: Field(*where) for name, where in fields.items()}

    def get(self, data, name):
        return self.fields[name].get(data)

    def put(self, data, **values):
        for name, value in values.items():
            self.fields[name].put(data, value)

    def build(self, **values):
        data = bytearray(self.size)
        self.put(data, **values)
        return data

    def parse(self, data):
        return SimpleNamespace(**{name: field.get(data) for name, field in self.fields.items()})

    def mask(self, names):
        """A number with the bits of these fields set, as wide as the structure."""
        mask = 0
        for name in names:
            field = self.fields[name]
            mask |= field.bits << field.shift << 8 * (self.size - field.end)
        return mask

    def merge(self, old, new, mask):
        """@old, with the bits of @mask taken from @new."""
        merged = int.from_bytes(old, "big") & ~mask | int.from_bytes(new, "big") & mask
        return bytearray(merged.to_bytes(self.size, "big"))


def filled(kind, size, **fields):
    """A structure as bytes. Each field has its value before its place; @kind makes the layout."""
    places = {name: where for name, (_, *where) in fields.items()}
    return kind(size, **places).build(**{name: row[0] for name, row in fields.items()})
