# Debian packages: dpkg-buildpackage -us -uc -b
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/rules debian/source/format \
	debian/libsemcache0.README.Debian debian/libsemcache0.install debian/libsemcache0.prerm \
	debian/libsemcache-dev.install debian/libsemcache-cuda.install debian/libsemcache-cuda.lintian-overrides \
	debian/libsemcache-cuda-um0.install debian/libsemcache-cuda-um0.lintian-overrides \
	debian/libsemcache-cuda-um-dev.install debian/semcache-tools.install
# SPDX-License-Identifier: BSD-2-Clause
