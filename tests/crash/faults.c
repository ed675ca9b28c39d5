/* Steps of a program that change files below one folder, counted; one of them is made to fail, or to be the last.

   Loaded with LD_PRELOAD. A process arms it with faults_arm; before that, and outside of the folder, every call goes
   through. Kinds of fault: FAULT_KILL ends the process with SIGKILL before the step, FAULT_TORN after half of a write,
   and any other number is the errno that the step fails with; a write that fails has written half of its bytes, as on a
   full disk. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FAULT_NONE = 0, FAULT_KILL = -1, FAULT_TORN = -2 };

static char watched[PATH_MAX]; /* "" while nothing is watched */
static long steps, fault_at;
static int fault_kind, is_lasting, has_no_exchange, trace = -1;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

void faults_arm(const char *folder, long at, int kind, int lasting, int no_exchange, int trace_descriptor)
{
    steps = 0;
    fault_at = at;
    fault_kind = kind;
    is_lasting = lasting; /* later steps fail as well */
    has_no_exchange = no_exchange;
    trace = trace_descriptor;
    snprintf(watched, sizeof watched, "%s", folder);
}

static int path_of(int descriptor, char *path)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0;
}

static void absolute(int folder, const char *name, char *path)
{
    char start[PATH_MAX] = "";
    if (name[0] != '/' && (folder == AT_FDCWD ? !getcwd(start, sizeof start) : !path_of(folder, start)))
        start[0] = 0;
    if (name[0] == '/')
        snprintf(path, PATH_MAX, "%s", name);
    else if ((size_t)snprintf(path, PATH_MAX, "%s/%s", start, name) >= PATH_MAX)
        path[0] = 0;
}

static int is_watched(const char *path)
{
    size_t length = strlen(watched);
    return length && !strncmp(path, watched, length) && (path[length] == '/' || !path[length]);
}

/* The fault of this step, after it has been counted: FAULT_NONE, FAULT_TORN or an errno. */
static int step(const char *name, const char *path, const char *other)
{
    if (!is_watched(path) && !(other && is_watched(other)))
        return FAULT_NONE;
    long number = __atomic_add_fetch(&steps, 1, __ATOMIC_SEQ_CST);
    if (trace >= 0) {
        char line[3 * PATH_MAX];
        int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", name, path, other ? other : "");
        (void)!REAL(write)(trace, line, length);
    }
    if (fault_kind == FAULT_NONE || number < fault_at || (number > fault_at && !is_lasting))
        return FAULT_NONE;
    if (fault_kind == FAULT_KILL)
        raise(SIGKILL);
    return fault_kind;
}

static int step_at(const char *name, int folder, const char *path)
{
    char full[PATH_MAX];
    if (!watched[0])
        return FAULT_NONE;
    absolute(folder, path, full);
    return step(name, full, NULL);
}

static int step_two(const char *name, int folder, const char *path, int other_folder, const char *other)
{
    char full[PATH_MAX], other_full[PATH_MAX];
    if (!watched[0])
        return FAULT_NONE;
    absolute(folder, path, full);
    absolute(other_folder, other, other_full);
    return step(name, full, other_full);
}

static int step_on(const char *name, int descriptor)
{
    char full[PATH_MAX];
    if (!watched[0] || !path_of(descriptor, full))
        return FAULT_NONE;
    return step(name, full, NULL);
}

#define FAIL_WITH(fault)             \
    do {                             \
        int code = (fault);          \
        if (code > 0) {              \
            errno = code;            \
            return -1;               \
        }                            \
    } while (0)

static int mode_of(int flags, va_list more)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, int) : 0;
}

#define OPEN(name)                                              \
    int name(const char *path, int flags, ...)                  \
    {                                                           \
        va_list more;                                           \
        va_start(more, flags);                                  \
        int mode = mode_of(flags, more);                        \
        va_end(more);                                           \
        if (flags & (O_CREAT | O_TRUNC))                        \
            FAIL_WITH(step_at("open", AT_FDCWD, path));         \
        return REAL(name)(path, flags, mode);                   \
    }
#define OPENAT(name)                                            \
    int name(int folder, const char *path, int flags, ...)      \
    {                                                           \
        va_list more;                                           \
        va_start(more, flags);                                  \
        int mode = mode_of(flags, more);                        \
        va_end(more);                                           \
        if (flags & (O_CREAT | O_TRUNC))                        \
            FAIL_WITH(step_at("open", folder, path));           \
        return REAL(name)(folder, path, flags, mode);           \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* Half of a write, if it is the one to fail. */
#define WRITE(call, half)                        \
    int fault = step_on("write", descriptor);    \
    if (fault != FAULT_NONE) {                   \
        (void)!(half);                           \
        if (fault == FAULT_TORN)                 \
            raise(SIGKILL);                      \
        errno = fault;                           \
        return -1;                               \
    }                                            \
    return call

ssize_t write(int descriptor, const void *data, size_t size)
{
    WRITE(REAL(write)(descriptor, data, size), REAL(write)(descriptor, data, size / 2));
}

ssize_t pwrite(int descriptor, const void *data, size_t size, off_t at)
{
    WRITE(REAL(pwrite)(descriptor, data, size, at), REAL(pwrite)(descriptor, data, size / 2, at));
}

ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t at)
{
    WRITE(REAL(pwrite64)(descriptor, data, size, at), REAL(pwrite64)(descriptor, data, size / 2, at));
}

ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    WRITE(REAL(writev)(descriptor, parts, count), REAL(writev)(descriptor, parts, count / 2));
}

#define ON_DESCRIPTOR(name, parameters, ...)      \
    int name parameters                           \
    {                                             \
        FAIL_WITH(step_on(#name, descriptor));    \
        return REAL(name)(__VA_ARGS__);           \
    }
ON_DESCRIPTOR(ftruncate, (int descriptor, off_t size), descriptor, size)
ON_DESCRIPTOR(ftruncate64, (int descriptor, off64_t size), descriptor, size)

/* What a killed process has written the kernel still has, so the disk need not: a sweep would take twice as long. */
#define SYNC(name)                                                 \
    int name(int descriptor)                                       \
    {                                                              \
        char path[PATH_MAX];                                       \
        FAIL_WITH(step_on(#name, descriptor));                     \
        if (watched[0] && path_of(descriptor, path) && is_watched(path)) \
            return 0;                                              \
        return REAL(name)(descriptor);                             \
    }
SYNC(fsync)
SYNC(fdatasync)
ON_DESCRIPTOR(fchmod, (int descriptor, mode_t mode), descriptor, mode)

#define ON_PATH(name, parameters, folder, ...)        \
    int name parameters                               \
    {                                                 \
        FAIL_WITH(step_at(#name, folder, path));      \
        return REAL(name)(__VA_ARGS__);               \
    }
ON_PATH(unlink, (const char *path), AT_FDCWD, path)
ON_PATH(unlinkat, (int folder, const char *path, int flags), folder, folder, path, flags)
ON_PATH(rmdir, (const char *path), AT_FDCWD, path)
ON_PATH(mkdir, (const char *path, mode_t mode), AT_FDCWD, path, mode)
ON_PATH(mkdirat, (int folder, const char *path, mode_t mode), folder, folder, path, mode)
ON_PATH(chmod, (const char *path, mode_t mode), AT_FDCWD, path, mode)

#define ON_TWO(name, parameters, folder, other_folder, ...)                \
    int name parameters                                                    \
    {                                                                      \
        FAIL_WITH(step_two(#name, folder, path, other_folder, other));     \
        return REAL(name)(__VA_ARGS__);                                    \
    }
ON_TWO(rename, (const char *path, const char *other), AT_FDCWD, AT_FDCWD, path, other)
ON_TWO(link, (const char *path, const char *other), AT_FDCWD, AT_FDCWD, path, other)
ON_TWO(symlink, (const char *path, const char *other), AT_FDCWD, AT_FDCWD, path, other)
ON_TWO(renameat, (int folder, const char *path, int other_folder, const char *other), folder, other_folder, folder,
       path, other_folder, other)
ON_TWO(linkat, (int folder, const char *path, int other_folder, const char *other, int flags), folder, other_folder,
       folder, path, other_folder, other, flags)

int renameat2(int folder, const char *path, int other_folder, const char *other, unsigned flags)
{
    if (has_no_exchange && flags) {
        errno = EINVAL;
        return -1;
    }
    FAIL_WITH(step_two("renameat2", folder, path, other_folder, other));
    return REAL(renameat2)(folder, path, other_folder, other, flags);
}
