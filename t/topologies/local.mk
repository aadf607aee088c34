# SPDX-License-Identifier: BSD-3-Clause
#
# Machines that hwloc saw elsewhere.
EXTRA_DIST += \
	t/topologies/LICENSE.hwloc \
	t/topologies/LICENSE.mpibind \
	t/topologies/README.md \
	t/topologies/hwloc-24em64t-2n6c2t-pci.xml \
	t/topologies/hwloc-nvidiaDGX2.xml \
	t/topologies/hwloc-power8gpudistances.xml \
	t/topologies/mpibind-coral-lassen-hwloc1.xml \
	t/topologies/mpibind-coral-lassen.xml \
	t/topologies/mpibind-cts1-pascal.xml \
	t/topologies/mpibind-cts1-quartz-smt1.xml \
	t/topologies/mpibind-eas-tioga.xml \
	t/topologies/mpibind-epyc-corona.xml \
	t/topologies/mpibind-g4dnmetal.xml
