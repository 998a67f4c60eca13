# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A recipe for Spack, version 0.23 and later. scripts/release fills in version and checksum."""

import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.meson import MesonPackage  # since Spack 1.0
except ImportError:
    pass


class XrcCompat(MesonPackage):
    """Runs InfiniBand programs of OFED 1.3 to 1.5 that use XRC, unmodified, on today's
    rdma-core."""

    # The project has no address yet: Spack takes the tarball from the current directory.
    manual_download = True

    license("Linux-OpenIB OR GPL-2.0-only")

    version("@VERSION@", sha256="@SHA256@", url=f"file://{os.getcwd()}/xrc-compat-@VERSION@.tar.xz")

    variant("softhca", default=True, description="the emulated adapter")

    depends_on("c", type="build")
    depends_on("meson@0.56:", type="build")
    depends_on("pkgconfig", type="build")
    # At run time every program uses the libibverbs that it was linked with.
    depends_on("rdma-core@28:")
    depends_on("elfutils")
    # Not of type "build": the compiler gets no headers of such, and softhca opens the library.
    depends_on("libfabric@1.11:", when="+softhca")

    requires("platform=linux")
    requires("target=x86_64:", "target=aarch64:", policy="one_of", msg="only x86-64 and aarch64")

    def meson_args(self):
        enabled = {True: "enabled", False: "disabled"}
        softhca = enabled["+softhca" in self.spec]
        return ["-Dtests=disabled", f"-Dsofthca={softhca}", f"-Dfabric={softhca}"]
