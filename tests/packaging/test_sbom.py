# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""packaging/sbom names what is linked into the bundle, and the files of the release."""

import hashlib
import json
import sys
import tarfile

import pytest

SOURCE, BUNDLE = "xrc-compat-1.0.0.tar.xz", "xrc-compat-1.0.0-x86_64.tar.gz"
# A version of Debian may begin with an epoch.
VERSIONS = {"elfutils": "0.183-1", "zlib": "1:1.2.11.dfsg-2+deb11u2"}


@pytest.fixture
def sbom(run, source_root, tmp_path):
    """sbom({source package: version}): runs it on a release whose bundle names these."""
    def made(versions):
        release = tmp_path / "release"
        release.mkdir()
        (release / SOURCE).write_bytes(b"the sources")
        (tmp_path / "linked-in").write_text("".join(
            f"{name} {version}: a source package\n" for name, version in versions.items()))
        with tarfile.open(release / BUNDLE, "w:gz") as tar:
            tar.add(tmp_path / "linked-in", "xrc-compat-1.0.0-x86_64/share/LICENSES/linked-in")
        return run([sys.executable, source_root / "packaging" / "sbom", release])
    return made


def test_it_names_files_and_what_is_linked_into_the_bundle(sbom):
    document = json.loads(sbom(VERSIONS).stdout)
    packages = {item["name"]: item for item in document["packages"]}
    assert {name: packages[name]["versionInfo"] for name in packages} == {
        SOURCE: "1.0.0", BUNDLE: "1.0.0", **VERSIONS}
    [checksum] = packages[SOURCE]["checksums"]
    assert checksum["checksumValue"] == hashlib.sha256(b"the sources").hexdigest()


def test_the_bundle_has_the_licences_of_all_its_parts(sbom):
    document = json.loads(sbom({**VERSIONS, "bzip2": "1.0.8-4"}).stdout)
    packages = {item["name"]: item for item in document["packages"]}
    assert packages[SOURCE]["licenseConcluded"] == "Linux-OpenIB OR GPL-2.0-only"
    assert packages[BUNDLE]["licenseConcluded"] == packages[BUNDLE]["licenseDeclared"] == (
        "(Linux-OpenIB OR GPL-2.0-only) AND (GPL-2.0-or-later OR LGPL-3.0-or-later) AND Zlib"
        " AND bzip2-1.0.6")


def test_it_relates_them(sbom):
    document = json.loads(sbom(VERSIONS).stdout)
    names = {item["SPDXID"]: item["name"] for item in document["packages"]}
    assert len(names) == len(document["packages"])
    names["SPDXRef-DOCUMENT"] = "document"
    assert {(names[item["spdxElementId"]], item["relationshipType"], names[item["relatedSpdxElement"]])
            for item in document["relationships"]} == {
        ("document", "DESCRIBES", SOURCE), ("document", "DESCRIBES", BUNDLE),
        (BUNDLE, "GENERATED_FROM", SOURCE),
        (BUNDLE, "STATIC_LINK", "elfutils"), (BUNDLE, "STATIC_LINK", "zlib")}


def test_a_package_of_an_unknown_licence_is_named(sbom):
    done = sbom({**VERSIONS, "newlib": "1"})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "sbom: LINKED_IN has no licence of newlib\n"
