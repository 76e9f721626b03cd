/* SPDX-License-Identifier: Apache-2.0 */
/* Specifications to Docker's create requests, byte for byte, and what cannot be asked of Docker. */
#include "docker/docker_decode.h"
#include "docker/docker_internal.h"

#include "kit/jsonr.h"
#include "support/test.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_I "1111111111111111111111111111111111111111111111111111111111111111"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *const labels[] = {"cordon.id=x", "cordon.note=a=b"};
static const char *const entrypoint[] = {"/cordon-guard", "gate"};
static const char *const environment[] = {"PATH=/bin"};
static const char *const sysctls[] = {"net.ipv4.ip_forward=0"};
static const char *const dns[] = {"127.0.0.1"};
static const cordon_mount_spec mounts[] = {
    {.type = CORDON_MOUNT_BIND, .source = "/home/dev/\"w\"", .target = "/work", .read_only = true},
    {.type = CORDON_MOUNT_TMPFS,
     .source = "",
     .target = "/tmp",
     .no_exec = true,
     .size_bytes = 1048576,
     .mode_octal = 01777},
    {.type = CORDON_MOUNT_TMPFS,
     .source = "",
     .target = "/opt",
     .read_only = true,
     .size_bytes = 4096,
     .mode_octal = 0700},
};
static const cordon_endpoint_spec endpoints[] = {
    {.network_id = ID_A, .network_name = "egress", .ipv4 = "10.213.0.2", .interface = "eth0"},
    {.network_id = ID_B, .network_name = "vendor", .ipv4 = NULL, .interface = "eth1"},
};

static cordon_container_spec sample(void)
{
    return (cordon_container_spec){
        .name = "cordon-x-step",
        .image_id = ID_I,
        .labels = {labels, COUNT(labels)},
        .entrypoint = {entrypoint, COUNT(entrypoint)},
        .environment = {environment, COUNT(environment)},
        .user = "1000:1000",
        .working_dir = "/work",
        .hostname = "step",
        .open_stdin = true,
        .keep_log = true,
        .userns = CORDON_USERNS_HOST,
        .mounts = mounts,
        .mount_count = COUNT(mounts),
        .endpoints = endpoints,
        .endpoint_count = COUNT(endpoints),
        .dns_servers = {dns, COUNT(dns)},
        .sysctls = {sysctls, COUNT(sysctls)},
        .limits = {.memory_bytes = 1073741824,
                   .nano_cpus = 1500000000,
                   .pids = 256,
                   .open_files = 4096,
                   .user_processes = 512,
                   .shm_bytes = 1048576},
        .stop_timeout_s = 3,
        .oom_score_adj = 500,
    };
}

static const char encoded[] =
    "{\"Image\":\"sha256:" ID_I "\",\"Hostname\":\"step\",\"Domainname\":\"\","
    "\"User\":\"1000:1000\",\"Tty\":false,\"OpenStdin\":true,\"StdinOnce\":true,"
    "\"AttachStdin\":true,\"AttachStdout\":true,\"AttachStderr\":true,\"Env\":[\"PATH=/bin\"],"
    "\"Entrypoint\":[\"/cordon-guard\",\"gate\"],\"Cmd\":[],\"WorkingDir\":\"/work\","
    "\"StopSignal\":\"SIGTERM\",\"StopTimeout\":3,\"Healthcheck\":{\"Test\":[\"NONE\"]},"
    "\"ExposedPorts\":{},\"Volumes\":{},"
    "\"Labels\":{\"cordon.id\":\"x\",\"cordon.note\":\"a=b\"},"
    "\"HostConfig\":{\"Privileged\":false,\"ReadonlyRootfs\":true,\"CapAdd\":[],"
    "\"CapDrop\":[\"ALL\"],\"SecurityOpt\":[\"no-new-privileges:true\"],\"GroupAdd\":[],"
    "\"MaskedPaths\":null,\"ReadonlyPaths\":null,\"Devices\":[],\"DeviceRequests\":[],"
    "\"DeviceCgroupRules\":[],\"PidMode\":\"\",\"IpcMode\":\"private\",\"UTSMode\":\"\","
    "\"UsernsMode\":\"\",\"CgroupnsMode\":\"private\",\"CgroupParent\":\"\","
    "\"NetworkMode\":\"" ID_A "\",\"Dns\":[\"127.0.0.1\"],\"DnsSearch\":[\".\"],"
    "\"DnsOptions\":[],\"ExtraHosts\":[],\"Links\":null,\"PortBindings\":{},"
    "\"PublishAllPorts\":false,\"Memory\":1073741824,\"MemorySwap\":1073741824,"
    "\"NanoCpus\":1500000000,\"PidsLimit\":256,\"ShmSize\":1048576,\"OomScoreAdj\":500,"
    "\"OomKillDisable\":false,\"Ulimits\":[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0},"
    "{\"Name\":\"nofile\",\"Soft\":4096,\"Hard\":4096},"
    "{\"Name\":\"nproc\",\"Soft\":512,\"Hard\":512}],"
    "\"RestartPolicy\":{\"Name\":\"no\",\"MaximumRetryCount\":0},\"AutoRemove\":false,"
    "\"Init\":false,\"LogConfig\":{\"Type\":\"json-file\",\"Config\":{\"max-size\":\"1m\","
    "\"max-file\":\"1\"}},\"Sysctls\":{\"net.ipv4.ip_forward\":\"0\"},"
    "\"Mounts\":[{\"Type\":\"bind\",\"Source\":\"/home/dev/\\\"w\\\"\",\"Target\":\"/work\","
    "\"ReadOnly\":true,\"BindOptions\":{\"Propagation\":\"rprivate\",\"NonRecursive\":true}}],"
    "\"Tmpfs\":{\"/tmp\":\"rw,noexec,nosuid,nodev,size=1048576,mode=1777\","
    "\"/opt\":\"ro,exec,nosuid,nodev,size=4096,mode=700\"},\"Binds\":null,"
    "\"VolumesFrom\":null},\"NetworkingConfig\":{\"EndpointsConfig\":{"
    "\"" ID_A "\":{\"IPAMConfig\":{\"IPv4Address\":\"10.213.0.2\"}}}}}";

/* All but the second endpoint, which container_create connects. */
static void a_whole_specification_is_said_whole(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1 << 16);
    cordon_container_spec spec = sample();
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(docker_encode_container(&spec, &out, &err), err);
    CHECK_STR(cordon_buf_text(&out), encoded);
}

static void no_endpoint_is_no_network_at_all(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1 << 16);
    cordon_container_spec spec = sample();
    cordon_err err = CORDON_ERR_INIT;
    spec.endpoint_count = 0;
    REQUIRE_OK(docker_encode_container(&spec, &out, &err), err);
    CHECK_CONTAINS(cordon_buf_text(&out), "\"NetworkMode\":\"none\"");
    CHECK_CONTAINS(cordon_buf_text(&out), "\"EndpointsConfig\":{}");
}

static void a_limit_of_zero_is_said_and_its_ulimit_left_out(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(1 << 16);
    cordon_container_spec spec = sample();
    cordon_err err = CORDON_ERR_INIT;
    spec.limits = (cordon_limits_spec){0};
    REQUIRE_OK(docker_encode_container(&spec, &out, &err), err);
    CHECK_CONTAINS(cordon_buf_text(&out), "\"Memory\":0,\"MemorySwap\":0,\"NanoCpus\":0");
    CHECK_CONTAINS(cordon_buf_text(&out),
                   "\"Ulimits\":[{\"Name\":\"core\",\"Soft\":0,\"Hard\":0}]");
}

static void what_docker_cannot_do_is_refused_before_it_is_asked(void)
{
    static const cordon_mount_spec image[] = {
        {.type = CORDON_MOUNT_IMAGE, .source = ID_I, .target = "/image", .read_only = true}};
    static const cordon_mount_spec volume[] = {
        {.type = CORDON_MOUNT_VOLUME, .source = "../v", .target = "/v"}};
    cordon_auto(cordon_buf) out = cordon_buf_make(1 << 16);
    cordon_err err = CORDON_ERR_INIT;
    cordon_container_spec spec = sample();
    spec.userns = CORDON_USERNS_KEEP_ID;
    CHECK_FAILS(docker_encode_container(&spec, &out, &err), err, CORDON_ERR_UNSUPPORTED, "keep-id");
    spec = sample();
    spec.mounts = image;
    spec.mount_count = 1;
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(docker_encode_container(&spec, &out, &err), err, CORDON_ERR_UNSUPPORTED, "image");
    spec.mounts = volume;
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(docker_encode_container(&spec, &out, &err), err, CORDON_ERR_INVALID, "../v");
}

static void names_are_no_ids(void)
{
    static const cordon_endpoint_spec by_name[] = {
        {.network_id = "vendor", .network_name = "vendor", .ipv4 = "10.213.0.2"}};
    cordon_auto(cordon_buf) out = cordon_buf_make(1 << 16);
    cordon_err err = CORDON_ERR_INIT;
    cordon_container_spec spec = sample();
    spec.image_id = "busybox";
    CHECK_FAILS(docker_encode_container(&spec, &out, &err), err, CORDON_ERR_INVALID, "busybox");
    spec = sample();
    spec.endpoints = by_name;
    spec.endpoint_count = 1;
    err = (cordon_err)CORDON_ERR_INIT;
    CHECK_FAILS(docker_encode_container(&spec, &out, &err), err, CORDON_ERR_INVALID, "vendor");
}

static void a_label_without_a_value_is_refused(void)
{
    static const char *const bad[] = {"cordon.id"};
    cordon_auto(cordon_buf) out = cordon_buf_make(1 << 16);
    cordon_err err = CORDON_ERR_INIT;
    cordon_container_spec spec = sample();
    spec.labels = (cordon_texts){bad, 1};
    CHECK_FAILS(docker_encode_container(&spec, &out, &err), err, CORDON_ERR_INVALID, "cordon.id");
}

static void a_request_too_long_for_its_buffer_is_an_error(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(512);
    cordon_err err = CORDON_ERR_INIT;
    cordon_container_spec spec = sample();
    CHECK_INT(docker_encode_container(&spec, &out, &err), -1);
    CHECK_INT(err.code, CORDON_ERR_PROTOCOL);
}

static void an_internal_network_has_no_address_on_the_host(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(4096);
    cordon_err err = CORDON_ERR_INIT;
    const cordon_network_spec spec = {.name = "cordon-x-vendor",
                                      .subnet = "10.213.0.0/29",
                                      .internal = true,
                                      .no_gateway = true,
                                      .isolated = true,
                                      .labels = {labels, 1}};
    REQUIRE_OK(docker_encode_network(&spec, &out, &err), err);
    CHECK_STR(cordon_buf_text(&out),
              "{\"Name\":\"cordon-x-vendor\",\"CheckDuplicate\":true,\"Driver\":\"bridge\","
              "\"Internal\":true,\"Attachable\":false,\"Ingress\":false,\"EnableIPv6\":false,"
              "\"IPAM\":{\"Driver\":\"default\",\"Config\":[{\"Subnet\":\"10.213.0.0/29\"}]},"
              "\"Options\":{\"com.docker.network.bridge.inhibit_ipv4\":\"true\"},"
              "\"Labels\":{\"cordon.id\":\"x\"}}");
}

static void an_egress_network_has_no_options(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(4096);
    cordon_err err = CORDON_ERR_INIT;
    cordon_network_spec spec = {.name = "n", .subnet = "10.213.0.8/29", .labels = {labels, 1}};
    REQUIRE_OK(docker_encode_network(&spec, &out, &err), err);
    CHECK_CONTAINS(cordon_buf_text(&out), "\"Internal\":false");
    CHECK_CONTAINS(cordon_buf_text(&out), "\"Options\":{}");
    spec.no_gateway = true;
    CHECK_FAILS(docker_encode_network(&spec, &out, &err), err, CORDON_ERR_INVALID, "no_gateway");
}

static void connecting_names_container_and_address(void)
{
    cordon_auto(cordon_buf) out = cordon_buf_make(4096);
    cordon_err err = CORDON_ERR_INIT;
    REQUIRE_OK(docker_encode_connect(ID_B, &endpoints[0], &out, &err), err);
    CHECK_STR(cordon_buf_text(&out), "{\"Container\":\"" ID_B "\",\"EndpointConfig\":{"
                                     "\"IPAMConfig\":{\"IPv4Address\":\"10.213.0.2\"}}}");
}

CORDON_TEST_MAIN("docker_encode", TEST(a_whole_specification_is_said_whole),
                 TEST(no_endpoint_is_no_network_at_all),
                 TEST(a_limit_of_zero_is_said_and_its_ulimit_left_out),
                 TEST(what_docker_cannot_do_is_refused_before_it_is_asked), TEST(names_are_no_ids),
                 TEST(a_label_without_a_value_is_refused),
                 TEST(a_request_too_long_for_its_buffer_is_an_error),
                 TEST(an_internal_network_has_no_address_on_the_host),
                 TEST(an_egress_network_has_no_options),
                 TEST(connecting_names_container_and_address))
