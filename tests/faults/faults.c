/* Lets one system call fail, in the manner of SQLite's tests. Loaded with LD_PRELOAD, so that the writes of Python and
 * of compiled libraries are caught alike. Counted are the calls that write, sync, move, remove, change or close a file
 * in the watched folder; the one whose turn it is fails with the wanted error, once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static long counted, turn = -1;
static int wanted;
static char log_of_calls[65536];
static size_t logged;

/* For the tests, by ctypes: watch a folder, and let call number `number` (from 0; -1: none) fail with `error`. */
void faults_begin(const char *watched, long number, int error) {
    snprintf(folder, sizeof folder, "%s", watched);
    counted = 0;
    turn = number;
    wanted = error;
    logged = 0;
    log_of_calls[0] = 0;
}
long faults_end(void) {
    folder[0] = 0;
    return counted;
}
const char *faults_log(void) { return log_of_calls; }

static int inside(const char *path) { return folder[0] && strncmp(path, folder, strlen(folder)) == 0; }

static int inside_of(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return inside(path);
}

static int writes(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && inside_of(descriptor);
}

static int fails(const char *name) {
    if (logged + strlen(name) + 2 < sizeof log_of_calls)
        logged += sprintf(log_of_calls + logged, "%s ", name);
    if (__sync_fetch_and_add(&counted, 1) != turn) return 0;
    errno = wanted;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int descriptor, const void *buffer, size_t size) {
    if (writes(descriptor) && fails("write")) return -1;
    return REAL(write)(descriptor, buffer, size);
}
ssize_t pwrite64(int descriptor, const void *buffer, size_t size, off64_t offset) {
    if (writes(descriptor) && fails("pwrite64")) return -1;
    return REAL(pwrite64)(descriptor, buffer, size, offset);
}
ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    if (writes(descriptor) && fails("writev")) return -1;
    return REAL(writev)(descriptor, parts, count);
}
int fsync(int descriptor) {
    if (inside_of(descriptor) && fails("fsync")) return -1;
    return REAL(fsync)(descriptor);
}
int fdatasync(int descriptor) {
    if (inside_of(descriptor) && fails("fdatasync")) return -1;
    return REAL(fdatasync)(descriptor);
}
int ftruncate64(int descriptor, off64_t size) {
    if (inside_of(descriptor) && fails("ftruncate64")) return -1;
    return REAL(ftruncate64)(descriptor, size);
}
int close(int descriptor) {
    int failing = writes(descriptor) && fails("close"), error = errno;
    int answer = REAL(close)(descriptor); /* a close that fails has closed all the same */
    if (!failing) return answer;
    errno = error;
    return -1;
}
int rename(const char *from, const char *to) {
    if (inside(to) && fails("rename")) return -1;
    return REAL(rename)(from, to);
}
int renameat(int at, const char *from, int other, const char *to) {
    if (inside(to) && fails("renameat")) return -1;
    return REAL(renameat)(at, from, other, to);
}
int unlink(const char *path) {
    if (inside(path) && fails("unlink")) return -1;
    return REAL(unlink)(path);
}
int chmod(const char *path, mode_t mode) {
    if (inside(path) && fails("chmod")) return -1;
    return REAL(chmod)(path, mode);
}
int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & O_ACCMODE) != O_RDONLY && inside(path) && fails("open")) return -1;
    return REAL(open64)(path, flags, mode);
}
int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if ((flags & O_ACCMODE) != O_RDONLY && inside(path) && fails("open")) return -1;
    return REAL(open)(path, flags, mode);
}
