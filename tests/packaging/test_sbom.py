# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""packaging/sbom names what is linked into the bundle, and the files of the release."""

import hashlib
import json
import sys
import tarfile


def test_it_names_the_versions_that_the_bundle_does(run, source_root, tmp_path):
    """A version of Debian may begin with an epoch."""
    release = tmp_path / "release"
    release.mkdir()
    (release / "xrc-compat-1.0.0.tar.xz").write_bytes(b"the sources")
    (tmp_path / "linked-in").write_text("elfutils 0.183-1: a source package\n"
                                        "xz-utils 5.2.5-2.1: a source package\n"
                                        "zlib 1:1.2.11.dfsg-2+deb11u2: a source package\n")
    with tarfile.open(release / "xrc-compat-1.0.0-x86_64.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "linked-in", "xrc-compat-1.0.0-x86_64/share/LICENSES/linked-in")
    (tmp_path / "found").write_text(json.dumps([{"name": "libibverbs", "version": "1.14.44.0"}]))
    done = run([sys.executable, source_root / "packaging" / "sbom", tmp_path / "found", release])
    packages = {item["name"]: item for item in json.loads(done.stdout)["packages"]}
    versions = {name: packages[name]["versionInfo"] for name in ("elfutils", "zlib", "libibverbs")}
    assert versions == {"elfutils": "0.183-1", "zlib": "1:1.2.11.dfsg-2+deb11u2",
                        "libibverbs": "1.14.44.0"}
    [checksum] = packages["xrc-compat-1.0.0.tar.xz"]["checksums"]
    assert checksum["checksumValue"] == hashlib.sha256(b"the sources").hexdigest()
