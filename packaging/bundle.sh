# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
# The part of build-bundle that runs on the fresh system, in /opt/source. It makes
# /opt/xrc-compat-VERSION-x86_64.tar.gz.
set -eux

source=$(cd "$(dirname "$0")/.." && pwd)
name=xrc-compat-$1-x86_64
bundle=$source/build-bundle/$name
lib64=lib/x86_64-linux-gnu lib32=lib/i386-linux-gnu
cd "$source"

# ---- build ----
harden="-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"
relro="-Wl,-z,relro -Wl,-z,now"
options="--buildtype=release -Dany_glibc=true -Dstatic_elfutils=true -Dtests=disabled"
# shellcheck disable=SC2086 # several options
meson setup build-64 $options -Dlibdw=enabled -Dfabric=enabled "-Dc_args=$harden" "-Dc_link_args=$relro" \
	--prefix=/opt/xrc-compat --libdir=$lib64
ninja -C build-64
# shellcheck disable=SC2086
meson setup build-32 $options "-Dc_args=$harden" "-Dc_link_args=$relro" \
	--cross-file packaging/i386.cross
ninja -C build-32 shim/libxrc-compat.so.1 subprojects/softhca/bin/libsofthca.so abi/link/libibverbs.so \
	companions/libibumad.so.1 companions/libibumad.so.2 companions/libibcommon.so.1 companions/libibcm.so.1 \
	companions/libibverbs.so companions/librdmacm.so companions/libibumad.so companions/libibmad.so
for bits in 64 32; do
	gcc -m$bits -O2 -D_GNU_SOURCE -Iinclude/ofed -I. demo/*.c -o build-$bits/xrc-cluster -Wl,-z,lazy \
		-Lbuild-$bits/abi/link -libverbs
done

# ---- collect ----
DESTDIR=$source/build-bundle/installed meson install -C build-64 --no-rebuild
mv build-bundle/installed/opt/xrc-compat "$bundle"
mkdir -p "$bundle/$lib32/xrc-compat" "$bundle/$lib32/softhca" "$bundle/share/doc/xrc-compat"
cp build-32/shim/libxrc-compat.so.1 build-32/companions/lib*.so build-32/companions/lib*.so.[12] \
	"$bundle/$lib32/xrc-compat"
cp build-32/subprojects/softhca/bin/libsofthca.so "$bundle/$lib32/softhca"
cp build-64/xrc-cluster "$bundle/libexec/xrc-compat"
cp build-32/xrc-cluster "$bundle/libexec/xrc-compat/xrc-cluster-32"
cp -R COPYING LICENSES "$bundle/share/doc/xrc-compat"
# The licence and the name of the source package of each library that is linked into the commands.
for package in libdw-dev zlib1g-dev liblzma-dev libbz2-dev; do
	cp /usr/share/doc/$package/copyright "$bundle/share/doc/xrc-compat/LICENSES/$package"
	dpkg-query -W -f '${source:Package} ${source:Version}: the source package of Debian 11\n' $package
done >"$bundle/share/doc/xrc-compat/LICENSES/linked-in"
mkdir -p "$bundle/share/modulefiles/xrc-compat"
cp packaging/modulefile "$bundle/share/modulefiles/xrc-compat/$1"
# Files for recompiling contain the prefix of the build, so the bundle cannot have them.
rm -r "$bundle/include" "$bundle/$lib64/pkgconfig" "$bundle/$lib64/xrc-compat/link" \
	"$bundle/$lib64/xrc-compat/ofed" "$bundle/share/man/man3"
# The loader replaces $LIB by lib64, lib32 or lib on other distributions.
ln -s $lib64 "$bundle/lib64"
ln -s $lib32 "$bundle/lib32"
ln -s i386-linux-gnu/xrc-compat i386-linux-gnu/softhca "$bundle/lib"
libraries="$bundle/$lib64/xrc-compat/* $bundle/$lib32/xrc-compat/* $bundle/lib/*/softhca/*"
commands="$bundle/bin/* $bundle/libexec/xrc-compat/*-cluster* $bundle/libexec/xrc-compat/*-selftest"
# shellcheck disable=SC2086 # patterns without blanks
strip --strip-unneeded $libraries $commands

# ---- check ----
# shellcheck disable=SC2086
packaging/needed-versions 2.17 $libraries
# shellcheck disable=SC2086
packaging/needed-versions 2.28 $commands
for file in "$bundle"/bin/* $libraries; do
	readelf -dW "$file" | grep -q 'NOW' || { echo "$file is not bound at start"; exit 1; }
	# These have no function with an array to protect.
	case $file in
	*/libibcm.so.1 | */libibcommon.so.1 | */lib*mad.so | */libibverbs.so | */librdmacm.so)
		continue
		;;
	esac
	readelf --dyn-syms -W "$file" | grep -q __stack_chk_fail ||
		{ echo "$file has no stack protector"; exit 1; }
done
needs=$(objdump -p "$bundle"/bin/*)
if printf '%s\n' "$needs" | grep -E 'NEEDED +(libelf|libdw|libz|liblzma|libbz2)|R(UN)?PATH'; then exit 1; fi

tar -C build-bundle --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
	-czf "/opt/$name.tar.gz" "$name"
