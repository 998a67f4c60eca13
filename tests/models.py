# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The models of adapter that tests run on: all of them, one after the other, by the fixture `model` of conftest.py."""

import os

# What softhca calls a model, and the driver that serves it.
DRIVERS = {"connectx3": "mlx4", "connectx5": "mlx5"}


def chosen():
    """The models to test on: all, or those named in SOFTHCA_TEST_MODELS."""
    return os.environ.get("SOFTHCA_TEST_MODELS", " ".join(DRIVERS)).split()


def model():
    """The model that softhca emulates in the test at hand."""
    return os.environ["SOFTHCA_MODEL"]


def driver():
    return DRIVERS[model()]


def device(index):
    """The name of an emulated adapter."""
    return f"{driver()}_{index}"


def named(text):
    """Text that is written for mlx4_0, mlx4_1 ..., with the names of the model at hand."""
    return text.replace("mlx4_", f"{driver()}_")
