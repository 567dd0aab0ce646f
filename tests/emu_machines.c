/* Emulated devices only: machine files, the virtual clock, injected faults, and the device setting. Asserts one clear
 * line for a bad file, virtual times computed by hand, and exactly the faults asked for. */
#include "device_common.h"

#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "device/emu/emu.h"

static char folder[] = "/tmp/semcache-machines-XXXXXX";
static const struct sc_device_ops *ops;

/* --- files and the log ------------------------------------------------------------------------------------------ */

static const char *write_file(const char *name, const char *text)
{
    static char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.machine", folder, name);
    file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return path;
}

static int kept_stderr, log_file;

static void log_begin(void)
{
    char path[256];

    snprintf(path, sizeof path, "%s/log", folder);
    kept_stderr = dup(STDERR_FILENO);
    log_file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(log_file, STDERR_FILENO);
}

/* The text logged since log_begin; *lines: number of its lines. */
static const char *log_end(int *lines)
{
    static char text[4096];
    ssize_t n;

    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    n = pread(log_file, text, sizeof text - 1, 0);
    close(log_file);
    text[n > 0 ? n : 0] = '\0';
    *lines = 0;
    for (const char *c = text; *c; c++)
        *lines += *c == '\n';
    return text;
}

/* --- parser ----------------------------------------------------------------------------------------------------- */

#define HEAD "semcache-machine 1\n"
#define DEVICE "device 0\nmemory 1M\nbandwidth 1G\ngemm s 1G\ngemm d 1G\n"
#define DEVICE1 "device 1\nmemory 1M\nbandwidth 1G\ngemm s 1G\ngemm d 1G\n"
#define LINKS1 "link host <-> 1\nbandwidth 1G\n"
#define LINKS "link host <-> 0\nbandwidth 1G\n"

static void test_bad(const char *text, const char *expected)
{
    struct sc_emu_machine *m = malloc(sizeof *m);
    enum sc_status status;
    const char *log;
    int lines;

    log_begin();
    status = sc_emu_machine_read(write_file("bad", text), m);
    log = log_end(&lines);
    if (!tap_ok(status != SC_OK && lines == 1 && strstr(log, expected), "refused: %s", expected))
        tap_diag("%s", log);
    free(m);
}

static void test_parser(void)
{
    test_bad("", "bad.machine:0: the file is empty");
    test_bad("machine\n", "bad.machine:1: the first line must be");
    test_bad(HEAD "semcache 2\n", "bad.machine:2: 'semcache': expected title, host, device, link or group");
    test_bad(HEAD "\n# x\nhost\nmemory 3\n", "bad.machine:5: 'memory' is no key of a host");
    test_bad(HEAD "device 0-16\n", "bad.machine:2: '0-16': devices are 0 to 15");
    test_bad(HEAD "device 3-\n", "bad.machine:2: '3-' is not 'host' or a list");
    test_bad(HEAD "device host\n", "bad.machine:2: the host is no device");
    test_bad(HEAD "device 0\nmemory 5Q\n", "bad.machine:3: '5Q' is not a number");
    test_bad(HEAD "device 0\nmemory -5\n", "bad.machine:3: '-5' is not a number");
    test_bad(HEAD "device 0\nmemory nan\n", "bad.machine:3: 'nan' is not a number");
    test_bad(HEAD "device 0\nmemory 0\n", "bad.machine:3: memory must be above zero");
    test_bad(HEAD "device 0\nmemory 1.5\n", "bad.machine:3: '1.5': must be a whole number");
    test_bad(HEAD "device 0\nmemory 1 2\n", "bad.machine:3: 'memory' takes one value");
    test_bad(HEAD "device 0\nname\n", "bad.machine:3: 'name' takes a text");
    test_bad(HEAD "device 0\ngemm x 5\n", "bad.machine:3: gemm takes a type");
    test_bad(HEAD "device 0\nfail copies 5\n", "bad.machine:3: 'fail' takes alloc, copy, launch, fill");
    test_bad(HEAD "link 0 1\n", "bad.machine:2: expected ENDS -> ENDS");
    test_bad(HEAD "link 0 -> 1\nlatency x\n", "bad.machine:3: 'x' is not a number");
    test_bad(HEAD "link 0 -> 1\nbandwidth 0\n", "bad.machine:3: '0': must be above zero");
    test_bad(HEAD "link 0 -> 1\nkernels 1u\n", "bad.machine:3: kernels takes a latency and a bandwidth");
    test_bad(HEAD "link host <-> 0\nkernels 1u 1G\n", "bad.machine:3: no kernel writes to the host");
    test_bad(HEAD "group a\nbandwidth 5 from 3\n", "bad.machine:3: the first bandwidth has no 'from'");
    test_bad(HEAD DEVICE LINKS "group a\n", "bad.machine:9: group a needs a bandwidth");
    test_bad(HEAD DEVICE LINKS "link 0 -> 5\nbandwidth 1G\n", "bad.machine:9: a link names device 5");
    test_bad(HEAD DEVICE LINKS "link 0 -> host\n# twice is fine\nlink host -> 1\n",
             "bad.machine:11: a link names device 1");
    test_bad(HEAD DEVICE DEVICE1 LINKS LINKS1 "link 0 -> 1\nlatency 1\n", "bad.machine:16: the link needs a bandwidth");
    test_bad(HEAD, "the file has no devices");
    test_bad(HEAD DEVICE, "bad.machine:2: device 0 needs links");
    test_bad(HEAD "device 0\nmemory 5\n", "bad.machine:2: device 0 needs memory, bandwidth");
    test_bad(HEAD DEVICE LINKS "device 2\n", "device 1 is missing");
}

static void test_good_file(void)
{
    struct sc_emu_machine *m = malloc(sizeof *m);
    const char *text = HEAD "title two  # words\n" DEVICE "device 1\nname an other\nmemory 2Gi\nbandwidth 2.5G\n"
                       "gemm s 4T\ngemm d 2T\nwatts 100 10\n link host <-> 0-1\n latency 3u\n bandwidth 10G\n"
                       "link 1 -> 0\nbandwidth 7G";

    tap_ok(!sc_emu_machine_read(write_file("good", text), m) && m->devices == 2 && !strcmp(m->title, "two") &&
           !strcmp(m->device[1].name, "an other") && m->device[1].memory == 2147483648u &&
           m->device[1].bandwidth == 2.5e9 && m->device[1].gemm[SC_Z] == 2e12 && m->device[1].watts_busy == 100 &&
           m->link[SC_EMU_HOST][1].bandwidth == 1e10 && fabs(m->link[0][SC_EMU_HOST].latency - 3e-6) < 1e-18 &&
           m->link[1][0].bandwidth == 7e9 && m->link[0][1].bandwidth == 0, "a good file is read as it is written");
    free(m);
}

/* Every installed machine opens, and has plausible links. */
static void test_installed(void)
{
    static const struct { const char *name; int devices, peers; } known[] = {
        {"k20x2", 2, 2}, {"k40x3", 3, 2}, {"dgx1", 8, 56}, {"h200x8", 8, 56}, {"v100x16", 16, 240},
        {"m2090x8", 8, 56}, {"h200x2", 2, 2}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct sc_device_properties p;
        int count = 0, peers = 0;
        enum sc_status status = ops->open(device_host(), known[i].name, &count);

        for (int d = 0; d < count && !ops->properties(d, &p); d++)
            for (int e = 0; e < count; e++)
                peers += p.peer[e];
        tap_ok(!status && count == known[i].devices && peers == known[i].peers,
               "%s: %d devices, %d directed peer links", known[i].name, count, peers);
        ops->close();
    }
}

static void test_setting(const char *setting, enum sc_status expected, const char *says)
{
    const struct sc_device_ops *found;
    const char *log;
    int count = -1, lines;
    enum sc_status status;

    log_begin();
    status = sc_device_open(device_host(), setting, &found, &count);
    log = log_end(&lines);
    if (!tap_ok(status == expected && (found == NULL) == (count == 0) && lines == (says != NULL) &&
                (!says || strstr(log, says)), "setting %s", setting))
        tap_diag("status %s, %d devices, log: %s", sc_status_name(status), count, log);
    if (found)
        found->close();
}

static void test_settings(void)
{
    char path[300];

    test_setting("none", SC_OK, NULL);
    test_setting("emu:k20x2", SC_OK, NULL);
    test_setting("emu:h200x8:3", SC_OK, NULL);
    test_setting("emu:h200x8:9", SC_ERR_INVALID, "the machine has 8 devices");
    test_setting("emu:h200x8:0", SC_ERR_INVALID, "'0' is no number of devices");
    test_setting("emu:h200x8:two", SC_ERR_INVALID, "'two' is no number of devices");
    test_setting("emu", SC_ERR_INVALID, "need a machine");
    test_setting("emu:cray1", SC_ERR_INVALID, "no emulated machine 'cray1'");
    test_setting("emu:cray1:2", SC_ERR_INVALID, "k40x3");
    test_setting("emulated", SC_ERR_INVALID, "unknown device setting 'emulated'");
    test_setting("none:1", SC_ERR_INVALID, "unknown device setting");
    test_setting("emu:/no/such.machine", SC_ERR_IO, "/no/such.machine");
    snprintf(path, sizeof path, "emu:%s/good.machine:1", folder);
    test_setting(path, SC_OK, NULL);
    tap_ok(sc_device_expected("emu:h200x8") && sc_device_expected("cuda:0") && !sc_device_expected("none") &&
           !sc_device_expected("rubbish"), "which settings could give devices");
}

/* Opens with a module_path set after device_host. */
static void test_module(const char *path, const char *wrong, const char *setting, enum sc_status expected,
                        const char *says)
{
    const struct sc_device_host *host = device_host();
    const struct sc_device_ops *found;
    const char *log;
    int count, lines;
    enum sc_status status;

    sc_config.submit = SC_SUBMIT_CALLER; /* submission threads would go on after the test */
    sc_config.module_path = path;
    setenv("FAKE_MODULE", wrong, 1);
    log_begin();
    status = sc_device_open(host, setting, &found, &count);
    log = log_end(&lines);
    if (!tap_ok(status == expected && (found == NULL) == (count == 0) && lines == (says != NULL) &&
                (!says || strstr(log, says)), "module: %s (%s)", setting, says ? says : "no message"))
        tap_diag("status %s, %d devices, log: %s", sc_status_name(status), count, log);
}

static void limit_space(rlim_t bytes)
{
    struct rlimit space;

    getrlimit(RLIMIT_AS, &space);
    space.rlim_cur = bytes < space.rlim_max ? bytes : space.rlim_max;
    setrlimit(RLIMIT_AS, &space);
}

/* With a limited address space: messages of the module while it opens are replaced by one line. Later messages are
 * logged. */
static void test_limited(const char *fakes)
{
    static const rlim_t gib = (rlim_t)1 << 30;
    const struct sc_device_host *host = device_host();
    struct sc_device_properties properties;
    const struct sc_device_ops *found;
    struct rlimit before;
    int count, lines;
    const char *log;

    if (getenv("SEMCACHE_TEST_ASAN")) /* AddressSanitizer takes 16 TiB of addresses */
        return;
    getrlimit(RLIMIT_AS, &before);
    limit_space(3 * gib); /* not tried */
    test_module(fakes, "speaks", "cuda:2", SC_ERR_DEVICE_MEMORY, "within 3072 MiB of address space");
    limit_space(16 * gib);
    test_module(fakes, "memory", "cuda", SC_ERR_DEVICE_MEMORY, "within 16384 MiB of address space");
    test_module(fakes, "speaks", "cuda:0", SC_ERR_DEVICE, "within 16384 MiB of address space");
    setenv("FAKE_MODULE", "speaks", 1);
    log_begin();
    sc_device_open(host, "cuda:2", &found, &count);
    if (found)
        found->properties(0, &properties);
    log = log_end(&lines);
    if (!tap_ok(found && count == 2 && lines == 1 && strstr(log, "of a device"),
                "module: with enough address space it opens, and what it says then is heard"))
        tap_diag("%d devices, log: %s", count, log);
    limit_space(before.rlim_cur);
}

/* A driver that may open few files finds no device: the line names the limit. */
static void test_few_files(const char *fakes)
{
    struct rlimit before, few;
    int next = dup(STDOUT_FILENO);

    close(next);
    getrlimit(RLIMIT_NOFILE, &before);
    few = (struct rlimit){(rlim_t)next + 8, before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    test_module(fakes, "", "cuda:0", SC_ERR_DEVICE, "descriptors left (ulimit -n)");
    test_module(fakes, "", "auto", SC_OK, NULL);
    setrlimit(RLIMIT_NOFILE, &before);
}

static void test_modules(void)
{
    const char *build = getenv("top_builddir");
    char fakes[4096];

    snprintf(fakes, sizeof fakes, "%s/tests/.libs", build ? build : ".");
    test_module(folder, "", "cuda", SC_ERR_DEVICE, "no CUDA devices");
    test_module(folder, "", "auto", SC_OK, NULL);
    test_module(fakes, "nothing", "cuda", SC_ERR_DEVICE, "another version");
    test_module(fakes, "abi", "cuda", SC_ERR_DEVICE, "another version");
    test_module(fakes, "size", "cuda:1", SC_ERR_DEVICE, "another version");
    test_module(fakes, "", "cuda:0", SC_ERR_DEVICE, "no GPU that this process may use");
    test_module(fakes, "", "cuda:bad", SC_ERR_INVALID, NULL); /* the module has spoken */
    test_module(fakes, "", "cuda:3", SC_OK, NULL);
    test_module(fakes, "memory", "cuda", SC_ERR_DEVICE_MEMORY, "no memory for the driver");
    test_limited(fakes);
    test_few_files(fakes);
}

/* --- clock ------------------------------------------------------------------------------------------------------ */

/* Round figures. A call takes the host 1 s, a wait 0.5 s. A link has 2 s of latency and 1000 bytes/s; from the host two
 * devices share 1500 bytes/s, and three devices 1200. A kernel takes 0.25 s, and runs at 800 flop/s or 4000 bytes/s. */
static const char clock_machine[] = HEAD
    "host\ncall 1\nsync 0.5\n"
    "device 0-2\nmemory 1G\nbandwidth 4000\nlaunch 0.25\ngemm s 1600\ngemm d 800\nwatts 110 10\n"
    "link host <-> 0-2\nlatency 2\nbandwidth 1000\n"
    "link 0 <-> 1\nlatency 0.5\nbandwidth 500\nkernels 0.125 250\n"
    "group down\nbandwidth 1500\nbandwidth 1200 from 3\ncarries host -> 0-2\n";

static char *host_memory;
static void *dev[3];

static void up(int device, enum sc_stream stream, size_t bytes)
{
    struct sc_copy2d c = plain_copy(dev[device], device, host_memory, SC_HOST, bytes);
    ops->copy(device, stream, &c);
}

static void down(int device, size_t bytes)
{
    struct sc_copy2d c = plain_copy(host_memory, SC_HOST, dev[device], device, bytes);
    ops->copy(device, SC_STREAM_D2H, &c);
}

static void start_clock(void)
{
    static char spec[300];
    struct sc_fence ready;
    int count;

    snprintf(spec, sizeof spec, "%s/clock.machine", folder);
    if (ops->open(device_host(), spec, &count)) {
        printf("Bail out! cannot open %s\n", spec);
        exit(1);
    }
    for (int d = 0; d < count; d++)
        ops->alloc(d, 1 << 20, &dev[d], &ready);
}

static void expect(double seconds, const char *what)
{
    double got = ops->virtual_seconds();

    if (!tap_ok(fabs(got - seconds) <= 1e-9, "clock: %s", what))
        tap_diag("%.9g s, expected %.9g", got, seconds);
    ops->close();
}

static void test_clock_links(void)
{
    start_clock();
    up(0, SC_STREAM_H2D, 3000);
    expect(1 + 3000 / 1000.0 + 2, "one transfer: call, bytes, latency");

    start_clock();
    up(0, SC_STREAM_H2D, 3000);
    up(0, SC_STREAM_H2D, 3000);
    expect(6 + 3 + 2, "two on one stream");

    start_clock();
    up(0, SC_STREAM_H2D, 3000); /* link busy from 1 to 4 */
    up(0, SC_STREAM_PEER, 3000); /* made at 2, served from 4 to 7 */
    expect(7 + 2, "two streams share the link");

    start_clock();
    up(0, SC_STREAM_H2D, 3000); /* the group serves this copy from 1 to 3, its link until 4 */
    up(1, SC_STREAM_H2D, 3000); /* made at 2, the group serves it from 3 to 5, its link from 2 to 5 */
    up(0, SC_STREAM_PEER, 1500); /* two are busy at 3: from 5 to 6; its link from 4 to 5.5 */
    expect(6 + 2, "two links share a group");

    start_clock();
    up(0, SC_STREAM_H2D, 3000);
    up(1, SC_STREAM_H2D, 6000); /* group from 3 to 7 */
    up(2, SC_STREAM_H2D, 6000); /* the third at 3: 1200 bytes/s, from 7 to 12 */
    expect(12 + 2, "a group is slower when it is crowded");

    start_clock();
    up(0, SC_STREAM_H2D, 6000); /* to 7 + 2 */
    down(0, 6000);              /* from 2 to 8 + 2: its own direction */
    expect(10, "directions do not share");
}

static void test_clock_order(void)
{
    struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N', .m = 10, .n = 10, .k = 8,
                          .alpha = {1, 0}, .lda = 10, .ldb = 8, .ldc = 10};
    struct sc_copy2d pass, pieces[2];
    struct sc_fence fence;

    start_clock();
    k.a = k.b = k.c = dev[0];
    up(0, SC_STREAM_H2D, 3000);                         /* to 6 */
    ops->wait(0, SC_STREAM_COMPUTE, mark(ops, 0, SC_STREAM_H2D));
    ops->launch(0, SC_STREAM_COMPUTE, &k);              /* 1600 flop at 800/s: to 8.25 */
    ops->wait(0, SC_STREAM_D2H, mark(ops, 0, SC_STREAM_COMPUTE));
    down(0, 1000);                                      /* to 11.25 */
    ops->sync(mark(ops, 0, SC_STREAM_D2H));
    tap_ok(fabs(sc_emu_joules() - (3 * 10 * 11.75 + 100 * 2.25)) < 1e-9, "clock: energy");
    expect(11.75, "up, kernel, down, wait");

    start_clock();
    k.a = k.b = k.c = dev[0];
    k.type = SC_S;
    ops->launch(0, SC_STREAM_COMPUTE, &k);              /* from 1: 0.25 + 1 */
    k.type = SC_D;
    ops->launch(0, SC_STREAM_PEER, &k);                 /* after it: 2.25 */
    expect(1 + 1.25 + 2.25, "kernels of a device run one at a time");

    start_clock();
    k.op = SC_OP_AXPY;
    k.n = 1000;
    k.a = k.b = dev[0];
    k.lda = k.ldb = 1;
    ops->launch(0, SC_STREAM_COMPUTE, &k);              /* 24000 bytes against 2000 flop */
    expect(1 + 0.25 + 6, "a kernel that is bound by memory");

    start_clock();
    pass = plain_copy(dev[1], 1, dev[0], 0, 1000);
    up(0, SC_STREAM_H2D, 1000);                         /* to 4 */
    ops->wait(1, SC_STREAM_PEER, mark(ops, 0, SC_STREAM_H2D));
    ops->copy(1, SC_STREAM_PEER, &pass);                /* to 6.5 */
    expect(6.5, "from one device to the other");

    start_clock();
    pieces[0] = plain_copy(dev[1], 1, dev[0], 0, 500);
    pieces[1] = plain_copy((char *)dev[1] + 500, 1, (char *)dev[0] + 500, 0, 250);
    ops->exchange(1, SC_STREAM_EXCHANGE, pieces, 2);
    expect(1 + 0.25 + 3 + 0.125, "two pieces by one kernel: call, launch, bytes, its latency");

    start_clock();
    pass = plain_copy(dev[2], 2, dev[0], 0, 1000);
    tap_ok(ops->exchange(2, SC_STREAM_EXCHANGE, &pass, 1) == SC_ERR_UNSUPPORTED, "nor do kernels reach without it");
    ops->close();

    start_clock();
    up(0, SC_STREAM_H2D, 9000);                         /* to 12 */
    fence = mark(ops, 0, SC_STREAM_H2D);
    ops->wait(1, SC_STREAM_H2D, fence);
    up(1, SC_STREAM_H2D, 3000);                         /* from 12 to 15 + 2; the group from 12 to 14 */
    up(2, SC_STREAM_H2D, 3000);                         /* made at 3; the group is free from 7 to 9 before that */
    fence = mark(ops, 2, SC_STREAM_H2D);
    ops->sync(fence);                                   /* at 9 + 2 + 0.5 */
    down(2, 7000);                                      /* made at 12.5: to 19.5 + 2 */
    expect(21.5, "time that is free before later transfers is used");

    start_clock();
    for (int i = 0; i < 100; i++)
        up(0, SC_STREAM_H2D, 3000);                     /* the group has 3 of each 5 seconds free, until 499 */
    up(1, SC_STREAM_H2D, 6000);                         /* made at 101: of the group from 103 to 106 and 108 to 109 */
    ops->sync(mark(ops, 1, SC_STREAM_H2D));             /* at 109 + 2 + 0.5 */
    down(2, 500000);                                    /* made at 112.5 */
    expect(112.5 + 500 + 2, "however many they are");

    start_clock();
    pass = plain_copy(dev[2], 2, dev[0], 0, 1000);
    tap_ok(ops->copy(2, SC_STREAM_PEER, &pass) == SC_ERR_UNSUPPORTED, "no link, no copy");
    ops->close();
}

/* The figures that h200x8 was made from. */
static void test_clock_h200(void)
{
    double seconds;
    int count;

    ops->open(device_host(), "h200x8", &count);
    for (int d = 0; d < 3; d++)
        ops->alloc(d, 1 << 20, &dev[d], &(struct sc_fence){0, 0, 0});
    down(0, 8);
    ops->sync(mark(ops, 0, SC_STREAM_D2H));
    seconds = ops->virtual_seconds();
    tap_ok(fabs(seconds - 7.4e-6) < 1e-8, "h200x8: 8 bytes to the host and a wait take 7.4 us (%.2f)", seconds * 1e6);
    ops->close();
}

/* --- faults ----------------------------------------------------------------------------------------------------- */

static enum sc_status try_copy(void)
{
    struct sc_copy2d c = plain_copy(dev[0], 0, host_memory, SC_HOST, 64);
    return ops->copy(0, SC_STREAM_H2D, &c);
}

static void test_faults(void)
{
    struct sc_fence ready, before, after;
    struct sc_kernel k = {.op = SC_OP_SCAL, .type = SC_D, .n = 4, .alpha = {2, 0}, .lda = 1};
    void *p;
    int count, lines;

    ops->open(device_host(), "h200x8:2", &count);
    dev[0] = block_new(ops, 0, 4096);
    dev[1] = block_new(ops, 1, 4096);
    k.a = dev[0];
    log_begin();
    sc_emu_inject(0, (struct sc_emu_fault){.kind = SC_EMU_COPY, .nth = 2});
    tap_ok(!try_copy() && try_copy() == SC_ERR_DEVICE && !try_copy(), "the second copy fails, and only that");
    sc_emu_inject(0, (struct sc_emu_fault){.kind = SC_EMU_ALLOC, .nth = 1});
    tap_ok(ops->alloc(0, 64, &p, &ready) == SC_ERR_DEVICE_MEMORY && !ops->alloc(0, 64, &p, &ready),
           "an allocation fails");
    sc_emu_inject(0, (struct sc_emu_fault){.kind = SC_EMU_LAUNCH, .nth = 1});
    tap_ok(!try_copy() && ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_ERR_DEVICE &&
           !ops->launch(0, SC_STREAM_COMPUTE, &k), "a launch fails");

    try_copy();
    before = mark(ops, 0, SC_STREAM_H2D);
    sc_emu_inject(0, (struct sc_emu_fault){.kind = SC_EMU_ANY, .nth = 1, .lost = true});
    tap_ok(try_copy() == SC_ERR_DEVICE && try_copy() == SC_ERR_DEVICE &&
           ops->alloc(0, 64, &p, &ready) == SC_ERR_DEVICE &&
           ops->launch(0, SC_STREAM_COMPUTE, &k) == SC_ERR_DEVICE, "a lost device fails everything");
    tap_ok(!ops->sync(before), "but what was enqueued before is done");
    tap_ok(!ops->alloc(1, 64, &p, &ready), "the other device lives");
    sc_emu_inject(0, (struct sc_emu_fault){.nth = 0});
    tap_ok(!try_copy(), "a device that is back");

    before = mark(ops, 0, SC_STREAM_H2D);
    sc_emu_inject(0, (struct sc_emu_fault){.kind = SC_EMU_COPY, .nth = 1, .late = true});
    tap_ok(!try_copy(), "a copy that fails late is accepted");
    after = mark(ops, 0, SC_STREAM_H2D);
    ops->wait(1, SC_STREAM_COMPUTE, after);
    tap_ok(!ops->sync(before) && ops->sync(after) == SC_ERR_DEVICE && ops->done(after), "sync reports it");
    tap_ok(ops->sync(mark(ops, 1, SC_STREAM_COMPUTE)) == SC_ERR_DEVICE, "and so does who waited for it");
    tap_ok(try_copy() == SC_ERR_DEVICE, "the device is lost then");
    log_end(&lines);
    tap_ok(lines == 5, "one line for each fault (%d)", lines);
    ops->close();
}

static void test_fault_in_file(void)
{
    char spec[300];
    int count, lines;

    write_file("faulty", HEAD DEVICE "memory 1G\nfail copy 3\n" LINKS);
    snprintf(spec, sizeof spec, "%s/faulty.machine", folder);
    ops->open(device_host(), spec, &count);
    dev[0] = block_new(ops, 0, 4096);
    log_begin();
    tap_ok(!try_copy() && !try_copy() && try_copy() == SC_ERR_DEVICE && !try_copy(), "a fault of the machine file");
    log_end(&lines);
    ops->close();
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

static size_t mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    size_t lines = 0;

    for (int c; file && (c = getc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines;
}

/* Blocks, live and free, leave most of the process's mappings (65530) to the program. */
static void test_many_blocks(void)
{
    enum { DEVICES = 2, MOST = 40000 };
    static void *p[DEVICES][MOST];
    int count, n[DEVICES] = {0};
    struct sc_fence ready;
    size_t before = mappings(), after;

    ops->open(device_host(), "h200x8:2", &count);
    for (int d = 0; d < DEVICES; d++)
        while (n[d] < MOST && !ops->alloc(d, 64, &p[d][n[d]], &ready))
            n[d]++;
    after = mappings();
    tap_ok(n[0] > 1000 && n[1] == n[0] && after < before + 20000, "%d blocks a device, then no more: %zu mappings",
           n[0], after);
    for (int d = 0; d < DEVICES; d++)
        for (int i = 0; i < n[d]; i++)
            ops->free(d, p[d][i], NULL, 0);
    for (int wait = 0; wait < 1000 && (after = mappings()) > before + 4000; wait++) /* for the devices' threads */
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    tap_ok(after <= before + 4000, "freed blocks give their mappings back (%zu)", after);
    tap_ok(!ops->alloc(0, 8192, &p[0][0], &ready), "and there is room again");
    ops->close();
}

static void test_timing_mode(void)
{
    struct sc_fence ready;
    struct sc_kernel k = {.op = SC_OP_GEMM, .type = SC_D, .transa = 'N', .transb = 'N',
                          .m = 60000, .n = 60000, .k = 60000, .alpha = {1, 0},
                          .lda = 60000, .ldb = 60000, .ldc = 60000};
    void *p[4];
    int count;

    ops->open(device_host(), "h200x8:1", &count);
    for (int i = 0; i < 4; i++)
        tap_ok(!ops->alloc(0, (size_t)60000 * 60000 * 8, &p[i], &ready), "28.8 GB of reserved memory");
    tap_ok(sc_emu_memory_used(0) >= 4 * (size_t)28800000000 &&
           ops->alloc(0, (size_t)60000 * 60000 * 8 * 2, &p[3], &ready) == SC_ERR_DEVICE_MEMORY, "until it is full");
    k.a = p[0];
    k.b = p[1];
    k.c = p[2];
    tap_ok(!ops->launch(0, SC_STREAM_COMPUTE, &k) && !ops->sync(mark(ops, 0, SC_STREAM_COMPUTE)) &&
           fabs(ops->virtual_seconds() - 7.2) < 0.01, "a dgemm of 60000 takes 7.2 virtual seconds");
    tap_ok(!ops->copy(0, SC_STREAM_H2D, &(struct sc_copy2d){.dst = p[0], .src = host_memory, .dst_pitch = 4096,
                                                            .src_pitch = 4096, .width = 1000, .height = 3,
                                                            .src_device = SC_HOST}) &&
               sc_emu_link_bytes(SC_HOST, 0) == 3000 && sc_emu_link_bytes(0, SC_HOST) == 0, "bytes over a link");
    ops->close();
}

static void remove_files(void)
{
    static const char *const names[] = {"bad.machine", "good.machine", "clock.machine", "faulty.machine", "log"};
    char path[256];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void)
{
    if (!mkdtemp(folder) || !host_blas_symbol("dgemm_")) {
        printf("1..0 # SKIP no temporary folder or no host BLAS\n");
        return 0;
    }
    ops = sc_device_emu();
    test_parser();
    test_good_file();
    test_installed();
    test_settings();
    test_modules();
    host_memory = pinned_new(ops, 1 << 20);
    test_faults();
    test_many_blocks();
    test_fault_in_file();
    sc_config.emu_timing = 1;
    write_file("clock", clock_machine);
    test_clock_links();
    test_clock_order();
    test_clock_h200();
    test_timing_mode();
    pinned_free(ops, host_memory, 1 << 20);
    remove_files();
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
