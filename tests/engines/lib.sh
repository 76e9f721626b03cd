#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts of this folder share: where a harness keeps its state, how its one
# outside process (the holder) is named so that nothing else is ever signalled, how its
# cgroups are found, and how to run a command in its namespaces. Sourced, never run.
# tests/run and the real tests may source it too.
# shellcheck disable=SC2034 # the constants are for those who source this

readonly ENGINES_PREFIX=/var/tmp/cordon-engines.
readonly ENGINES_MARKER=.cordon-test-engines

# The private world. The rootless user exists only in the harness's own /etc/passwd; its
# numbers lie outside every range that Debian, systemd or shadow hand out.
readonly ROOTLESS_USER=cordon-test ROOTLESS_UID=60999
readonly ROOTLESS_SUBID=1900000000 ROOTLESS_SUBCOUNT=65536
readonly BASE_IMAGE=localhost/bb:latest

# Addresses of the "internet" inside the network namespace (no uplink exists).
# Tests put listeners there: reachable for what is not contained, and for nobody else.
readonly WORLD_UPSTREAM=203.0.113.10    # a vendor's upstream, named by a vendor definition
readonly WORLD_PUBLIC=192.175.48.10     # globally reachable by the registry (AS112), so the proxy may dial it
readonly WORLD_RESOLVER=203.0.113.53    # /etc/resolv.conf of the engines: a listener there sees every leaked query
readonly WORLD_PRIVATE=10.99.0.1        # a company's own network
readonly WORLD_METADATA=169.254.169.254 # a cloud's metadata service
readonly WORLD_IPV6=2001:db8:99::10

umask 022

log() { printf 'engines: %s\n' "$*" >&2; }
die() { log "error: $*"; exit 1; }

need_root() { [[ $EUID -eq 0 ]] || die "must run as root"; }

need_tools()
{
    local tool missing=()
    for tool in "$@"; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    [[ ${#missing[@]} -eq 0 ]] || die "missing tools: ${missing[*]} (etc/packages/ensure podman docker test)"
}

# --- processes ---------------------------------------------------------------------------

# When PID was started, in kernel ticks: with the pid it names one process for ever.
start_time()
{
    local stat fields
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    read -ra fields <<<"${stat##*) }" # the third field on: a name may hold blanks
    [[ ${fields[0]} != Z ]] || return 1
    echo "${fields[19]}"
}

# Write "PID START" for a live process.
record_process() { printf '%s %s\n' "$1" "$(start_time "$1")" >"$2"; }

# Print the pid that FILE recorded, if that very process still lives.
recorded_process()
{
    local pid start
    { read -r pid start <"$1"; } 2>/dev/null || return 1
    [[ $(start_time "$pid") == "$start" ]] || return 1
    echo "$pid"
}

# Wait until the recorded process is gone: wait_gone FILE SECONDS
wait_gone()
{
    local tries=$(($2 * 20))
    while recorded_process "$1" >/dev/null; do
        ((tries-- > 0)) || return 1
        sleep 0.05
    done
}

# --- state -------------------------------------------------------------------------------

is_state() { [[ -d $1 && ! -L $1 && -O $1 && -f $1/$ENGINES_MARKER ]]; }

# Does an `up` that makes the state, or the holder that keeps it, still live?
is_alive()
{
    recorded_process "$1/starter" >/dev/null || recorded_process "$1/holder" >/dev/null
}

# Print the states below /var/tmp whose makers and holders are: states_that dead|alive
states_that()
{
    local dir condition
    for dir in "$ENGINES_PREFIX"*; do
        is_state "$dir" || continue
        if is_alive "$dir"; then condition=alive; else condition=dead; fi
        [[ $condition != "$1" ]] || echo "$dir"
    done
}

# --- cgroups -----------------------------------------------------------------------------

# One line "CONTROLLERS PATH" per hierarchy of this process; CONTROLLERS is "cgroup2" for
# the unified one. Works without any cgroup mount.
cgroup_hierarchies()
{
    local _ controllers path
    while IFS=: read -r _ controllers path; do
        [[ $path != /..* ]] || path=/
        echo "${controllers:-cgroup2} $path"
    done </proc/self/cgroup
}

# True when only the unified hierarchy exists (cgroup v2 proper).
cgroup_is_unified() { [[ $(cgroup_hierarchies | wc -l) -eq 1 ]]; }

# mount_cgroup CONTROLLERS FOLDER
mount_cgroup()
{
    case $1 in
    cgroup2) mount -t cgroup2 cgroup2 "$2" ;;
    name=*) mount -t cgroup -o "none,$1" cgroup "$2" ;;
    *) mount -t cgroup -o "$1" cgroup "$2" ;;
    esac
}

# The harness's own cgroup in each hierarchy, below the one of the caller: there a limit
# that was put on the caller holds for the engines too. On v2 a cgroup with processes can
# not hand controllers down, so there it is made below the root.
cgroup_parent()
{
    if cgroup_is_unified; then echo /; else echo "$1"; fi
}

# --- namespaces --------------------------------------------------------------------------

# The pid (as seen from here) of the holder, the first process of the harness's namespaces.
holder_pid() { recorded_process "$1/holder" || die "no harness is up in $1"; }

# Run a command in the harness's network only: with the host's files, as the caller. The
# script `enter` can do more.
in_net()
{
    local state=$1
    shift
    nsenter --net="/proc/$(holder_pid "$state")/ns/net" -- "$@"
}

# The environment of the rootless user; $1 is the state folder.
rootless_env()
{
    printf '%s\n' "HOME=$1/rootless/home" "USER=$ROOTLESS_USER" "LOGNAME=$ROOTLESS_USER" \
        "XDG_RUNTIME_DIR=/run/user/$ROOTLESS_UID" "TMPDIR=$1/rootless/tmp" \
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "LANG=C.UTF-8"
}

# Prefix words that turn a command into one of the rootless user: as_rootless STATE CMD...
as_rootless()
{
    local state=$1 vars
    shift
    mapfile -t vars < <(rootless_env "$state")
    setpriv --reuid="$ROOTLESS_UID" --regid="$ROOTLESS_UID" --clear-groups -- \
        env -i "${vars[@]}" "$@"
}

# --- REST --------------------------------------------------------------------------------

# rest SOCKET METHOD PATH [curl arguments]: prints the body, fails on an HTTP error.
rest()
{
    local socket=$1 method=$2 path=$3
    shift 3
    curl --silent --show-error --fail-with-body --noproxy '*' --max-time 60 \
        --unix-socket "$socket" -X "$method" "http://d$path" "$@"
}

# --- packages ----------------------------------------------------------------------------

# The first mirror that apt of this machine uses, in either of its formats.
apt_mirror()
{
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb (\[[^]]*\] *)?([^ ]+) .*/\2/p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null \
        | head -n 1 || true # one of the files is missing, always
}
