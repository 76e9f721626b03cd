# SPDX-License-Identifier: Apache-2.0
# What cordon-guard's gate and probe are made of; paths are relative to the source root.
set(CORDON_GATE_SOURCES
    core/gate/denied.c
    core/gate/fence.c
    core/gate/filter.c
    core/gate/gate.c
    core/gate/init.c
    core/gate/keep.c
    core/gate/kernel.c
    core/gate/kernel_facts.c
    core/gate/launch.c
    core/gate/mountinfo.c
    core/gate/netdump.c
    core/gate/netinfo.c
    core/gate/probe.c
    core/gate/probe_calls.c
    core/gate/probe_exec.c
    core/gate/probe_files.c
    core/gate/probe_names.c
    core/gate/probe_net.c
    core/gate/probe_network.c
    core/gate/probe_options.c
    core/gate/probe_process.c
    core/gate/probe_proxy.c
    core/gate/probe_run.c
    core/gate/release.c
    core/gate/report.c
    core/gate/status.c
    core/gate/surround.c
    core/gate/text.c
    core/gate/wire.c)

# The libc-only part of the kit that the guard links.
set(CORDON_GATE_KIT_SOURCES
    core/kit/buf.c
    core/kit/deadline.c
    core/kit/error.c
    core/kit/frame.c
    core/kit/hash.c
    core/kit/num.c
    core/kit/octal.c
    core/kit/random.c)
