# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The common part of both adapters' command interfaces: a table of functions by opcode, and the
status of a command."""

from memory import Fault

# drivers/net/ethernet/mellanox/mlx4/cmd.c: CMD_STAT_*, include/linux/mlx5/device.h: MLX5_CMD_STAT_*
OK, INTERNAL_ERROR, BAD_OPCODE = 0x00, 0x01, 0x02
BAD_PARAMETER, BAD_RESOURCE, BAD_STATE = 0x03, 0x05, 0x10


class Refused(Exception):
    """Ends a command with a status other than OK."""

    def __init__(self, status):
        super().__init__(f"status {status:#x}")
        self.status = status


class Commands:
    """A table of functions by opcode. Each takes a call, which has the opcode and the adapter
    (function)."""

    def __init__(self):
        self.known = {}

    def add(self, *opcodes):
        def _add(function):
            self.known.update(dict.fromkeys(opcodes, function))
            return function

        return _add

    def run(self, call):
        """Runs the call's function; returns (status, its result)."""
        handler = self.known.get(call.opcode)
        if not handler:
            return BAD_OPCODE, None
        try:
            return OK, handler(call)
        except Refused as refused:
            return refused.status, None
        except Fault as fault:
            call.function.log(f"command {call.opcode:#x}: {fault}")
            return INTERNAL_ERROR, None
