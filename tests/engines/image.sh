#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The base image of the tests: busybox and nothing else, made here and imported over REST,
# so that no registry is needed; and the same with git, for worktrees. Sourced by `up`.

busybox_binary()
{
    local path
    for path in /bin/busybox /usr/bin/busybox; do
        if [[ -x $path ]] && ! ldd "$path" >/dev/null 2>&1; then
            echo "$path"
            return
        fi
    done
    die "no static busybox (package busybox-static)"
}

# build_rootfs FOLDER
build_rootfs()
{
    local root=$1 busybox applet
    busybox=$(busybox_binary)
    mkdir -p "$root"/{bin,dev,etc,proc,root,sys,tmp,work}
    chmod 1777 "$root/tmp"
    cp "$busybox" "$root/bin/busybox"
    chmod 755 "$root/bin/busybox"
    while read -r applet; do
        [[ $applet == busybox ]] || ln -sf busybox "$root/bin/$applet"
    done < <("$busybox" --list)
    printf '%s\n' root:x:0:0::/root:/bin/sh agent:x:1000:1000::/work:/bin/sh >"$root/etc/passwd"
    printf '%s\n' root:x:0: agent:x:1000: >"$root/etc/group"
}

# The same bytes whenever they are made: an image id then names the busybox version alone.
pack_rootfs()
{
    tar -C "$1" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$2" .
}

# import_image SOCKET METHOD-PATH TAR: prints sha256:ID
import_image()
{
    local answer id
    answer=$(rest "$1" POST "$2" -H 'Content-Type: application/x-tar' --data-binary "@$3") \
        || { log "$1: $answer"; return 1; }
    id=$(grep -oE '(sha256:)?[0-9a-f]{64}' <<<"$answer" | tail -n 1)
    [[ -n $id ]] || { log "$1: no image id in: $answer"; return 1; }
    echo "sha256:${id#sha256:}"
}

# build_git_rootfs FOLDER: the same with the host's git, its libraries, and what git executes itself.
build_git_rootfs()
{
    local root=$1 git library
    build_rootfs "$root"
    git=$(command -v git) || die "no git (package git)"
    mkdir -p "$root"/usr/{bin,lib/git-core}
    cp -L "$git" "$root/usr/bin/git"
    ln -s ../../bin/git "$root/usr/lib/git-core/git"
    while read -r library; do
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done < <(ldd "$git" | grep -oE '/[^ ]+')
}

# import_into STATE ENGINE SOCKET PATH TAR VARIABLE
import_into()
{
    local id
    id=$(import_image "$1/$3" "$4" "$5") || return 1
    echo "CORDON_TEST_${2^^}_$6=$id" >>"$1/image.$2"
}

# import_both STATE ENGINE SOCKET PATH: in PATH stands TAG, where the images' tags differ
import_both()
{
    local state=$1 engine=$2 socket=$3 path=$4
    : >"$state/image.$engine"
    import_into "$state" "$engine" "$socket" "${path/TAG/${BASE_IMAGE#*:}}" "$state/bb.tar" IMAGE &&
        import_into "$state" "$engine" "$socket" "${path/TAG/git}" "$state/git.tar" GIT_IMAGE
}

import_images()
{
    local state=$1 pids=() pid failed=0
    log "importing the base image, and the one with git"
    build_rootfs "$state/bb"
    pack_rootfs "$state/bb" "$state/bb.tar"
    build_git_rootfs "$state/git"
    pack_rootfs "$state/git" "$state/git.tar"
    import_both "$state" docker docker/docker.sock \
        "/v1.41/images/create?fromSrc=-&repo=${BASE_IMAGE%:*}&tag=TAG" & pids+=($!)
    import_both "$state" podman podman/podman.sock \
        "/v4.0.0/libpod/images/import?reference=${BASE_IMAGE%:*}:TAG" & pids+=($!)
    import_both "$state" rootless rootless/podman.sock \
        "/v4.0.0/libpod/images/import?reference=${BASE_IMAGE%:*}:TAG" & pids+=($!)
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    return $failed
}
