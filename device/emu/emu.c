/* The operations of device.h on emulated devices.  An operation checks its arguments, advances the virtual clock and
 * queues the work on its stream; streams.c runs the work (rules: device/README.md). */
#include "device/emu/emu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/inside.h"
#include "device/device_int.h"
#include "device/share.h"
#include "device/emu/clock.h"
#include "device/emu/emu_int.h"

static struct {
    /* Protects the clock, the faults and the order of pushes.  First in the order of this folder's locks. */
    pthread_mutex_t lock;
    bool open, timing;
    pid_t owner;
    int devices;
    const struct sc_device_host *host;
    struct sc_emu_machine *machine;
    struct device_faults {
        struct sc_emu_fault fault;
        uint64_t seen; /* operations of fault.kind since the fault was set */
        bool lost;
    } faults[SC_DEVICES_MAX];
} emu = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool valid_stream(int device, int stream)
{
    return emu.open && device >= 0 && device < emu.devices && stream >= 0 && stream < SC_STREAMS;
}

static bool valid_fence(struct sc_fence f) { return !f.seq || valid_stream(f.device, f.stream); }

/* --- faults ----------------------------------------------------------------------------------------------------- */

void sc_emu_inject(int device, struct sc_emu_fault fault)
{
    pthread_mutex_lock(&emu.lock);
    emu.faults[device] = (struct device_faults){fault, 0, false};
    pthread_mutex_unlock(&emu.lock);
}

/* Kinds executed by streams; operations of other kinds finish or fail at once. */
static bool is_executed(enum sc_emu_kind kind)
{
    return kind == SC_EMU_COPY || kind == SC_EMU_LAUNCH || kind == SC_EMU_FILL;
}

/* A device lost by a late fault still accepts marks and waits; sync reports the loss through the stream. */
static bool fails_when_lost(const struct device_faults *f, enum sc_emu_kind kind)
{
    return is_executed(kind) || kind == SC_EMU_ALLOC || (kind != SC_EMU_SYNC && !f->fault.late);
}

/* Whether the operation about to be enqueued fails at once.  If not, and op is not NULL, sets op->fails for a failure
 * at execution.  Lock held. */
static bool fails(int device, enum sc_emu_kind kind, struct sc_emu_op *op)
{
    struct device_faults *f = &emu.faults[device];
    bool late;

    if (f->lost)
        return fails_when_lost(f, kind);
    if (!f->fault.nth || (f->fault.kind != SC_EMU_ANY && f->fault.kind != kind) || ++f->seen != f->fault.nth)
        return false;
    late = f->fault.late && is_executed(kind);
    if (op) {
        op->fails = late;
        op->skips = f->fault.skip;
    }
    f->lost = f->fault.lost || (late && !f->fault.quiet);
    emu.host->log(SC_LOG_WARN, "emulated device %d: %s %llu %s as asked%s", device, sc_emu_kind_names[f->fault.kind],
                  (unsigned long long)f->seen, f->fault.skip ? "is left out" : "fails",
                  f->lost ? "; the device is lost" : "");
    return !late && !f->fault.skip;
}

static bool fails_now(int device, enum sc_emu_kind kind)
{
    bool bad;

    pthread_mutex_lock(&emu.lock);
    bad = fails(device, kind, NULL);
    pthread_mutex_unlock(&emu.lock);
    return bad;
}

/* --- enqueue ---------------------------------------------------------------------------------------------------- */

/* Lock held. */
static void advance(int device, int stream, const struct sc_emu_op *op, uint64_t seq)
{
    const struct sc_copy2d *c = &op->copy;

    switch (op->action) {
    case SC_EMU_DO_COPY:
        sc_emu_clock_copy(device, stream, seq, c->src_device == SC_HOST ? SC_EMU_HOST : c->src_device,
                          c->dst_device == SC_HOST ? SC_EMU_HOST : c->dst_device, (uint64_t)c->width * c->height);
        break;
    case SC_EMU_DO_EXCHANGE:
        sc_emu_clock_exchange(device, stream, seq, op->exchange.pieces, op->exchange.count);
        break;
    case SC_EMU_DO_FILL:
        sc_emu_clock_fill(device, stream, seq, (uint64_t)op->fill.width * op->fill.height);
        break;
    case SC_EMU_DO_KERNEL:
        sc_emu_clock_kernel(device, stream, seq, &op->kernel);
        break;
    case SC_EMU_DO_CALL:
        sc_emu_clock_fill(device, stream, seq, op->call.traffic);
        break;
    case SC_EMU_DO_STORE:
        sc_emu_clock_fill(device, stream, seq, 2 * op->store.bytes); /* a read and a write */
        break;
    case SC_EMU_DO_CONVERT:
        sc_emu_clock_fill(device, stream, seq, sc_emu_conversion_bytes(&op->conversion));
        break;
    case SC_EMU_DO_WAIT:
        sc_emu_clock_wait(device, stream, seq, op->fence);
        break;
    default:
        sc_emu_clock_nothing(device, stream, seq);
    }
}

/* Work of the emulation itself (garbage, unmapping) takes no virtual time.  Lock held. */
static enum sc_status push(int device, int stream, const struct sc_emu_op *op, bool takes_time)
{
    uint64_t seq;
    enum sc_status status = sc_emu_stream_push(device, stream, op, &seq);

    if (status)
        return status;
    if (takes_time)
        advance(device, stream, op, seq);
    else
        sc_emu_clock_nothing(device, stream, seq);
    return SC_OK;
}

/* Enqueues an operation of the caller, subject to injected faults. */
static enum sc_status submit(int device, int stream, enum sc_emu_kind kind, struct sc_emu_op *op)
{
    enum sc_status status = SC_ERR_DEVICE;

    sc_inside_enter();
    pthread_mutex_lock(&emu.lock);
    if (!fails(device, kind, op))
        status = push(device, stream, op, true);
    pthread_mutex_unlock(&emu.lock);
    sc_inside_leave();
    return status;
}

/* --- execution, on worker threads ------------------------------------------------------------------------------- */

static enum sc_status run_copy(const struct sc_copy2d *c)
{
    uint64_t host_bytes = c->height ? (c->height - 1) * c->dst_pitch + c->width : 0;

    if (c->src_device == SC_HOST && !sc_emu_is_slot(c->src, c->width))
        return sc_emu_hostmem_read(c);
    if (c->dst_device == SC_HOST && !sc_emu_is_slot(c->dst, host_bytes))
        return sc_emu_hostmem_write(c);
    for (size_t row = 0; row < c->height; row++)
        memcpy((char *)c->dst + row * c->dst_pitch, (const char *)c->src + row * c->src_pitch, c->width);
    return SC_OK;
}

static enum sc_status run_exchange(const struct sc_emu_exchange *x)
{
    enum sc_status status = SC_OK;

    for (int i = 0; i < x->count && status == SC_OK; i++)
        status = run_copy(&x->pieces[i]);
    return status;
}

static enum sc_status run_kernel(struct sc_kernel k)
{
    sc_emu_plan_apply(&k);
    return sc_device_kernel_host(sc_emu_blas_symbol, &k);
}

static enum sc_status run_op(const struct sc_emu_op *op)
{
    const struct sc_emu_fill *f = &op->fill;

    switch (op->action) {
    case SC_EMU_DO_COPY:
        return run_copy(&op->copy);
    case SC_EMU_DO_EXCHANGE:
        return run_exchange(&op->exchange);
    case SC_EMU_DO_KERNEL:
        return run_kernel(op->kernel);
    case SC_EMU_DO_FILL:
        for (size_t row = 0; row < f->height; row++)
            memset((char *)f->memory + row * f->pitch, f->byte, f->width);
        return SC_OK;
    case SC_EMU_DO_CALL:
        op->call.run(op->device, NULL, op->call.record);
        return SC_OK;
    case SC_EMU_DO_STORE:
        sc_emu_product_store(&op->store);
        return SC_OK;
    case SC_EMU_DO_CONVERT:
        return sc_device_convert(&op->conversion);
    default:
        sc_emu_memory_unmap(&op->unmap);
        return SC_OK;
    }
}

/* --- open, close ------------------------------------------------------------------------------------------------ */

/* Parses "MACHINE[:COUNT]"; *count is 0 if absent. */
static enum sc_status parse_spec(const char *spec, char *machine, size_t size, long *count)
{
    const char *colon = strrchr(spec, ':');
    int length = (int)(colon ? (size_t)(colon - spec) : strlen(spec));
    char *end = NULL;

    *count = 0;
    if (colon) {
        *count = strtol(colon + 1, &end, 10);
        if (end == colon + 1 || *end || *count < 1) {
            sc_log(SC_LOG_ERROR, "emu:%s: '%s' is no number of devices; give emu:MACHINE or emu:MACHINE:COUNT", spec,
                   colon + 1);
            return SC_ERR_INVALID;
        }
    }
    if ((size_t)snprintf(machine, size, "%.*s", length, spec) >= size || !*machine) {
        sc_log(SC_LOG_ERROR, "emulated devices need a machine: emu:MACHINE[:COUNT], for example emu:h200x8:2");
        return SC_ERR_INVALID;
    }
    return SC_OK;
}

/* Reduces `all` devices to those of this rank, with the rank's part of the memory. */
static void take_share(int all)
{
    struct sc_device_share share = sc_device_share(emu.host->config, all);

    sc_emu_machine_keep(emu.machine, share.first, share.count);
    emu.devices = share.count;
    for (int i = 0; i < share.count; i++)
        emu.machine->device[i].memory /= (uint64_t)share.sharers;
}

static enum sc_status load(const char *spec)
{
    char name[3072];
    long count;
    enum sc_status status = parse_spec(spec, name, sizeof name, &count);

    if (status)
        return status;
    emu.machine = malloc(sizeof *emu.machine);
    if (!emu.machine)
        return SC_ERR_MEMORY;
    status = sc_emu_machine_find(emu.host->config->machine_path, name, emu.machine);
    if (!status && count > emu.machine->devices) {
        sc_log(SC_LOG_ERROR, "emu:%s: the machine has %d devices", spec, emu.machine->devices);
        status = SC_ERR_INVALID;
    }
    emu.devices = 0;
    if (!status)
        take_share(count ? (int)count : emu.machine->devices);
    return status;
}

static enum sc_status start_memory(void)
{
    uint64_t limits[SC_DEVICES_MAX], set = emu.host->config->memory_limit;
    enum sc_status status;

    for (int i = 0; i < emu.devices; i++) {
        if (set && set < emu.machine->device[i].memory)
            emu.machine->device[i].memory = set;
        limits[i] = emu.machine->device[i].memory;
    }
    sc_emu_blas_start(emu.host->blas_symbol, !emu.timing);
    status = sc_emu_memory_start(emu.devices, limits, emu.timing);
    if (!status && !emu.timing && (status = sc_emu_hostmem_start()) != SC_OK)
        sc_emu_memory_stop();
    return status;
}

static enum sc_status open_inside(const struct sc_device_host *host, const char *spec, int *count)
{
    enum sc_status status;

    emu.host = host;
    emu.timing = host->config->emu_timing != 0;
    status = load(spec);
    if (!status)
        status = start_memory();
    if (status) {
        free(emu.machine);
        emu.machine = NULL;
        return status;
    }
    sc_emu_clock_start(emu.machine, emu.devices);
    sc_emu_streams_start(emu.devices, run_op, host->thread_enter, emu.timing);
    sc_emu_streams_jitter(emu.machine->jitter_seed, emu.machine->jitter_us);
    for (int i = 0; i < emu.devices; i++)
        emu.faults[i] = (struct device_faults){emu.machine->device[i].fault, 0, false};
    emu.owner = getpid();
    emu.open = true;
    *count = emu.devices;
    return SC_OK;
}

static enum sc_status emu_open(const struct sc_device_host *host, const char *spec, int *count)
{
    enum sc_status status;

    *count = 0;
    if (emu.open) {
        sc_log(SC_LOG_ERROR, "emulated devices are open already");
        return SC_ERR_INVALID;
    }
    sc_inside_enter();
    status = open_inside(host, spec, count);
    sc_inside_leave();
    return status;
}

static void emu_close(void)
{
    if (!emu.open)
        return;
    sc_inside_enter();
    sc_emu_streams_stop(getpid() != emu.owner);
    sc_emu_plans_free();
    emu.open = false;
    sc_emu_clock_stop();
    sc_emu_memory_stop();
    free(emu.machine);
    emu.machine = NULL;
    sc_inside_leave();
}

static bool reaches(int device, int other)
{
    const struct sc_emu_machine *m = emu.machine;

    return m->link[other][device].kernel_bandwidth > 0 && m->link[device][other].kernel_bandwidth > 0;
}

static enum sc_status emu_properties(int device, struct sc_device_properties *out)
{
    const struct sc_emu_device *d;

    if (!valid_stream(device, 0))
        return SC_ERR_INVALID;
    d = &emu.machine->device[device];
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s (emulated)", d->name);
    out->memory = d->memory;
    out->gemm_flops = d->gemm[SC_D];
    out->solve = d->solve;
    out->memory_bandwidth = d->bandwidth;
    out->host_bandwidth = emu.machine->link[SC_EMU_HOST][device].bandwidth;
    out->watts_busy = d->watts_busy;
    out->watts_idle = d->watts_idle;
    out->host_watts_busy = emu.machine->host_watts_busy;
    out->host_watts_idle = emu.machine->host_watts_idle;
    snprintf(out->identity, sizeof out->identity, "machine %016llx", (unsigned long long)emu.machine->digest);
    out->emulated = true;
    for (int i = 0; i < emu.devices; i++) {
        out->peer_bandwidth[i] = i != device ? emu.machine->link[i][device].bandwidth : 0;
        out->peer[i] = out->peer_bandwidth[i] > 0;
        out->reach[i] = i != device && reaches(device, i);
    }
    return SC_OK;
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

static struct sc_emu_op garbage(void *memory, size_t bytes)
{
    return (struct sc_emu_op){.action = SC_EMU_DO_FILL, .fill = {memory, bytes, bytes, 1, 0xff}};
}

/* Lock held. */
static enum sc_status alloc_locked(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    struct sc_emu_op op;
    struct sc_emu_unmap evicted;
    enum sc_status status;
    size_t whole;
    bool fresh;

    if (fails(device, SC_EMU_ALLOC, NULL))
        return emu.faults[device].lost ? SC_ERR_DEVICE : SC_ERR_DEVICE_MEMORY;
    status = sc_emu_memory_take(device, bytes, memory, &whole, &fresh);
    if (status)
        return status;
    op = garbage(*memory, whole);
    if (fresh && (status = push(device, SC_STREAM_MEMORY, &op, false)) != SC_OK) {
        sc_emu_memory_give(device, *memory, &whole, &evicted);
        return status;
    }
    *ready = (struct sc_fence){sc_emu_stream_last(device, SC_STREAM_MEMORY), (uint16_t)device, SC_STREAM_MEMORY};
    return SC_OK;
}

static enum sc_status emu_alloc(int device, size_t bytes, void **memory, struct sc_fence *ready)
{
    enum sc_status status;

    *memory = NULL;
    *ready = SC_FENCE_NONE;
    if (!valid_stream(device, 0))
        return SC_ERR_INVALID;
    sc_inside_enter();
    pthread_mutex_lock(&emu.lock);
    status = alloc_locked(device, bytes, memory, ready);
    pthread_mutex_unlock(&emu.lock);
    sc_inside_leave();
    return status;
}

/* If a push finds no memory, the block or the mapping leaks, without other harm.  Lock held. */
static void free_locked(int device, void *memory, const struct sc_fence *after, int count)
{
    struct sc_emu_op op;
    struct sc_emu_unmap evicted;
    size_t whole;

    for (int i = 0; i < count; i++) {
        op = (struct sc_emu_op){.action = SC_EMU_DO_WAIT, .fence = after[i]};
        if (after[i].seq && push(device, SC_STREAM_MEMORY, &op, true))
            return;
    }
    if (!sc_emu_memory_give(device, memory, &whole, &evicted)) {
        sc_log(SC_LOG_ERROR, "emulated device %d: free of %p, which is no block of it", device, memory);
        return;
    }
    op = garbage(memory, whole);
    push(device, SC_STREAM_MEMORY, &op, false);
    op = (struct sc_emu_op){.action = SC_EMU_DO_UNMAP, .unmap = evicted};
    if (evicted.bytes)
        push(device, SC_STREAM_MEMORY, &op, false);
}

static void emu_free(int device, void *memory, const struct sc_fence *after, int count)
{
    if (!memory || !valid_stream(device, 0))
        return;
    sc_inside_enter();
    pthread_mutex_lock(&emu.lock);
    free_locked(device, memory, after, count);
    pthread_mutex_unlock(&emu.lock);
    sc_inside_leave();
}

static enum sc_status emu_pin(void *base, size_t bytes)
{
    enum sc_status status;

    sc_inside_enter();
    status = emu.open && fails_now(0, SC_EMU_PIN) ? SC_ERR_DEVICE : sc_emu_pin(base, bytes);
    sc_inside_leave();
    return status;
}

static void emu_unpin(void *base, size_t bytes)
{
    sc_inside_enter();
    sc_emu_unpin(base, bytes);
    sc_inside_leave();
}

/* --- operations ------------------------------------------------------------------------------------------------- */

static bool valid_end(int device, const void *base, size_t pitch, size_t width, size_t height, const char *what)
{
    uint64_t extent = height ? (uint64_t)(height - 1) * pitch + width : 0;

    if (!extent || !width)
        return true;
    if (height > 1 && pitch < width) {
        sc_log(SC_LOG_ERROR, "emulated copy: the pitch of its %s is below its width", what);
        return false;
    }
    if (device == SC_HOST ? sc_emu_pinned(base, extent) : sc_emu_memory_holds(device, base, extent))
        return true;
    if (device == SC_HOST)
        sc_log(SC_LOG_ERROR, "emulated copy: host memory %p + %llu is not in one pinned range (%s)", base,
               (unsigned long long)extent, what);
    else
        sc_log(SC_LOG_ERROR, "emulated copy: %p + %llu is not in one block of device %d (%s)", base,
               (unsigned long long)extent, device, what);
    return false;
}

static enum sc_status check_copy(const struct sc_copy2d *c)
{
    int from = c->src_device, to = c->dst_device;

    if ((from == SC_HOST && to == SC_HOST) || (from != SC_HOST && !valid_stream(from, 0)) ||
        (to != SC_HOST && !valid_stream(to, 0)))
        return SC_ERR_INVALID;
    if (from != to && from != SC_HOST && to != SC_HOST && emu.machine->link[from][to].bandwidth <= 0)
        return SC_ERR_UNSUPPORTED;
    if (!valid_end(to, c->dst, c->dst_pitch, c->width, c->height, "target") ||
        !valid_end(from, c->src, c->src_pitch, c->width, c->height, "source"))
        return SC_ERR_DEVICE;
    return SC_OK;
}

static enum sc_status emu_copy(int device, enum sc_stream stream, const struct sc_copy2d *copy)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_COPY, .copy = *copy};
    enum sc_status status = valid_stream(device, stream) ? check_copy(copy) : SC_ERR_INVALID;

    if (status || !copy->width || !copy->height)
        return status;
    return submit(device, stream, SC_EMU_COPY, &op);
}

/* Exchange kernels need links usable by kernels, and never write to the host. */
static enum sc_status check_exchange(int device, const struct sc_copy2d *c)
{
    int from = c->src_device, to = c->dst_device, other = from == device ? to : from;

    if ((from != device && to != device) || from == to || to == SC_HOST)
        return SC_ERR_INVALID;
    if (other == SC_HOST ? emu.machine->link[SC_EMU_HOST][device].kernel_bandwidth <= 0 :
                           !valid_stream(other, 0) || !reaches(device, other))
        return SC_ERR_UNSUPPORTED;
    return check_copy(c);
}

static enum sc_status emu_exchange(int device, enum sc_stream stream, const struct sc_copy2d *copies, int count)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_EXCHANGE, .exchange = {copies, count}};
    enum sc_status status = valid_stream(device, stream) ? SC_OK : SC_ERR_INVALID;

    for (int i = 0; i < count && status == SC_OK; i++)
        status = check_exchange(device, &copies[i]);
    return status || count < 1 ? status : submit(device, stream, SC_EMU_COPY, &op);
}

static enum sc_status emu_fill(int device, enum sc_stream stream, void *memory, size_t pitch, int byte, size_t width,
                               size_t height)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_FILL, .fill = {memory, pitch, width, height, byte}};

    if (!valid_stream(device, stream))
        return SC_ERR_INVALID;
    if (!valid_end(device, memory, pitch, width, height, "fill"))
        return SC_ERR_DEVICE;
    return width && height ? submit(device, stream, SC_EMU_FILL, &op) : SC_OK;
}

static bool emu_runs(enum sc_op op, enum sc_type type) { return sc_device_kernel_has(sc_emu_blas_symbol, op, type); }

/* The BLAS does not read an operand multiplied by alpha = 0. */
static bool ignored(const struct sc_kernel *k, const struct sc_view *view)
{
    return sc_ops[k->op].scales && view->access == SC_READ && k->alpha[0] == 0 && k->alpha[1] == 0;
}

/* An operand must lie in one block of the device; a result must lie in a result slot or a block. */
static bool valid_operands(int device, const struct sc_kernel *k)
{
    struct sc_view view[SC_VIEWS_MAX];
    int count = sc_kernel_views(k, view);
    bool good = true;

    for (int i = 0; i < count; i++) {
        uint64_t span = sc_view_span(&view[i]);
        good = good && (!span || ignored(k, &view[i]) || sc_emu_memory_holds(device, view[i].ptr, span));
    }
    if (sc_op_is_sparse(k->op))
        good = good && (!k->m || sc_emu_memory_holds(device, k->csr.rows,
                                                     (uint64_t)(k->m + 1) * (uint64_t)k->csr.index_bytes)) &&
               (!k->csr.nonzeros ||
                sc_emu_memory_holds(device, k->csr.columns, (uint64_t)k->csr.nonzeros * (uint64_t)k->csr.index_bytes));
    if (sc_op_is_reduction(k->op))
        good = good && (sc_emu_is_slot(k->result, 16) || sc_emu_memory_holds(device, k->result, 16));
    if (!good)
        sc_log(SC_LOG_ERROR, "emulated device %d: an operand of %c%s is not in one block of its memory", device,
               sc_type_letter(k->type), sc_op_name(k->op));
    return good;
}

static enum sc_status emu_launch(int device, enum sc_stream stream, const struct sc_kernel *kernel)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_KERNEL, .kernel = *kernel};
    enum sc_status status;

    if (!valid_stream(device, stream))
        return SC_ERR_INVALID;
    sc_inside_enter();
    status = sc_device_kernel_check(sc_emu_blas_symbol, kernel);
    sc_inside_leave();
    if (status)
        return status;
    if (!valid_operands(device, kernel))
        return SC_ERR_DEVICE;
    sc_emu_plan_queued(&op.kernel);
    if (emu.timing && sc_op_is_lapack(kernel->op)) /* INFO of a routine that is not executed */
        memset(kernel->result, 0, 16);
    return submit(device, stream, SC_EMU_LAUNCH, &op);
}

static bool emu_certain(int device, enum sc_stream stream, const struct sc_kernel *k)
{
    return valid_stream(device, stream) && sc_op_level(k->op) <= 3 && (!sc_op_is_sparse(k->op) ||
                                                                       k->op == SC_OP_CSRMV) &&
           sc_device_kernel_check(sc_emu_blas_symbol, k) == SC_OK;
}

static enum sc_status emu_call(int device, enum sc_stream stream, const struct sc_device_call *call)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_CALL, .call = *call, .device = device};

    return valid_stream(device, stream) ? submit(device, stream, SC_EMU_LAUNCH, &op) : SC_ERR_INVALID;
}

/* The operands are read after all earlier work on COMPUTE; data still in transit on other streams is garbage. */
static enum sc_status emu_multiply(int device, struct sc_csr_product *product)
{
    struct sc_fence before;
    enum sc_status status;

    if (!valid_stream(device, 0) || product->a.index_bytes != product->b.index_bytes)
        return SC_ERR_INVALID;
    if (emu.timing)
        return SC_ERR_UNSUPPORTED;
    if (!sc_emu_product_valid(device, product) || fails_now(device, SC_EMU_LAUNCH))
        return SC_ERR_DEVICE;
    before = (struct sc_fence){sc_emu_stream_last(device, SC_STREAM_COMPUTE), (uint16_t)device, SC_STREAM_COMPUTE};
    sc_inside_enter();
    status = before.seq ? sc_emu_stream_wait(before) : SC_OK;
    if (status == SC_OK)
        status = sc_emu_product_make(product);
    pthread_mutex_lock(&emu.lock);
    sc_emu_clock_sync(before);
    pthread_mutex_unlock(&emu.lock);
    sc_inside_leave();
    return status;
}

static enum sc_status emu_store(int device, struct sc_csr_product *product, void *rows, void *columns, void *values)
{
    struct sc_emu_product *w = product->work;
    struct sc_emu_op op = {.action = SC_EMU_DO_STORE, .store = {w, rows, columns, values,
                                                                   w ? sc_emu_product_bytes(w) : 0}};
    enum sc_status status = SC_OK;

    product->work = NULL;
    if (rows && (!sc_emu_memory_holds(device, rows, w->row_bytes) ||
                 (w->column_bytes && (!sc_emu_memory_holds(device, columns, w->column_bytes) ||
                                      !sc_emu_memory_holds(device, values, w->value_bytes)))))
        status = SC_ERR_DEVICE;
    if (status == SC_OK && rows)
        status = submit(device, SC_STREAM_COMPUTE, SC_EMU_LAUNCH, &op);
    if (status != SC_OK || !rows)
        sc_emu_product_free(w);
    return status;
}

static enum sc_status emu_convert(int device, const struct sc_csr_conversion *conversion)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_CONVERT, .conversion = *conversion};

    if (!valid_stream(device, 0))
        return SC_ERR_INVALID;
    if (!sc_emu_conversion_valid(device, conversion))
        return SC_ERR_DEVICE;
    return submit(device, SC_STREAM_COMPUTE, SC_EMU_LAUNCH, &op);
}

static void *emu_result_slot(int device)
{
    return valid_stream(device, 0) && !fails_now(device, SC_EMU_SLOT) ? sc_emu_slot(device) : NULL;
}

/* --- order ------------------------------------------------------------------------------------------------------ */

static enum sc_status emu_mark(int device, enum sc_stream stream, struct sc_fence *fence)
{
    if (!valid_stream(device, stream))
        return SC_ERR_INVALID;
    if (fails_now(device, SC_EMU_MARK))
        return SC_ERR_DEVICE;
    *fence = (struct sc_fence){sc_emu_stream_last(device, stream), (uint16_t)device, (uint16_t)stream};
    return SC_OK;
}

static enum sc_status emu_wait(int device, enum sc_stream stream, struct sc_fence fence)
{
    struct sc_emu_op op = {.action = SC_EMU_DO_WAIT, .fence = fence};
    enum sc_status status;

    if (!valid_stream(device, stream) || !valid_fence(fence))
        return SC_ERR_INVALID;
    if (!fence.seq || (fence.device == device && fence.stream == stream))
        return SC_OK;
    sc_inside_enter();
    pthread_mutex_lock(&emu.lock);
    status = fails(device, SC_EMU_WAIT, &op) ? SC_ERR_DEVICE : push(device, stream, &op, true);
    pthread_mutex_unlock(&emu.lock);
    sc_inside_leave();
    return status;
}

static enum sc_status emu_sync(struct sc_fence fence)
{
    enum sc_status status;

    if (!valid_fence(fence))
        return SC_ERR_INVALID;
    if (!fence.seq)
        return SC_OK;
    if (fails_now(fence.device, SC_EMU_SYNC))
        return SC_ERR_DEVICE;
    sc_inside_enter(); /* a waiting thread may execute queued work itself */
    status = sc_emu_stream_wait(fence);
    pthread_mutex_lock(&emu.lock);
    sc_emu_clock_sync(fence);
    pthread_mutex_unlock(&emu.lock);
    sc_inside_leave();
    return status;
}

/* In timing mode operations have no execution; the virtual clock of the host decides. */
static bool emu_done(struct sc_fence fence)
{
    bool done = !fence.seq || !valid_fence(fence) || sc_emu_stream_done(fence);

    if (done && emu.timing && fence.seq) {
        pthread_mutex_lock(&emu.lock);
        done = sc_emu_clock_done(fence);
        pthread_mutex_unlock(&emu.lock);
    }
    return done;
}

/* --- figures and hooks ------------------------------------------------------------------------------------------ */

static double emu_virtual_seconds(void)
{
    double seconds;

    pthread_mutex_lock(&emu.lock);
    seconds = emu.open ? sc_emu_clock_seconds() : 0;
    pthread_mutex_unlock(&emu.lock);
    return seconds;
}

static double emu_host_clock(enum sc_host_event event)
{
    double seconds;

    pthread_mutex_lock(&emu.lock);
    seconds = emu.open ? sc_emu_clock_host(event) : 0;
    pthread_mutex_unlock(&emu.lock);
    return seconds;
}

/* From the watts of the machine file, over virtual_seconds. */
static enum sc_status emu_joules(int device, double *joules)
{
    if (!valid_stream(device, 0))
        return SC_ERR_INVALID;
    if (emu.machine->device[device].watts_busy <= 0)
        return SC_ERR_UNSUPPORTED;
    pthread_mutex_lock(&emu.lock);
    *joules = sc_emu_clock_joules(device);
    pthread_mutex_unlock(&emu.lock);
    return SC_OK;
}

double sc_emu_joules(void)
{
    double sum = 0, joules;

    for (int i = 0; emu.open && i < emu.devices; i++)
        sum += emu_joules(i, &joules) == SC_OK ? joules : 0;
    return sum;
}

uint64_t sc_emu_link_bytes(int from, int to)
{
    uint64_t bytes;

    pthread_mutex_lock(&emu.lock);
    bytes = sc_emu_clock_bytes(from == SC_HOST ? SC_EMU_HOST : from, to == SC_HOST ? SC_EMU_HOST : to);
    pthread_mutex_unlock(&emu.lock);
    return bytes;
}

void sc_emu_jitter(uint64_t seed, unsigned microseconds) { sc_emu_streams_jitter(seed, microseconds); }

void sc_emu_slow(int device, double times)
{
    pthread_mutex_lock(&emu.lock);
    sc_emu_clock_slow(device, times);
    pthread_mutex_unlock(&emu.lock);
}

uint64_t sc_emu_memory_used(int device) { return valid_stream(device, 0) ? sc_emu_memory_in_use(device) : 0; }

const struct sc_device_ops *sc_device_emu(void)
{
    static const struct sc_device_ops ops = {
        .abi = SC_DEVICE_ABI, .size = sizeof ops, .name = "emu",
        .open = emu_open, .close = emu_close, .properties = emu_properties,
        .alloc = emu_alloc, .free = emu_free, .pin = emu_pin, .unpin = emu_unpin,
        .copy = emu_copy, .fill = emu_fill, .exchange = emu_exchange, .runs = emu_runs, .launch = emu_launch,
        .certain = emu_certain, .call = emu_call,
        .forget = sc_emu_plan_forget, .multiply = emu_multiply, .store = emu_store,
        .convert = emu_convert, .result_slot = emu_result_slot,
        .mark = emu_mark, .wait = emu_wait, .sync = emu_sync, .done = emu_done,
        .virtual_seconds = emu_virtual_seconds, .host_clock = emu_host_clock, .joules = emu_joules,
    };
    return &ops;
}
/* SPDX-License-Identifier: BSD-2-Clause */
