/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Docker's container answers to facts: recorded ones whole, and mutated ones - a key gone, a value
 * changed, a key nobody knows - where each must show, be unknown, or fail the answer with its path.
 */
#include "support/docker_change.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define STEP         "docker/20.10-step-running.json"

static void check_sample(object what, const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "docker/%s.json", name);
    cordon_autofree char *json = sample_read(path);
    (void)snprintf(path, sizeof path, "docker/%s.facts", name);
    cordon_autofree char *want = sample_read(path);
    cordon_auto(cordon_buf) got = cordon_buf_make(1 << 18);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE(json && want);
    REQUIRE_OK(decode(what, json, &got, &err), err);
    TEST_RECORDF(strcmp(cordon_buf_text(&got), want) == 0, "%s: %.400s", name,
                 cordon_buf_text(&got));
}

static void recorded_answers_become_their_facts(void)
{
    static const char *const containers[] = {
        "20.10-step-created",      "20.10-step-running",      "20.10-step-exited",
        "20.10-container-created", "20.10-container-running", "26.1-container-running",
        "26.1-step-created",       "26.1-step-running",       "26.1-step-exited",
        "26.1-proxy-created",      "26.1-proxy-running",
    };
    for (size_t i = 0; i < COUNT(containers); i++)
        check_sample(CONTAINER, containers[i]);
    check_sample(NETWORK, "20.10-network");
    check_sample(NETWORK, "20.10-network-in-use");
    check_sample(NETWORK, "26.1-network");
    check_sample(NETWORK, "26.1-network-in-use");
    check_sample(IMAGE, "20.10-image");
    check_sample(IMAGE, "26.1-image");
}

static const change weakenings[] = {
    {"\"Privileged\": false", "\"Privileged\": true", "\nprivileged=yes\ncapabilities=[all]\n"},
    {"\"ReadonlyRootfs\": true", "\"ReadonlyRootfs\": false", "\nread_only_root=no\n"},
    {"\"CapAdd\": []", "\"CapAdd\": [\"NET_RAW\"]", "\ncapabilities=[net_raw]\n"},
    {"\"CapAdd\": []", "\"CapAdd\": [\"CAP_SYS_ADMIN\"]", "\ncapabilities=[sys_admin]\n"},
    {"\"CapAdd\": []", "\"CapAdd\": [\"ALL\"]", "\ncapabilities=[all]\n"},
    {"\"CapDrop\": [\n   \"ALL\"\n  ]", "\"CapDrop\": null",
     "\ncapabilities=[audit_write][chown][dac_override][fowner][fsetid][kill][mknod]"
     "[net_bind_service][net_raw][setfcap][setgid][setpcap][setuid][sys_chroot]\n"},
    {"\"ALL\"", "\"MKNOD\"", "[kill][net_bind_service]"},
    {"\"no-new-privileges:true\"", "\"seccomp=unconfined\"",
     "\nno_new_privileges=no\nsecurity_options=[seccomp=unconfined]\n"},
    {"\"no-new-privileges:true\"", "\"no-new-privileges:true\",\"label=disable\"",
     "\nno_new_privileges=yes\nsecurity_options=[label=disable]\n"},
    {"\"no-new-privileges:true\"", "\"no-new-privileges:false\"",
     "\nno_new_privileges=no\nsecurity_options=[no-new-privileges:false]\n"},
    {"\"PidMode\": \"\"", "\"PidMode\": \"host\"", "\npid_mode=host\n"},
    {"\"PidMode\": \"\"", "\"PidMode\": \"container:x\"", "\npid_mode=other:container:x\n"},
    {"\"IpcMode\": \"private\"", "\"IpcMode\": \"host\"", "\nipc_mode=host\n"},
    {"\"IpcMode\": \"private\"", "\"IpcMode\": \"\"", "\nipc_mode=other:\n"},
    {"\"UTSMode\": \"\"", "\"UTSMode\": \"host\"", "\nuts_mode=host\n"},
    {"\"UsernsMode\": \"\"", "\"UsernsMode\": \"host\"", "\nuser_mode=other:host\n"},
    {"\"CgroupnsMode\": \"private\"", "\"CgroupnsMode\": \"host\"", "\ncgroup_mode=host\n"},
    {"\"CgroupParent\": \"\"", "\"CgroupParent\": \"/x\"", "\ncgroup_parent=/x\n"},
    {"\"MaskedPaths\": [", "\"MaskedPaths\": [], \"X\": [", "\nmasked_paths=\n"},
    {"\"ReadonlyPaths\": [", "\"ReadonlyPaths\": null, \"X\": [", "\nreadonly_paths=\n"},
    {"\"GroupAdd\": []", "\"GroupAdd\": [\"docker\"]", "\nextra_groups=[docker]\n"},
    {"\"User\": \"1000:1000\"", "\"User\": \"\"", "\nuser=\n"},
    {"\"Devices\": []",
     "\"Devices\": [{\"PathOnHost\":\"/dev/mem\",\"PathInContainer\":\"/m\","
     "\"CgroupPermissions\":\"rwm\"}]",
     "\ndevices=[/dev/mem:/m:rwm]\n"},
    {"\"DeviceRequests\": []", "\"DeviceRequests\": [{\"Driver\":\"nvidia\",\"Count\":-1}]",
     "\ndevices=[request:$.HostConfig.DeviceRequests[0]]\n"},
    {"\"DeviceCgroupRules\": []", "\"DeviceCgroupRules\": [\"a *:* rwm\"]",
     "\ndevices=[rule:a *:* rwm]\n"},
    {"\"VolumesFrom\": null", "\"VolumesFrom\": [\"x\"]", "\nvolumes_from=[x]\n"},
    {"\"Volumes\": null", "\"Volumes\": {\"/data\": {}}", "\nimage_volumes=[/data]\n"},
    {"\"PublishAllPorts\": false", "\"PublishAllPorts\": true", "\npublish_all=yes\n"},
    {"\"PortBindings\": {}",
     "\"PortBindings\": {\"80/tcp\": [{\"HostIp\":\"0.0.0.0\",\"HostPort\":\"8080\"}]}",
     "\npublished_ports=[80/tcp=0.0.0.0:8080]\n"},
    {"\"Ports\": {}", "\"Ports\": {\"80/tcp\": [{\"HostIp\":\"\",\"HostPort\":\"32768\"}]}",
     "\npublished_ports=[80/tcp=:32768]\n"},
    {"\"Ports\": {}", "\"Ports\": {\"80/tcp\": null}", "\npublished_ports=\n"},
    {"\"ExtraHosts\": []", "\"ExtraHosts\": [\"a:1.2.3.4\"]", "\nextra_hosts=[a:1.2.3.4]\n"},
    {"\"Links\": null,\n  \"OomScoreAdj\"", "\"Links\": [\"/x:/y\"],\n  \"OomScoreAdj\"",
     "\nlinks=[/x:/y]\n"},
    {"\"127.0.0.1\"\n", "\"8.8.8.8\"\n", "\ndns_servers=[8.8.8.8]\n"},
    {"\"DnsSearch\": [\n   \".\"", "\"DnsSearch\": [\n   \"corp\"", "\ndns_search=[corp]\n"},
    {"\"DnsOptions\": []", "\"DnsOptions\": [\"ndots:5\"]", "\ndns_options=[ndots:5]\n"},
    {"\"net.ipv6.conf.all.disable_ipv6\": \"1\"", "\"net.ipv4.ip_forward\": \"1\"",
     "\nsysctls=[net.ipv4.ip_forward=1]\n"},
    {"\"Memory\": 268435456", "\"Memory\": 0", "\nmemory_bytes=0\n"},
    {"\"MemorySwap\": 268435456", "\"MemorySwap\": -1", "\nmemory_swap_bytes=-1\n"},
    {"\"NanoCpus\": 1000000000", "\"NanoCpus\": 0", "\nnano_cpus=0\n"},
    {"\"PidsLimit\": 64", "\"PidsLimit\": null", "\npids=0\n"},
    {"\"PidsLimit\": 64", "\"PidsLimit\": -1", "\npids=0\n"},
    {"\"OomKillDisable\": false", "\"OomKillDisable\": true", "\noom_kill_disable=yes\n"},
    {"\"OomKillDisable\": false", "\"OomKillDisable\": null", "\noom_kill_disable=no\n"},
    {"\"OomScoreAdj\": 500", "\"OomScoreAdj\": -1000", "\noom_score_adj=-1000\n"},
    {"\"Hard\": 512", "\"Hard\": 1048576", "\nulimits=[core=0:0][nofile=512:1048576]"},
    {"\"Name\": \"no\"", "\"Name\": \"always\"", "\nrestart_policy=always\n"},
    {"\"Name\": \"no\"", "\"Name\": \"\"", "\nrestart_policy=no\n"},
    {"\"AutoRemove\": false", "\"AutoRemove\": true", "\nauto_remove=yes\n"},
    {"\"Init\": false", "\"Init\": true", "\ninit=yes\n"},
    {"\"Init\": false", "\"Init\": null", "\ninit=?\n"},
    {"\"ExecIDs\": null", "\"ExecIDs\": [\"abc\"]", "\nexec_ids=[abc]\n"},
    {"\"RestartCount\": 0", "\"RestartCount\": 2", "\nrestart_count=2\n"},
    {"\"NONE\"", "\"CMD\",\"/x\"", "\nhealthcheck=[CMD][/x]\n"},
    {"\"Tty\": false", "\"Tty\": true", "\ntty=yes\n"},
    {"\"Runtime\": \"runc\"", "\"Runtime\": \"evil\"", "\nruntime=evil\n"},
    {"\"Path\": \"/bin/sh\"", "\"Path\": \"/bin/evil\"", "\nargv=[/bin/evil][-c]"},
    {"\"PATH=/bin\"", "\"PATH=/bin\",\"LD_PRELOAD=/x\"",
     "\nenvironment=[LD_PRELOAD=/x][PATH=/bin]\n"},
    {"\"AppArmorProfile\": \"\"", "\"AppArmorProfile\": \"unconfined\"",
     "\napparmor_profile=unconfined\n"},
    {"\"ProcessLabel\": \"\"", "\"ProcessLabel\": \"u:r:t:s0:c1,c2\"",
     "\nselinux_label=u:r:t:s0:c1,c2 \n"},
    {"\"OOMKilled\": false", "\"OOMKilled\": true", "\noom_killed=yes\n"},
    {"\"StopSignal\": \"SIGTERM\"", "\"StopSignal\": \"\"", "\nstop_signal=SIGTERM\n"},
};

/* Every weakening that a daemon or another client can show must show in the facts. */
static void weakened_containers_show_it(void)
{
    check_changes(CONTAINER, STEP, weakenings, COUNT(weakenings));
}

static void changed_mounts_show_it(void)
{
    static const change changes[] = {
        {"\"NonRecursive\": true", "\"NonRecursive\": false",
         "mount /work: bind /home/dev/project rw rprivate options=\n"},
        {"noexec,nosuid,nodev", "exec,suid,dev",
         "mount /tmp: tmpfs  rw rprivate options=[mode=1777][size=1048576]\n"},
        {"rw,noexec", "ro,exec",
         "mount /tmp: tmpfs  ro rprivate options=[mode=1777][nodev][nosuid][size=1048576]\n"},
        {"size=1048576", "size=16m", "[size=16777216]\n"},
        {"size=1048576", "size=50%", "[size=50%]\n"},
        {",size=1048576,mode=1777", "",
         "mount /tmp: tmpfs  rw rprivate options=[nodev][noexec][nosuid]\n"},
        {"\"/tmp\": \"rw", "\"/var\": \"\", \"/tmp\": \"rw",
         "mount /var: tmpfs  rw rprivate options=[nodev][noexec][nosuid]\n"},
        /* what was asked for and what was resolved disagree */
        {"\"Target\": \"/look\"", "\"Target\": \"/gone\"",
         "unmodelled=[$.HostConfig.Mounts[1] = \"/gone\"]\n"},
        {"\"RW\": false", "\"RW\": true", "unmodelled=[$.HostConfig.Mounts[1] = \"/look\"]\n"},
        {"\"Propagation\": \"rprivate\"\n  },\n  {", "\"Propagation\": \"rshared\"\n  },\n  {",
         "unmodelled=[$.HostConfig.Mounts[1] = \"/look\"]\n"},
        {"\"Source\": \"/home/dev/project\",\n   \"Destination\"",
         "\"Source\": \"/etc\",\n   \"Destination\"",
         "unmodelled=[$.HostConfig.Mounts[1] = \"/look\"]\n"},
        {"\"Binds\": null", "\"Binds\": [\"/:/host\"]",
         "unmodelled=[$.HostConfig.Binds[0] = \"/:/host\"]\n"},
        {"\"Mounts\": [\n  {",
         "\"Mounts\": [{\"Type\":\"volume\",\"Name\":\"v\",\"Source\":\"/p\",\"Driver\":\"nfs\","
         "\"Destination\":\"/v\",\"Mode\":\"z\",\"RW\":true,\"Propagation\":\"\"},\n  {",
         "unmodelled=[$.Mounts[0] = \"nfs\"]\n"},
        {"\"Mounts\": [\n  {",
         "\"Mounts\": [{\"Type\":\"volume\",\"Name\":\"v\",\"Source\":\"/p\",\"Driver\":\"local\","
         "\"Destination\":\"/v\",\"Mode\":\"Z\",\"RW\":true,\"Propagation\":\"\"},\n  {",
         "unmodelled=[$.Mounts[0] = \"Z\"]\n"},
        {"\"Mounts\": [\n  {",
         "\"Mounts\": [{\"Type\":\"cluster\",\"Source\":\"/p\",\"Destination\":\"/v\","
         "\"Mode\":\"\",\"RW\":true,\"Propagation\":\"\"},\n  {",
         "mount /v: other /p rw  options=\n"},
        {"\"Mode\": \"\"", "\"Mode\": \"Z\"", "unmodelled=[$.Mounts[0].Mode = \"Z\"]\n"},
    };
    check_changes(CONTAINER, STEP, changes, COUNT(changes));
}

static void changed_attachments_show_it(void)
{
    static const change changes[] = {
        {"\"NetworkMode\": \"c781ca04", "\"NetworkMode\": \"host\", \"X\": \"c781ca04",
         "\nnetwork_mode=host\n"},
        {"\"NetworkMode\": \"c781ca04", "\"NetworkMode\": \"cordon-01j-vendor\", \"X\": \"c781ca04",
         "\nnetwork_mode=other:cordon-01j-vendor\n"},
        {"\"NetworkMode\": \"c781ca04", "\"NetworkMode\": \"bridge\", \"X\": \"c781ca04",
         "\nnetwork_mode=other:bridge\n"},
        {"\"Networks\": {",
         "\"Networks\": {\"bridge\": {\"NetworkID\": \"77\", \"IPAddress\": "
         "\"172.17.0.2\", \"IPAMConfig\": null},",
         "\nendpoints=2\n"},
        {"\"NetworkID\": \"c781ca04", "\"NetworkID\": \"77\", \"X\": \"c781ca04",
         "endpoint cordon-01j-vendor: id=77 ipv4=10.219.9.3"},
        {"\"IPAddress\": \"10.219.9.3\"", "\"IPAddress\": \"10.219.9.4\"",
         "ipv4=10.219.9.4 requested=10.219.9.3 "},
        {"    \"GlobalIPv6Address\": \"\"", "    \"GlobalIPv6Address\": \"fd00::2\"",
         "gateway=10.219.9.1 ipv6=fd00::2 "},
        {"    \"GlobalIPv6PrefixLen\": 0", "    \"GlobalIPv6PrefixLen\": 64",
         "unmodelled=[$.NetworkSettings.Networks.cordon-01j-vendor.GlobalIPv6PrefixLen = 64]"},
        {"\"GlobalIPv6Address\": \"\"", "\"GlobalIPv6Address\": \"fd00::2\"",
         "unmodelled=[$.NetworkSettings.GlobalIPv6Address = \"fd00::2\"]"},
        {"\"IPAMConfig\": {\n     \"IPv4Address\": \"10.219.9.3\"\n    }", "\"IPAMConfig\": null",
         "requested= "},
        {"\"DriverOpts\": null", "\"DriverOpts\": {\"x\": \"y\"}", "DriverOpts.x = \"y\"]"},
        {"\"Bridge\": \"\"", "\"Bridge\": \"docker0\"",
         "unmodelled=[$.NetworkSettings.Bridge = \"docker0\"]\n"},
    };
    check_changes(CONTAINER, STEP, changes, COUNT(changes));
}

/* No network: the engine's own entry "none" is no attachment, unless it has an address. */
static void the_none_network_is_no_attachment(void)
{
    static const char from[] = "\"cordon-01j-vendor\": {";
    cordon_autofree char *sample = sample_read(STEP);
    REQUIRE(sample != NULL);
    cordon_autofree char *mode = sample_mutate(sample, "\"NetworkMode\": \"c781ca04",
                                               "\"NetworkMode\": \"none\", \"X\": \"c7");
    REQUIRE(mode != NULL);
    cordon_autofree char *with = sample_mutate(mode, from, "\"none\": {");
    REQUIRE(with != NULL);
    const change address = {"\"IPAddress\": \"10.219.9.3\"", "\"IPAddress\": \"\"",
                            "\nendpoints=0\n"};
    const change other = {"\"MacAddress\": \"02", "\"MacAddress\": \"03", "\nendpoints=1\n"};
    check_change(CONTAINER, with, &address);
    check_change(CONTAINER, with, &other);
}

static void states_are_told_apart(void)
{
    static const change changes[] = {
        {"\"Status\": \"running\"", "\"Status\": \"paused\"", "\nstate=paused\n"},
        {"\"Status\": \"running\"", "\"Status\": \"restarting\"", "\nstate=restarting\n"},
        {"\"Status\": \"running\"", "\"Status\": \"created\"",
         "unmodelled=[$.State = \"Running\"]\n"},
        {"\"Status\": \"running\"", "\"Status\": \"exited\"",
         "unmodelled=[$.State = \"Running\"]\n"},
        {"\"Paused\": false", "\"Paused\": true", "unmodelled=[$.State = \"Paused\"]\n"},
        {"\"Restarting\": false", "\"Restarting\": true",
         "unmodelled=[$.State = \"Restarting\"]\n"},
        {"\"Dead\": false", "\"Dead\": true", "unmodelled=[$.State = \"Dead\"]\n"},
        {"\"Status\": \"running\"", "\"Status\": \"frozen\"", "unmodelled=[$.State = \"frozen\"]"},
        {"\"Status\": \"running\"", "\"Statu\": \"running\"", "\nstate=unknown\n"},
        {"\"Error\": \"\"", "\"Error\": \"no such file\"", "\nerror=no such file\n"},
    };
    check_changes(CONTAINER, STEP, changes, COUNT(changes));
}

static const struct {
    const char *key;
    const char *line;
} missing_keys[] = {
    {"Privileged", "\nprivileged=?\n"},
    {"ReadonlyRootfs", "\nread_only_root=?\n"},
    {"CapAdd", "\ncapabilities=?\n"},
    {"CapDrop", "\ncapabilities=?\n"},
    {"SecurityOpt", "\nno_new_privileges=?\nsecurity_options=?\n"},
    {"PidMode", "\npid_mode=?\n"},
    {"IpcMode", "\nipc_mode=?\n"},
    {"UTSMode", "\nuts_mode=?\n"},
    {"UsernsMode", "\nuser_mode=?\n"},
    {"CgroupnsMode", "\ncgroup_mode=?\n"},
    {"NetworkMode", "\nnetwork_mode=?\n"},
    {"CgroupParent", "\ncgroup_parent=?\n"},
    {"MaskedPaths", "\nmasked_paths=?\n"},
    {"ReadonlyPaths", "\nreadonly_paths=?\n"},
    {"GroupAdd", "\nextra_groups=?\n"},
    {"Devices", "\ndevices=?\n"},
    {"DeviceRequests", "\ndevices=?\n"},
    {"DeviceCgroupRules", "\ndevices=?\n"},
    {"VolumesFrom", "\nvolumes_from=?\n"},
    {"Volumes", "\nimage_volumes=?\n"},
    {"PublishAllPorts", "\npublish_all=?\n"},
    {"PortBindings", "\npublished_ports=?\n"},
    {"Ports", "\npublished_ports=?\n"},
    {"ExtraHosts", "\nextra_hosts=?\n"},
    {"Dns", "\ndns_servers=?\n"},
    {"DnsSearch", "\ndns_search=?\n"},
    {"DnsOptions", "\ndns_options=?\n"},
    {"Memory", "\nmemory_bytes=?\n"},
    {"MemorySwap", "\nmemory_swap_bytes=?\n"},
    {"NanoCpus", "\nnano_cpus=?\n"},
    {"PidsLimit", "\npids=?\n"},
    {"Ulimits", "\nulimits=?\n"},
    {"ShmSize", "\nshm_bytes=?\n"},
    {"OomScoreAdj", "\noom_score_adj=?\n"},
    {"OomKillDisable", "\noom_kill_disable=?\n"},
    {"RestartPolicy", "\nrestart_policy=?\n"},
    {"AutoRemove", "\nauto_remove=?\n"},
    {"Init", "\ninit=?\n"},
    {"ExecIDs", "\nexec_ids=?\n"},
    {"RestartCount", "\nrestart_count=?\n"},
    {"OOMKilled", "\noom_killed=?\n"},
    {"StartedAt", "\nstarted_at=?\n"},
    {"FinishedAt", "\nfinished_at=?\n"},
    {"Pid", "\npid=?\n"},
    {"ExitCode", "\nexit_code=?\n"},
    {"Name", "\nname=?\n"},
    {"Path", "\nargv=?\n"},
    {"Args", "\nargv=?\n"},
    {"User", "\nuser=?\n"},
    {"Env", "\nenvironment=?\n"},
    {"Cmd", "\ncommand=?\n"},
    {"Entrypoint", "\nentrypoint=?\n"},
    {"WorkingDir", "\nworking_dir=?\n"},
    {"Labels", "\nlabels=?\n"},
    {"Tty", "\ntty=?\n"},
    {"OpenStdin", "\nopen_stdin=?\n"},
    {"StdinOnce", "\nstdin_once=?\n"},
    {"StopSignal", "\nstop_signal=?\n"},
    {"StopTimeout", "\nstop_timeout_s=?\n"},
    {"Healthcheck", "\nhealthcheck=?\n"},
    {"Hostname", "\nhostname=?\n"},
    {"Networks", "\nendpoints=?0\n"},
    {"RW", "mount /look: bind /home/dev/project ? rprivate"},
    {"LogConfig", "unmodelled=[$.HostConfig = \"LogConfig\"]"},
    {"Tmpfs", "\nmounts=2\n"},
    {"AppArmorProfile", "\napparmor_profile=?\n"},
    {"ProcessLabel", "\nselinux_label=?\n"},
};

/* SECURITY: a key that is gone is unknown, never off. */
static void a_missing_key_is_unknown(void)
{
    cordon_autofree char *sample = sample_read(STEP);
    REQUIRE(sample != NULL);
    for (size_t i = 0; i < COUNT(missing_keys); i++) {
        char from[64];
        char to[64];
        /* renamed, so that the key is gone and nothing else changes */
        (void)snprintf(from, sizeof from, "\"%s\":", missing_keys[i].key);
        (void)snprintf(to, sizeof to, "\"%s_\":", missing_keys[i].key);
        const change renamed = {from, to, missing_keys[i].line};
        check_change(CONTAINER, sample, &renamed);
    }
}

/* SECURITY: what a newer daemon adds, or what nobody asks for, is named by its path. */
static void an_unknown_setting_is_unmodelled(void)
{
    static const change changes[] = {
        {"\"Privileged\":", "\"NewPower\": true, \"Privileged\":",
         "unmodelled=[$.HostConfig.NewPower = true]\n"},
        {"\"Privileged\":", "\"Annotations\": {\"run.x\": \"y\"}, \"Privileged\":",
         "unmodelled=[$.HostConfig.Annotations[\"run.x\"] = \"y\"]\n"},
        {"\"CpusetCpus\": \"\"", "\"CpusetCpus\": \"0\"",
         "unmodelled=[$.HostConfig.CpusetCpus = \"0\"]\n"},
        {"\"CpuShares\": 0", "\"CpuShares\": 2", "unmodelled=[$.HostConfig.CpuShares = 2]\n"},
        {"\"Isolation\": \"\"", "\"Isolation\": \"x\"",
         "unmodelled=[$.HostConfig.Isolation = \"x\"]\n"},
        {"\"VolumeDriver\": \"\"", "\"VolumeDriver\": \"x\"",
         "unmodelled=[$.HostConfig.VolumeDriver = \"x\"]\n"},
        {"\"MaximumRetryCount\": 0", "\"MaximumRetryCount\": 3",
         "unmodelled=[$.HostConfig.RestartPolicy.MaximumRetryCount = 3]\n"},
        {"\"OnBuild\": null", "\"OnBuild\": [\"RUN x\"]",
         "unmodelled=[$.Config.OnBuild[0] = \"RUN x\"]\n"},
        {"\"Tty\":", "\"NetworkDisabled\": true, \"Tty\":",
         "unmodelled=[$.Config.NetworkDisabled = true]\n"},
        {"\"Platform\": \"linux\"", "\"Platform\": \"windows\"", "unmodelled=[$ = \"windows\"]\n"},
        {"\"max-size\": \"1m\"", "\"max-size\": \"1g\"",
         "unmodelled=[$.HostConfig.LogConfig = \"not bounded as asked\"]\n"},
        {"\"max-size\": \"1m\"", "\"compress\": \"1\"", "not bounded as asked"},
        {"\"State\": {", "\"Health\": {\"Status\": \"x\"}, \"State\": {",
         "unmodelled=[$.Health.Status = \"x\"]\n"},
        {"\"StopSignal\": \"SIGTERM\"", "\"StopSignal\": \"9\"", "unmodelled=[$.Config = \"9\"]\n"},
        {"\"Image\": \"sha256:e3c48146", "\"Image\": \"sha256:f3c48146", "unmodelled=[$.Config = "},
    };
    check_changes(CONTAINER, STEP, changes, COUNT(changes));
}

/* A wrong type is no answer at all. */
static void a_mistyped_value_fails_with_its_path(void)
{
    static const change changes[] = {
        {"\"Privileged\": false", "\"Privileged\": 0", "$.HostConfig.Privileged"},
        {"\"Privileged\": false", "\"Privileged\": \"false\"", "$.HostConfig.Privileged"},
        {"\"CapDrop\": [", "\"CapDrop\": {}, \"X\": [", "$.HostConfig.CapDrop"},
        {"\"Memory\": 268435456", "\"Memory\": \"268435456\"", "$.HostConfig.Memory"},
        {"\"Memory\": 268435456", "\"Memory\": 2.5", "$.HostConfig.Memory"},
        {"\"Memory\": 268435456", "\"Memory\": 1e999", ""},
        {"\"Memory\": 268435456", "\"Memory\": 99999999999999999999", ""},
        {"\"Networks\": {", "\"Networks\": [], \"X\": {", "$.NetworkSettings.Networks"},
        {"\"Labels\": {", "\"Labels\": {\"n\": 1, ", "$.Config.Labels.n"},
        {"\"HostConfig\": {", "\"HostConfig\": null, \"X\": {", "$.HostConfig"},
        {"\"State\": {", "\"State\": [], \"X\": {", "$.State"},
        {"\"Config\": {\n  \"Hostname\"", "\"Con\": {\n  \"Hostname\"", "$.Config"},
        {"\"Id\": \"", "\"Id\": \"x", "\"Id\" is no id"},
        {"\"Id\": \"", "\"id\": \"", "$.Id"},
        {"\"Type\": \"bind\"", "\"Type\": 1", "$.HostConfig.Mounts[0].Type"},
        {"\"Privileged\": false", "\"Privileged\": false, \"Privileged\": true", "twice"},
        {"\"Soft\": 512", "\"Soft\": null", "Soft"},
    };
    cordon_autofree char *sample = sample_read(STEP);
    REQUIRE(sample != NULL);
    for (size_t i = 0; i < COUNT(changes); i++) {
        cordon_autofree char *mutant = sample_mutate(sample, changes[i].from, changes[i].to);
        cordon_auto(cordon_buf) out = cordon_buf_make(1 << 18);
        cordon_err err = CORDON_ERR_INIT;
        REQUIRE(mutant != NULL);
        CHECK_FAILS(decode(CONTAINER, mutant, &out, &err), err, CORDON_ERR_PROTOCOL,
                    changes[i].line);
    }
}

CORDON_TEST_MAIN("docker_decode", TEST(recorded_answers_become_their_facts),
                 TEST(weakened_containers_show_it), TEST(changed_mounts_show_it),
                 TEST(changed_attachments_show_it), TEST(the_none_network_is_no_attachment),
                 TEST(states_are_told_apart), TEST(a_missing_key_is_unknown),
                 TEST(an_unknown_setting_is_unmodelled), TEST(a_mistyped_value_fails_with_its_path))
