# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The table of an adapter's commands: functions by opcode."""

# drivers/net/ethernet/mellanox/mlx4/cmd.c: CMD_STAT_*, include/linux/mlx5/device.h: MLX5_CMD_STAT_*
OK, BAD_OPCODE = 0x00, 0x02


class Commands(dict):
    """Each handler takes a call: an opcode, and an adapter, which is call.function (of PCI)."""

    def add(self, *opcodes):
        def _add(function):
            self.update(dict.fromkeys(opcodes, function))
            return function

        return _add

    def run(self, call):
        """Runs the call's function; returns (status, its result)."""
        if call.opcode in self:
            return OK, self[call.opcode](call)
        call.function.log(f"command {call.opcode:#x} is unknown")
        return BAD_OPCODE, None
