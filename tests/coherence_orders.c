/* Runs small programs in every order of their events (explore/explore.h). Their threads compute, read and write parts
 * of the same sectors and pages, beside the pager, transfers, kernels and evictions. Programs also fork, use derived
 * copies, and have devices that die or refuse a request at any moment. Asserts that no read sees an old number, no
 * write is lost, no invariant breaks, and no thread waits for ever.
 *
 * SEMCACHE_TEST_STATES limits the states visited per program (make check: 1500, make check-long: no limit). Then come
 * the programs of two threads with two steps each: in make check-long every order of every program.
 * SEMCACHE_TEST_PART=I/N runs the I-th (from 0) of N parts of the programs, for runs on several processors. */
#include "tests/coherence_env.h"
#include "tests/explore/explore.h"

#define HALF 512 /* a sector */

#define READ_(array, at)  {READ, array, at, 1, 0}
#define WRITE_(array, at) {WRITE, array, at, 1, 0}
#define NEGATE_(device, array, first, count) {NEGATE, array, first, count, device}
#define SET_(device, array, first, count)    {SET, array, first, count, device}
#define ADD_(device, array, first, count)    {ADD, array, first, count, device}
#define ACQUIRE_(array, first, count)        {ACQUIRE, array, first, count, 0}
#define TASK_NEGATE_(device, array, first, count) {TASK_NEGATE, array, first, count, device}
#define TASK_SET_(device, array, first, count)    {TASK_SET, array, first, count, device}
#define TASK_ADD_(device, array, first, count)    {TASK_ADD, array, first, count, device}
#define TAKE_(device, array, first, count)        {TAKE, array, first, count, device}
#define GIVE_(device, array, first, count)        {GIVE, array, first, count, device}
#define LEASE_(device, array, first, count)       {LEASE, array, first, count, device}
#define LEASED_ADD_(device, array, first, count)  {LEASED_ADD, array, first, count, device}
#define PREFETCH_(device, array, first, count)    {PREFETCH, array, first, count, device}
#define RELEASE_(array) {RELEASE, array, 0, 0, 0}
#define FREE_(array)    {FREE, array, 0, 0, 0}
#define HOME_           {HOME, 0, 0, 0, 0}
#define FORK_           {FORK, 0, 0, 0, 0}
#define USE_(device, array, first, count)    {USE, array, first, count, device}

/* Elements 0 to 255 lie on the first page, 256 to 767 on the middle page; the sectors are 0 to 511 and the rest. */
static const struct program programs[] = {
    {"one reads what another computes beside it", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{READ_(0, 0), WRITE_(0, 255), READ_(0, 256)},
      {NEGATE_(0, 0, 512, 512), READ_(0, 767)}}},
    {"two write the middle page", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{WRITE_(0, 511), READ_(0, 256), NEGATE_(0, 0, 256, 256)},
      {WRITE_(0, 512), READ_(0, 767)}}},
    {"written while it is being uploaded", 1, 1, 2, 1, 0, NEVER, 0,
     {ADD_(0, 1, 0, 1024)},
     {{WRITE_(0, 256), NEGATE_(0, 0, 256, 256), READ_(0, 511)},
      {WRITE_(0, 768), READ_(1, 0)}}},
    {"parts come home while it is computed again", 1, 1, 2, 1, 1, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{READ_(0, 0), NEGATE_(0, 0, 0, 256), READ_(0, 0)},
      {READ_(0, 768), WRITE_(0, 1023), READ_(0, 512)}}},
    {"two devices take turns", 2, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(1, 0, 0, 512), NEGATE_(0, 0, 0, 512), READ_(0, 256)},
      {WRITE_(0, 512)}}},
    {"a tile on each device", 2, 2, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(0, 0, 0, 512), WRITE_(0, 256)},
      {NEGATE_(1, 0, 512, 512), READ_(0, 512)}}},
    {"read on two, written on a third place", 2, 1, 2, 3, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024), ADD_(1, 1, 0, 1024)},
     {{WRITE_(0, 0), ADD_(0, 1, 0, 512), READ_(1, 0)},
      {READ_(1, 512)}}},
    {"evicted", 1, 1, 1, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(0, 1, 0, 1024), NEGATE_(0, 1, 0, 512), READ_(1, 256)},
      {WRITE_(0, 256), NEGATE_(0, 0, 512, 512), READ_(0, 512)}}},
    {"evicted while shared", 1, 1, 1, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 256)},
     {{NEGATE_(0, 0, 0, 512), NEGATE_(0, 1, 256, 256), WRITE_(1, 256)},
      {WRITE_(0, 512), READ_(1, 512)}}},
    {"overwritten without being read", 1, 1, 2, 1, 1, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{READ_(0, 0), SET_(0, 0, 0, 512), READ_(0, 256)},
      {SET_(0, 0, 512, 512), WRITE_(0, 512)}}},
    {"freed and used anew", 2, 1, 2, 1, 2, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024), NEGATE_(1, 0, 0, 512)},
     {{READ_(0, 0), FREE_(0), READ_(0, 512)},
      {NEGATE_(0, 1, 0, 1024), READ_(1, 512)}}},
    {"leaves the devices while it is used", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{RELEASE_(0), READ_(0, 0)},
      {NEGATE_(0, 0, 512, 512), READ_(0, 512)}}},
    {"all comes home while it is used", 2, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{HOME_, READ_(0, 0)},
      {NEGATE_(1, 0, 512, 512), WRITE_(0, 512)}}},
    {"acquired by one, computed by another", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{ACQUIRE_(0, 0, 512), WRITE_(0, 0)},
      {NEGATE_(0, 0, 512, 256), READ_(0, 512)}}},
    {"three threads", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{WRITE_(0, 0)}, {READ_(0, 300)}, {NEGATE_(0, 0, 512, 512), READ_(0, 600)}}},
    {"evicted while it is uploaded", 1, 1, 2, 1, 0, NEVER, 0,
     {ADD_(0, 1, 0, 256)},
     {{NEGATE_(0, 1, 512, 256), READ_(1, 512)}, {WRITE_(0, 0)}, {WRITE_(0, 300)}}},
    {"evicted while parts come home", 1, 1, 1, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{READ_(0, 0), READ_(0, 256), WRITE_(0, 256)}, {NEGATE_(0, 1, 0, 1024), READ_(1, 0)}}},
    {"overwritten elsewhere while it is uploaded", 2, 1, 2, 1, 0, NEVER, 0,
     {ADD_(0, 1, 0, 512)},
     {{SET_(1, 0, 0, 512), READ_(0, 0)}, {WRITE_(0, 600)}}},
    {"computed again while it is copied elsewhere", 2, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 512), ADD_(1, 1, 0, 512)},
     {{NEGATE_(0, 0, 0, 512), READ_(0, 0)}, {READ_(1, 0), WRITE_(1, 256)}}},
    {"sent anew while what was sent before is used", 2, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 512), ADD_(1, 1, 0, 512)},
     {{NEGATE_(0, 0, 0, 512), ADD_(1, 1, 0, 512), READ_(1, 0)}, {READ_(0, 600)}}},
    {"strangers on a page", 1, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 300), NEGATE_(0, 0, 300, 300)},
     {{READ_(0, 0), NEGATE_(0, 0, 0, 300), WRITE_(0, 299)},
      {WRITE_(0, 300), NEGATE_(0, 0, 300, 300), READ_(0, 599)}}},

    {"forked while another computes", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{FORK_, NEGATE_(0, 0, 0, 512), READ_(0, 256)},
      {NEGATE_(0, 0, 512, 512), WRITE_(0, 512)}}},
    {"forked while parts come home", 1, 1, 2, 1, 1, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{FORK_, WRITE_(0, 0)},
      {READ_(0, 768), WRITE_(0, 1023), NEGATE_(0, 0, 512, 512)}}},
    {"two fork, a third computes on two devices", 2, 2, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 512), NEGATE_(1, 0, 512, 512)},
     {{FORK_}, {FORK_}, {NEGATE_(1, 0, 0, 512), NEGATE_(0, 0, 512, 512)}}},
    {"forked when a result has been given up", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{FREE_(1), FORK_, READ_(1, 0)}, {READ_(0, 512)}}},
    {"forked while all is evicted", 1, 1, 1, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{FORK_, READ_(0, 0)},
      {NEGATE_(0, 1, 0, 1024), NEGATE_(0, 0, 512, 512)}}},

    {"a form whose neighbours are written", 1, 1, 4, 1, 0, NEVER, 0,
     {USE_(0, 1, 0, 512)},
     {{WRITE_(0, 256), USE_(0, 1, 0, 512), READ_(1, 256)},
      {WRITE_(0, 512), NEGATE_(0, 0, 512, 512), READ_(0, 600)}}},
    {"a form whose source a device writes", 2, 1, 4, 1, 0, NEVER, 0,
     {USE_(0, 1, 0, 512)},
     {{NEGATE_(1, 0, 0, 512), USE_(0, 1, 0, 512), READ_(1, 511)},
      {WRITE_(0, 600), ADD_(0, 1, 512, 512)}}},
    {"a form that is evicted", 1, 2, 3, 1, 0, NEVER, 0,
     {USE_(0, 1, 0, 512)},
     {{USE_(0, 1, 0, 512), NEGATE_(0, 1, 0, 512), READ_(1, 0), USE_(0, 1, 0, 512)},
      {NEGATE_(0, 1, 512, 512), NEGATE_(0, 0, 512, 512)}}},
    {"a form of what is being evicted for it", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024), NEGATE_(0, 1, 0, 1024)},
     {{USE_(0, 1, 0, 512), READ_(1, 0)}, {READ_(0, 600), WRITE_(0, 768)}}},
    {"a form of what another computes again", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(1, 0, 0, 512)},
     {{USE_(0, 1, 0, 512), NEGATE_(1, 0, 0, 512), READ_(1, 0), READ_(0, 0)}, {WRITE_(0, 600)}}},
    {"a form on each device", 2, 2, 3, 1, 0, NEVER, 0,
     {USE_(0, 1, 0, 512), USE_(1, 1, 0, 512)},
     {{WRITE_(0, 511), USE_(1, 1, 0, 512), USE_(0, 1, 0, 512), READ_(1, 511)},
      {READ_(0, 512), WRITE_(0, 512)}}},
    {"forked between products", 1, 1, 4, 1, 0, NEVER, 0,
     {USE_(0, 1, 0, 512)},
     {{USE_(0, 1, 0, 512), FORK_, WRITE_(0, 0), USE_(0, 1, 0, 512)},
      {NEGATE_(0, 0, 512, 512), READ_(1, 600)}}},

    {"dies while one reads and another computes", 1, 1, 2, 1, 0, DIES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{READ_(0, 0), NEGATE_(0, 0, 0, 512), READ_(0, 256)},
      {READ_(0, 768), WRITE_(0, 512)}}},
    {"dies with parts at home", 1, 1, 2, 1, 1, DIES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{READ_(0, 0), WRITE_(0, 256)},
      {READ_(0, 1023), READ_(0, 512)}}},
    {"dies while things are evicted", 1, 1, 1, 1, 0, DIES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(0, 1, 0, 1024), READ_(1, 256)},
      {WRITE_(0, 256), READ_(0, 512)}}},
    {"dies while it shares with the host", 1, 1, 2, 1, 0, DIES, 0,
     {ADD_(0, 1, 0, 1024)},
     {{WRITE_(0, 0), READ_(1, 0), ADD_(0, 1, 0, 512)},
      {READ_(0, 512), READ_(1, 768), WRITE_(0, 768)}}},
    {"dies with what another takes over", 2, 1, 2, 1, 0, DIES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(1, 0, 0, 512), READ_(0, 0)},
      {ADD_(1, 1, 512, 512), READ_(1, 512)}}},
    {"dies while the other has it, too", 2, 1, 2, 1, 0, DIES, 1,
     {NEGATE_(0, 0, 0, 512), ADD_(1, 1, 0, 512)},
     {{NEGATE_(0, 0, 0, 512), READ_(0, 0)},
      {READ_(0, 600), WRITE_(1, 600)}}},
    {"dies before a fork", 1, 1, 2, 1, 0, DIES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{FORK_, WRITE_(0, 0)},
      {NEGATE_(0, 0, 512, 512), READ_(0, 512)}}},
    {"dies with a form", 1, 1, 4, 1, 0, DIES, 0,
     {USE_(0, 1, 0, 512)},
     {{WRITE_(0, 0), USE_(0, 1, 0, 512), READ_(1, 0)},
      {WRITE_(0, 512)}}},
    {"dies while all leaves it", 1, 1, 2, 1, 0, DIES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{RELEASE_(0), READ_(0, 0)},
      {HOME_, WRITE_(0, 600)}}},
    {"dies, and the memory is used anew", 1, 1, 2, 1, 1, DIES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{READ_(0, 0), FREE_(0), READ_(0, 0)},
      {NEGATE_(0, 1, 0, 1024), READ_(1, 0)}}},

    {"refuses while one reads and another computes", 1, 1, 2, 1, 0, REFUSES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{READ_(0, 0), NEGATE_(0, 0, 0, 512), READ_(0, 256)},
      {READ_(0, 768), WRITE_(0, 512)}}},
    {"refuses while things are evicted", 1, 1, 1, 1, 0, REFUSES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(0, 1, 0, 1024), NEGATE_(0, 0, 0, 512), READ_(1, 256)},
      {WRITE_(0, 512)}}},
    {"refuses, and the other goes on", 2, 1, 2, 1, 1, REFUSES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(1, 0, 0, 512), NEGATE_(0, 0, 0, 512), READ_(0, 0)},
      {READ_(0, 512), WRITE_(0, 768)}}},
    {"refuses to take what another has", 2, 1, 2, 1, 0, REFUSES + 3, 0,
     {NEGATE_(1, 0, 0, 512)},
     {{ADD_(0, 1, 0, 512), READ_(0, 0), READ_(1, 0)}, {WRITE_(1, 600)}}},
    {"refuses the next but one", 1, 1, 2, 1, 0, REFUSES + 2, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(0, 0, 0, 512), READ_(0, 0)}, {ADD_(0, 1, 512, 512), WRITE_(0, 768)}}},
    {"refuses to mark the end of work", 1, 1, 2, 1, 0, REFUSES + 1, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{NEGATE_(0, 0, 0, 512), READ_(0, 0)}, {READ_(0, 512), WRITE_(0, 768)}}},
    {"refuses what a form needs", 1, 2, 4, 1, 0, REFUSES, 0,
     {NEGATE_(0, 0, 0, 512), USE_(0, 1, 0, 512)},
     {{WRITE_(0, 0), USE_(0, 1, 0, 512), READ_(1, 0)},
      {NEGATE_(0, 0, 512, 512), READ_(0, 512)}}},
    {"refuses before a fork", 1, 1, 2, 1, 0, REFUSES, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{FORK_, WRITE_(0, 0)},
      {NEGATE_(0, 0, 512, 512), READ_(0, 512)}}},

    /* The examples of the memory model of tasks (doc/tasks.md), beside a thread on the same pages and sectors. */
    {"tasks: store, load", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(1, 0, 0, 1024)},
     {{TASK_SET_(0, 0, 0, 512), READ_(0, 0), READ_(0, 511)},
      {WRITE_(0, 512), READ_(0, 600)}}},
    {"tasks: load, store", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(1, 1, 0, 512)},
     {{TASK_ADD_(0, 1, 0, 512), WRITE_(0, 0), READ_(1, 0), READ_(0, 0)},
      {WRITE_(0, 512), READ_(1, 600)}}},
    {"tasks: two devices", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(1, 0, 0, 1024)},
     {{TASK_SET_(0, 0, 0, 512), TASK_ADD_(1, 1, 0, 512), READ_(1, 0)},
      {WRITE_(0, 512), WRITE_(1, 512)}}},
    {"tasks: overwriting", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(1, 0, 0, 1024)},
     {{TASK_SET_(0, 0, 0, 512), TASK_SET_(1, 0, 0, 512), READ_(0, 0)},
      {READ_(0, 512), WRITE_(0, 767)}}},
    {"tasks: reader, writer", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TASK_ADD_(0, 1, 0, 512), TASK_SET_(1, 0, 0, 512), READ_(1, 0), READ_(0, 0)},
      {WRITE_(0, 600)}}},
    {"tasks: neighbours", 1, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TASK_SET_(0, 0, 0, 256), READ_(0, 0)},
      {WRITE_(0, 256), READ_(0, 256), WRITE_(0, 511)}}},
    {"tasks: neighbours on devices", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TASK_SET_(0, 0, 0, 256), READ_(0, 255)},
      {TASK_SET_(1, 0, 256, 256), READ_(0, 256)}}},
    {"tasks: two threads", 1, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TASK_NEGATE_(0, 0, 0, 256), TASK_NEGATE_(0, 0, 0, 256), READ_(0, 0)},
      {WRITE_(0, 256), READ_(0, 256), WRITE_(0, 256), READ_(0, 256)}}},
    {"tasks: evicted", 1, 1, 1, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TASK_NEGATE_(0, 1, 0, 512), TASK_ADD_(0, 0, 0, 512), READ_(1, 0)},
      {WRITE_(0, 512), TASK_NEGATE_(0, 0, 512, 512)}}},
    {"tasks: the device dies", 2, 1, 4, 1, 0, DIES, 0,
     {NEGATE_(0, 0, 0, 512)},
     {{TASK_ADD_(0, 1, 0, 512), TASK_NEGATE_(1, 0, 0, 512), READ_(1, 0)},
      {WRITE_(0, 600)}}},
    {"tasks: the device refuses", 1, 2, 4, 1, 0, REFUSES, 0,
     {NEGATE_(0, 0, 0, 512)},
     {{TASK_ADD_(0, 1, 0, 512), TASK_NEGATE_(0, 0, 0, 512), READ_(1, 0), READ_(0, 0)},
      {WRITE_(0, 600)}}},
    {"tokens: a neighbour writes and computes meanwhile", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TAKE_(0, 0, 0, 256), READ_(0, 0), GIVE_(0, 0, 0, 256), READ_(0, 255)},
      {WRITE_(0, 256), TASK_NEGATE_(1, 0, 256, 256), READ_(0, 511)}}},
    {"tokens: two in one sector", 2, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TAKE_(0, 0, 0, 512), GIVE_(0, 0, 0, 512), READ_(0, 256)},
      {TAKE_(1, 0, 512, 512), GIVE_(1, 0, 512, 512), READ_(0, 512)}}},
    {"tokens: the matrix leaves the devices meanwhile", 1, 2, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TAKE_(0, 0, 0, 512), RELEASE_(0), GIVE_(0, 0, 0, 512), READ_(0, 0)},
      {HOME_, WRITE_(0, 512)}}},
    {"tokens: little memory", 1, 1, 2, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{TAKE_(0, 0, 0, 512), NEGATE_(0, 1, 0, 512), GIVE_(0, 0, 0, 512), READ_(0, 0)},
      {WRITE_(0, 512)}}},
    {"tokens: forked meanwhile", 1, 1, 4, 1, 0, NEVER, 0,
     {NEGATE_(0, 0, 0, 1024)},
     {{TAKE_(0, 0, 0, 512), FORK_, GIVE_(0, 0, 0, 512), READ_(0, 0)},
      {WRITE_(0, 512)}}},
    {"tokens: the device dies", 2, 1, 4, 1, 0, DIES, 0,
     {NEGATE_(1, 0, 0, 1024)},
     {{TAKE_(0, 0, 0, 512), GIVE_(0, 0, 0, 512), READ_(0, 0)},
      {WRITE_(0, 512)}}},
    {"tokens: the device refuses", 1, 2, 4, 1, 0, REFUSES + 1, 0,
     {NEGATE_(0, 0, 0, 512)},
     {{TAKE_(0, 0, 0, 512), GIVE_(0, 0, 0, 512), READ_(0, 0)},
      {WRITE_(0, 600)}}},
    {"leases: a kernel writes meanwhile", 1, 1, 6, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 512), NEGATE_(0, 1, 0, 512), LEASED_ADD_(0, 0, 0, 512), READ_(0, 0), READ_(1, 0)},
      {WRITE_(1, 512)}}},
    {"leases: the CPU writes, and the sector comes again", 1, 1, 6, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 256), WRITE_(1, 0), ADD_(0, 0, 0, 256), LEASED_ADD_(0, 0, 0, 256), READ_(0, 0)},
      {WRITE_(1, 256), READ_(1, 300)}}},
    {"leases: the CPU writes, and the sector is requested again", 1, 1, 6, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 256), WRITE_(1, 0), PREFETCH_(0, 1, 0, 256), LEASED_ADD_(0, 0, 0, 256), READ_(0, 0)},
      {WRITE_(1, 256), READ_(1, 300)}}},
    {"leases: written on a second device", 2, 1, 6, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 512), SET_(1, 1, 0, 512), ADD_(0, 0, 0, 512), LEASED_ADD_(0, 0, 0, 512), READ_(0, 511)},
      {NEGATE_(0, 1, 512, 512)}}},
    {"leases: two of one tile", 1, 1, 6, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 512), LEASED_ADD_(0, 0, 0, 512), NEGATE_(0, 1, 0, 512), READ_(0, 0)},
      {LEASE_(0, 0, 512, 512), NEGATE_(0, 1, 512, 512), LEASED_ADD_(0, 0, 512, 512), READ_(0, 512)}}},
    {"leases: little memory", 1, 1, 3, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 512), NEGATE_(0, 0, 0, 512), SET_(0, 1, 0, 512), LEASED_ADD_(0, 0, 0, 512), READ_(0, 0)},
      {WRITE_(0, 512)}}},
    {"leases: the array leaves, and its memory is used anew", 1, 1, 6, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 512), RELEASE_(1), NEGATE_(0, 1, 0, 512), LEASED_ADD_(0, 0, 0, 512), READ_(0, 0)},
      {WRITE_(0, 512)}}},
    {"leases: memory that is free afterwards", 1, 1, 3, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 512), RELEASE_(1), LEASED_ADD_(0, 0, 0, 512), SET_(0, 1, 0, 512), READ_(0, 0)},
      {WRITE_(0, 512)}}},
    {"leases: written behind the end", 1, 1, 6, 1, 0, NEVER, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 256), LEASED_ADD_(0, 0, 0, 256), WRITE_(1, 0), ADD_(0, 0, 0, 256), READ_(0, 0)},
      {READ_(1, 600)}}},
    {"leases: the device dies", 2, 1, 6, 1, 0, DIES, 0,
     {NEGATE_(0, 1, 0, 1024)},
     {{LEASE_(0, 0, 0, 512), NEGATE_(0, 1, 0, 512), LEASED_ADD_(0, 0, 0, 512), READ_(0, 0)},
      {WRITE_(0, 512)}}},
    {"leases: the device refuses", 1, 1, 6, 1, 0, REFUSES + 1, 0,
     {NEGATE_(0, 1, 0, 512)},
     {{LEASE_(0, 0, 0, 512), NEGATE_(0, 1, 0, 512), LEASED_ADD_(0, 0, 0, 512), READ_(0, 0), READ_(1, 0)},
      {WRITE_(0, 600)}}},
};
#define PROGRAMS (sizeof programs / sizeof *programs)

/* --- every program of a kind -------------------------------------------------------------------------------------- */

/* The possible steps of a thread, on its own sector. The sectors of the two threads share the middle page. A read goes
 * through all of the thread's numbers on a page: one read of the middle page stands for reads of any number there. */
static const struct step kinds[2][KINDS] = {
    {{READ, 0, 0, 256, 0}, WRITE_(0, 511), NEGATE_(0, 0, 0, HALF), NEGATE_(1, 0, 0, HALF), SET_(0, 0, 0, HALF),
     ADD_(0, 1, 0, HALF), {READ, 0, 256, 256, 0}, ADD_(1, 0, 0, HALF), RELEASE_(0)},
    {{READ, 0, 512, 256, 0}, WRITE_(0, 512), NEGATE_(0, 0, 512, HALF), NEGATE_(1, 0, 512, HALF), SET_(0, 0, 512, HALF),
     ADD_(0, 1, 512, HALF), {END, 0, 0, 0, 0}, ADD_(1, 0, 512, HALF), RELEASE_(0)}};
#define ALL    ((1 << KINDS) - 1)
#define TWO    (1 << 5 | 1 << 7 | 1 << 8) /* kinds behind which a device may want two allocations: the sums want two
                                           * arrays, and an array that has left comes back in two parts */
#define OTHERS (ALL & ~TWO)

static struct explored total;

static bool explored(const struct program *p, uint64_t states)
{
    struct explored e;

    if (sc_coherence_start(&explore_device, p->devices, &env_host) != SC_OK)
        return false;
    sc_protocol.notes = true;
    e = explore(p, kinds, states);
    if (e.good)
        sc_coherence_stop();
    total.states += e.states;
    total.runs += e.runs;
    total.steps += e.steps;
    total.shortages = e.shortages;
    total.good = e.good;
    total.whole = e.whole;
    return e.good;
}

static int among(int thread, int mask)
{
    int n = 0;

    for (int k = 0; k < KINDS; k++)
        n += kinds[thread][k].action != END && mask >> k & 1;
    return n;
}

/* Every program of two threads with two steps each whose first thread begins with a step of `kind`; the other steps are
 * of any of the given kinds. The scheduler chooses a step when the step begins: programs that begin alike, or come to
 * the same state in different ways, are tried as one. */
static bool programs_of(int room, int kind, int step10, int step01, int step11, uint64_t states)
{
    struct program p = {.name = "one of all", .devices = 2, .spread = 1, .room = room, .window = 1, .ahead = 1,
                        .prelude = {NEGATE_(0, 0, 0, 1024)},
                        .thread = {{kinds[0][kind], {ANY, 0, 0, step01, 0}},
                                   {{ANY, 0, 0, step10, 0}, {ANY, 0, 0, step11, 0}}}};
    const uint64_t before = total.states;
    bool good = explored(&p, states);

    tap_ok(good, "room for %d: %d programs that begin with kind %d: %llu states%s", room,
           among(1, step10) * among(0, step01) * among(1, step11), kind,
           (unsigned long long)(total.states - before), total.whole ? "" : " (left)");
    return good;
}

/* With room for one allocation, and for two. Programs without a kind of TWO have at most one allocation on a device:
 * nothing refuses it, and more room would change nothing. So they run only with room for one. */
static void all_programs(int kind, uint64_t states)
{
    bool good = true;

    for (int room = 1; room <= 2 && good; room++)
        if (TWO >> kind & 1)
            good = programs_of(room, kind, ALL, ALL, ALL, states);
        else
            good = programs_of(room, kind, TWO, ALL, ALL, states) &&
                programs_of(room, kind, OTHERS, TWO, ALL, states) &&
                programs_of(room, kind, OTHERS, OTHERS, TWO, states);
    if (good && OTHERS >> kind & 1 && programs_of(1, kind, OTHERS, OTHERS, OTHERS, states))
        tap_ok(total.shortages == 0, "programs of one allocation that begin with kind %d find room", kind);
}

static void print_total(void)
{
    tap_diag("%llu states, %llu runs, %llu steps", (unsigned long long)total.states, (unsigned long long)total.runs,
             (unsigned long long)total.steps);
}

/* The table of programs, with copies between devices by the given method; programs of one device run with
 * SC_EXCHANGE_COPY only. */
static bool table(enum sc_exchange_by by, uint64_t states, int mine, int parts)
{
    static const char *const how[] = {"", "", ", by pulling kernels", ", by pushing kernels"};
    bool good = true;

    sc_config.exchange = by;
    for (size_t i = (size_t)mine; i < PROGRAMS && good; i += (size_t)parts) {
        uint64_t before = total.states;

        if (by != SC_EXCHANGE_COPY && programs[i].devices == 1)
            continue;
        good = explored(&programs[i], states);
        tap_ok(good, "%s%s: %llu states%s", programs[i].name, how[by], (unsigned long long)(total.states - before),
               total.whole ? "" : " (left)");
    }
    return good;
}

int main(void)
{
    const char *most = getenv("SEMCACHE_TEST_STATES"), *more = getenv("SEMCACHE_TEST_LONG");
    const char *part = getenv("SEMCACHE_TEST_PART");
    uint64_t states = most ? strtoull(most, NULL, 10) : more ? 0 : 1500;
    int mine = 0, parts = 1;
    bool good = true;

    if (part && (sscanf(part, "%d/%d", &mine, &parts) != 2 || mine < 0 || parts <= mine))
        tap_skip_all("SEMCACHE_TEST_PART is I/N, I from 0 to N - 1");

    env_init();
    sc_config.check = 0; /* the scheduler checks after every step */
    sc_check_rounds = false; /* finds a broken invariant where something has changed */
    sc_directory_limits.unit_bytes = SC_PAGE;
    explore_programs_start();
    for (int by = SC_EXCHANGE_COPY; by <= SC_EXCHANGE_PUSH && good; by++)
        good = table((enum sc_exchange_by)by, states, mine, parts);
    sc_config.exchange = SC_EXCHANGE_COPY;
    print_total();
    for (int kind = mine; kind < KINDS && good && !most; kind += parts) {
        all_programs(kind, more ? 0 : 500);
        print_total();
    }
    return tap_done();
}
/* SPDX-License-Identifier: BSD-2-Clause */
