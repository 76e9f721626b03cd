/* SPDX-License-Identifier: Apache-2.0 */
/* See silent.h. */
#include "silent.h"

#include <string.h>

#include "factread.h"
#include "real/real.h"

unsigned silent_engine(void)
{
    return real_is_docker() ? DOCKER : strcmp(real.word, "podman") == 0 ? PODMAN : ROOTLESS;
}

typedef struct same {
    unsigned engines;
    const char *path; /* pattern of cordon_factread_path_matches */
    const char *why;
} same;

#define DEFAULT "the engine's own default is what was asked for"
#define ADDRESS "the address in force is compared once it runs"
#define CLIENT  "about this client or this request alone"

static const same sames[] = {
    {DOCKER, "$.Domainname", DEFAULT},
    {DOCKER, "$.Tty", DEFAULT},
    {DOCKER, "$.StdinOnce", DEFAULT},
    {DOCKER, "$.AttachStdin", CLIENT},
    {DOCKER, "$.AttachStdout", CLIENT},
    {DOCKER, "$.AttachStderr", CLIENT},
    {DOCKER, "$.ExposedPorts", DEFAULT},
    {DOCKER, "$.Volumes", DEFAULT},
    {DOCKER, "$.HostConfig.Privileged", DEFAULT},
    {DOCKER, "$.HostConfig.CapAdd", DEFAULT},
    {DOCKER, "$.HostConfig.GroupAdd", DEFAULT},
    {DOCKER, "$.HostConfig.MaskedPaths", DEFAULT},
    {DOCKER, "$.HostConfig.ReadonlyPaths", DEFAULT},
    {DOCKER, "$.HostConfig.Devices", DEFAULT},
    {DOCKER, "$.HostConfig.DeviceRequests", DEFAULT},
    {DOCKER, "$.HostConfig.DeviceCgroupRules", DEFAULT},
    {DOCKER, "$.HostConfig.PidMode", DEFAULT},
    {DOCKER, "$.HostConfig.IpcMode", DEFAULT},
    {DOCKER, "$.HostConfig.UTSMode", DEFAULT},
    {DOCKER, "$.HostConfig.UsernsMode", DEFAULT},
    {DOCKER, "$.HostConfig.CgroupParent", DEFAULT},
    {DOCKER, "$.HostConfig.CgroupnsMode", "the default of cgroup v2; refused on v1"},
    {DOCKER, "$.HostConfig.Dns", DEFAULT}, /* of the proxy, which has the engine's */
    {DOCKER, "$.HostConfig.DnsOptions", DEFAULT},
    {DOCKER, "$.HostConfig.ExtraHosts", DEFAULT},
    {DOCKER, "$.HostConfig.Links", DEFAULT},
    {DOCKER, "$.HostConfig.PortBindings", DEFAULT},
    {DOCKER, "$.HostConfig.PublishAllPorts", DEFAULT},
    {DOCKER, "$.HostConfig.ShmSize", DEFAULT}, /* of the step */
    {DOCKER, "$.HostConfig.OomKillDisable", DEFAULT},
    {DOCKER, "$.HostConfig.Ulimits[0].*", DEFAULT}, /* core: 0 */
    {DOCKER, "$.HostConfig.RestartPolicy**", DEFAULT},
    {DOCKER, "$.HostConfig.AutoRemove", DEFAULT},
    {DOCKER, "$.HostConfig.LogConfig.Config", "no log is kept, so it has no bound"},
    {DOCKER, "$.HostConfig.Mounts", DEFAULT}, /* of the proxy */
    {DOCKER, "$.HostConfig.Mounts[*].BindOptions.Propagation", DEFAULT},
    {DOCKER, "$.HostConfig.Tmpfs", DEFAULT}, /* of the proxy */
    {DOCKER, "$.HostConfig.Binds", DEFAULT},
    {DOCKER, "$.HostConfig.VolumesFrom", DEFAULT},
    {DOCKER, "$.CheckDuplicate", CLIENT},
    {DOCKER, "$.Driver", DEFAULT},
    {DOCKER, "$.Internal", DEFAULT}, /* of the egress network */
    {DOCKER, "$.Attachable", DEFAULT},
    {DOCKER, "$.Ingress", DEFAULT},
    {DOCKER, "$.EnableIPv6", DEFAULT},
    {DOCKER, "$.IPAM.Driver", DEFAULT},
    {DOCKER, "$.Options", DEFAULT}, /* of the egress network */
    {LIBPOD, "$.Driver", DEFAULT},
    {LIBPOD, "$.terminal", DEFAULT},
    {LIBPOD, "$.env_host", DEFAULT},
    {LIBPOD, "$.httpproxy", "TO4: the service has no proxy here; the environment is compared"},
    {LIBPOD, "$.init", DEFAULT},
    {LIBPOD, "$.systemd", "no systemd is named in the command, so none is guessed"},
    {LIBPOD, "$.sdnotifyMode", "nobody is notified"},
    {LIBPOD, "$.umask", DEFAULT},
    {LIBPOD, "$.privileged", DEFAULT},
    {LIBPOD, "$.cap_add", DEFAULT},
    {LIBPOD, "$.seccomp_policy", DEFAULT},
    {LIBPOD, "$.selinux_opts", DEFAULT},
    {LIBPOD, "$.groups", DEFAULT},
    {LIBPOD, "$.pidns**", DEFAULT},
    {LIBPOD, "$.ipcns**", DEFAULT},
    {LIBPOD, "$.utsns**", DEFAULT},
    {LIBPOD, "$.cgroupns**", "the default of cgroup v2; refused on v1"},
    {LIBPOD, "$.netns**", DEFAULT},
    {LIBPOD, "$.userns**", DEFAULT}, /* of the proxy, and of every rootful container */
    {LIBPOD, "$.read_write_tmpfs", DEFAULT},
    {LIBPOD, "$.image_volume_mode", "the image has none"},
    {LIBPOD, "$.volumes", DEFAULT},
    {LIBPOD, "$.overlay_volumes", DEFAULT},
    {LIBPOD, "$.volumes_from", DEFAULT},
    {LIBPOD, "$.devices", DEFAULT},
    {LIBPOD, "$.secrets", DEFAULT},
    {LIBPOD, "$.publish_image_ports", DEFAULT},
    {LIBPOD, "$.portmappings", DEFAULT},
    {LIBPOD, "$.expose", DEFAULT},
    {LIBPOD, "$.dns_option", DEFAULT},
    {LIBPOD, "$.restart_policy", DEFAULT},
    {LIBPOD, "$.remove", DEFAULT},
    {LIBPOD, "$.use_image_resolve_conf", DEFAULT},
    {LIBPOD, "$.use_image_hosts", "Podman 4 shows the hosts file once it runs"},
    {LIBPOD, "$.env.HOSTNAME", DEFAULT},
    {LIBPOD, "$.env.HOME", DEFAULT},
    {LIBPOD, "$.user", "keep-id's default is the same user"},
    {LIBPOD, "$.work_dir", DEFAULT},
    {LIBPOD, "$.stop_signal", DEFAULT},
    {LIBPOD, "$.stop_timeout", DEFAULT},
    {LIBPOD, "$.networks.*.static_ips**", ADDRESS},
    {LIBPOD, "$.networks.*.interface_name", "its address and its network are what is compared"},
    {LIBPOD, "$.mounts", DEFAULT},        /* of the proxy */
    {LIBPOD, "$.image_volumes", DEFAULT}, /* of the proxy */
    {LIBPOD, "$.mounts[*].source", DEFAULT},
    {LIBPOD, "$.mounts[0].options[*]", DEFAULT},
    {LIBPOD, "$.mounts[1].type", DEFAULT},
    {LIBPOD, "$.mounts[1].options[*]", DEFAULT},
    {LIBPOD, "$.image_volumes[*].ReadWrite", DEFAULT},
    {LIBPOD, "$.r_limits[2].*", DEFAULT}, /* core: 0 */
    {LIBPOD, "$.r_limits[0]", DEFAULT},   /* Podman 5's, of the proxy: what containers.conf says */
    {LIBPOD, "$.r_limits[1]", DEFAULT},
    {LIBPOD, "$.driver", DEFAULT},
    {LIBPOD, "$.internal", DEFAULT}, /* of the egress network */
    {LIBPOD, "$.dns_enabled", DEFAULT},
    {LIBPOD, "$.ipv6_enabled", DEFAULT},
};

/* Of the keeper alone, which has no input, no network, and one volume. */
static const same keepers_sames[] = {
    {DOCKER, "$.OpenStdin", DEFAULT},
    {DOCKER, "$.HostConfig.Mounts[0].ReadOnly", DEFAULT},
    {DOCKER, "$.NetworkingConfig**", DEFAULT},
    {LIBPOD, "$.stdin", DEFAULT},
    {LIBPOD, "$.networks", DEFAULT},
    {LIBPOD, "$.volumes[0].Options[0]", DEFAULT}, /* rw, rprivate, nosuid, nodev */
    {LIBPOD, "$.volumes[0].Options[1]", DEFAULT},
    {LIBPOD, "$.volumes[0].Options[2]", DEFAULT},
    {LIBPOD, "$.volumes[0].Options[3]", DEFAULT},
};

static const char *why_among(const same *list, size_t count, const char *path)
{
    for (size_t i = 0; i < count; i++) {
        if ((list[i].engines & silent_engine()) != 0 &&
            cordon_factread_path_matches(list[i].path, path))
            return list[i].why;
    }
    return NULL;
}

const char *silent_why(cordon_role role, const char *path)
{
    const char *why = why_among(sames, sizeof sames / sizeof sames[0], path);
    if (!why && role == CORDON_ROLE_KEEPER)
        why = why_among(keepers_sames, sizeof keepers_sames / sizeof keepers_sames[0], path);
    return why;
}
