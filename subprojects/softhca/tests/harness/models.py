# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The models of adapter that tests run on, one after the other (fixture `model` of
softhca_fixtures.py), and what they are called."""

import os

# {model, as softhca calls it: its driver}
DRIVERS = {"connectx3": "mlx4", "connectx5": "mlx5"}


def chosen():
    """The models to test on: all, or those that SOFTHCA_TEST_MODELS names."""
    return os.environ.get("SOFTHCA_TEST_MODELS", " ".join(DRIVERS)).split()


def model():
    """The model in the running test."""
    return os.environ["SOFTHCA_MODEL"]


def driver():
    return DRIVERS[model()]


def device(index):
    """The name of an emulated adapter."""
    return f"{driver()}_{index}"


def named(text):
    """@text, which names adapters mlx4_0, mlx4_1 ..., with the names that they have in the running
    test."""
    return text.replace("mlx4_", f"{driver()}_")
