# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Connections migrate to their alternate path."""

import models


def test_each_case_holds(passes, softhca):
    passes(["--ports=2"], "migration", env={"SOFTHCA_TEST_COMMAND": str(softhca)})


def test_a_wrong_device_or_qp_is_refused(run, softhca):
    for words, complaint in [(["mlx4_0"], "takes DEVICE NUMBER"),
                             (["mlx4_9", "1"], "no device mlx4_9"), (["mlx4_0", "99"], "no QP 99"),
                             (["mlx4_0", "mine"], "'mine' is not a number")]:
        done = run([softhca, "run", "--", softhca, "ctl", "migrate", *map(models.named, words)])
        assert done.returncode == 1 and models.named(complaint) in done.stderr
