#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes the engines' configuration and the account of the rootless user into the /etc of the
# harness's own namespace. Sourced by `holder`, after it has laid its veil over /etc.

# Without CAP_SYS_RESOURCE no engine can raise a limit, and podman's default of 1048576
# open files would fail every container that does not name its own.
can_raise_limits()
{
    local bounding
    bounding=$(sed -n 's/^CapBnd:\t//p' /proc/self/status)
    (((16#$bounding >> 24) & 1))
}

# crun refuses the hybrid cgroup v1 layout; Debian's default elsewhere is crun.
oci_runtime()
{
    if cgroup_is_unified && command -v crun >/dev/null; then echo crun; else echo runc; fi
}

# Can native overlay be mounted below FOLDER? Extra words run the test as somebody else.
overlay_works()
{
    local dir=$1/overlay-check
    shift
    rm -rf "$dir"
    # shellcheck disable=SC2016 # expands in the inner shell
    "$@" sh -c 'mkdir -p "$1"/l "$1"/u "$1"/w "$1"/m &&
        mount -t overlay -o "lowerdir=$1/l,upperdir=$1/u,workdir=$1/w" overlay "$1"/m' \
        sh "$dir" >/dev/null 2>&1
    local status=$?
    rm -rf "$dir" 2>/dev/null
    return $status
}

storage_driver()
{
    if overlay_works "$@"; then echo overlay; else echo vfs; fi
}

# Podman 5's way out of a rootless network gives the containers' side the addresses that the
# host has, so that none of the witnesses could be reached. Here it gets some of its own.
pasta_options()
{
    command -v pasta >/dev/null || return 0
    echo 'pasta_options = ["-a", "198.51.100.2", "-n", "24", "-g", "198.51.100.1",'
    echo '    "-a", "2001:db8:9a::2", "-g", "2001:db8:9a::1"]'
}

# write_containers_conf FILE
write_containers_conf()
{
    {
        echo '[containers]'
        can_raise_limits || echo 'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]'
        echo '[engine]'
        echo "runtime = \"$(oci_runtime)\""
        echo 'cgroup_manager = "cgroupfs"'
        echo 'events_logger = "file"'
        echo '[network]'
        echo 'network_backend = "netavark"'
        pasta_options
    } >"$1"
}

# write_storage_conf FILE DRIVER GRAPHROOT RUNROOT
write_storage_conf()
{
    printf '[storage]\ndriver = "%s"\ngraphroot = "%s"\nrunroot = "%s"\n' "$2" "$3" "$4" >"$1"
}

# The host's accounts, and the rootless user.
write_accounts()
{
    local home=$1
    echo "$ROOTLESS_USER:x:$ROOTLESS_UID:$ROOTLESS_UID::$home:/bin/sh" >>/etc/passwd
    echo "$ROOTLESS_USER:x:$ROOTLESS_UID:" >>/etc/group
    echo "$ROOTLESS_USER:$ROOTLESS_SUBID:$ROOTLESS_SUBCOUNT" | tee -a /etc/subuid >>/etc/subgid
    chmod 644 /etc/subuid /etc/subgid
}

write_resolver()
{
    rm -f /etc/resolv.conf
    echo "nameserver $WORLD_RESOLVER" >/etc/resolv.conf
}

configure_rootful()
{
    local dir=$1/podman
    write_containers_conf /etc/containers/containers.conf
    write_storage_conf /etc/containers/storage.conf "$(storage_driver "$dir" unshare -m)" \
        "$dir/root" /run/containers/storage
}

configure_rootless()
{
    local dir=$1/rootless conf=$1/rootless/home/.config/containers
    mkdir -p "$conf" "$dir/tmp"
    chown -R "$ROOTLESS_UID:$ROOTLESS_UID" "$dir"
    chmod 700 "$dir/home"
    write_containers_conf "$conf/containers.conf"
    write_storage_conf "$conf/storage.conf" \
        "$(storage_driver "$dir/tmp" as_rootless "$1" unshare -Urm)" \
        "$dir/root" "/run/user/$ROOTLESS_UID/containers"
}

# Everything that must exist before the daemons start.
configure()
{
    mkdir -p "$1"/{docker,podman/tmp,rootless} /etc/containers /etc/docker
    rm -rf /etc/docker/daemon.json /etc/containers/{networks,containers.conf.d}
    write_accounts "$1/rootless/home"
    write_resolver
    configure_rootful "$1"
    configure_rootless "$1"
}
