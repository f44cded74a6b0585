/* A disk and a clock that can fail, for one process tree on Linux. Loaded with LD_PRELOAD.
 *
 * FAULTS_FOLDER  the folder whose files are covered, as an absolute path without symbolic links.
 * FAULTS_STATE   where this shim keeps its notes: "control" (struct control), "names" (one line per
 *                change of a directory), "undo/INODE" (how to undo each unsynced change of a file) and
 *                "kept/N" (a hard link to every file that was unlinked or replaced).
 *
 * Power loss: before a write changes a file, the bytes it replaces are appended to the file's undo log.
 * fsync and fdatasync empty that log. After kill -9 the driver (src/power.rs) applies what is left in
 * the logs, backwards: the folder is then as it was at the last sync. What survives a power failure:
 *   - the content of a file, if fsync or fdatasync of the file returned after the write;
 *   - the creation of a file, if the file or its directory was synced (ext4, XFS and btrfs do this);
 *   - a rename, a link or an unlink, if the directory was synced.
 * SQLite's "-shm" file is a memory map that is rebuilt at every start; it is not covered.
 *
 * Every system call goes through syscall(2): a preloaded library that looks up the next symbol with
 * dlsym would need memory before the allocator of the program runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The driver writes the first 32 bytes; see src/disk.rs. */
struct control {
    int64_t clock_ms;  /* added to the wall clock */
    uint32_t full;     /* 1: every write fails with ENOSPC */
    uint32_t slow_us;  /* how long every write and sync takes in addition */
    uint32_t tracking; /* 1: keep undo logs */
    uint32_t lying;    /* 1: sync reports success and syncs nothing */
    uint64_t reserved;
    uint32_t ready; /* whether the mutex is initialised */
    uint32_t padding;
    uint64_t kept; /* how many files lie in "kept" */
    pthread_mutex_t lock;
};

struct undo {
    uint32_t magic;
    uint32_t padding;
    uint64_t size;   /* of the file before the change */
    uint64_t offset; /* where the replaced bytes were */
    uint64_t length; /* how many bytes follow */
};
#define MAGIC 0x4f444e55u

#define FILES 65536
static struct {
    dev_t device;
    ino_t inode;
    signed char covered; /* 0 unknown, 1 yes, -1 no */
    int log;             /* file descriptor of the undo log, plus one */
} files[FILES];

static volatile struct control *control;
static char folder[PATH_MAX], state[PATH_MAX];
static size_t folder_length;

static int raw_open(const char *path, int flags, int mode) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, mode);
}

__attribute__((constructor)) static void start(void) {
    const char *where = getenv("FAULTS_FOLDER"), *notes = getenv("FAULTS_STATE");
    if (!where || !notes || strlen(where) >= PATH_MAX || strlen(notes) + 64 >= PATH_MAX) return;
    char path[PATH_MAX];
    strcpy(folder, where);
    strcpy(state, notes);
    folder_length = strlen(folder);
    snprintf(path, sizeof path, "%s/control", state);
    int fd = raw_open(path, O_RDWR, 0);
    if (fd < 0) return;
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared != MAP_FAILED) {
        struct control *here = shared;
        flock(fd, LOCK_EX);
        if (!here->ready) {
            pthread_mutexattr_t kind;
            pthread_mutexattr_init(&kind);
            pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
            pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
            pthread_mutex_init(&here->lock, &kind);
            here->ready = 1;
        }
        flock(fd, LOCK_UN);
        control = here;
    }
    syscall(SYS_close, fd);
}

static void lock(void) {
    /* A process that was killed while it held the lock changed nothing halfway that matters: its undo
     * record is written before its change, and an incomplete record is ignored. */
    if (pthread_mutex_lock((pthread_mutex_t *)&control->lock) == EOWNERDEAD)
        pthread_mutex_consistent((pthread_mutex_t *)&control->lock);
}

static void unlock(void) { pthread_mutex_unlock((pthread_mutex_t *)&control->lock); }

static int is_covered_path(const char *path) {
    if (!control || strncmp(path, folder, folder_length) != 0) return 0;
    if (path[folder_length] != '/' && path[folder_length] != 0) return 0;
    size_t length = strlen(path);
    return !(length > 4 && strcmp(path + length - 4, "-shm") == 0);
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return 1;
}

/* The absolute path; whether it is covered. */
static int absolute(int at, const char *given, char *path) {
    if (!control || !given) return 0;
    if (given[0] == '/') {
        if (strlen(given) >= PATH_MAX) return 0;
        strcpy(path, given);
        return is_covered_path(path);
    }
    if (at == AT_FDCWD) {
        if (syscall(SYS_getcwd, path, PATH_MAX) <= 0) return 0;
    } else if (!path_of(at, path)) {
        return 0;
    }
    while (given[0] == '.' && given[1] == '/') given += 2;
    size_t length = strlen(path);
    if (length + strlen(given) + 2 >= PATH_MAX) return 0;
    path[length] = '/';
    strcpy(path + length + 1, given);
    return is_covered_path(path);
}

static int is_covered(int fd, struct stat *found) {
    if (!control || fd < 0 || fd >= FILES) return 0;
    if (fstat(fd, found) != 0 || !S_ISREG(found->st_mode)) return 0;
    if (files[fd].covered && files[fd].inode == found->st_ino && files[fd].device == found->st_dev)
        return files[fd].covered > 0;
    char path[PATH_MAX];
    int covered = path_of(fd, path) && is_covered_path(path);
    if (files[fd].log) syscall(SYS_close, files[fd].log - 1);
    files[fd].log = 0;
    files[fd].device = found->st_dev;
    files[fd].inode = found->st_ino;
    files[fd].covered = covered ? 1 : -1;
    return covered;
}

static void forget(int fd) {
    if (fd < 0 || fd >= FILES) return;
    if (files[fd].log) syscall(SYS_close, files[fd].log - 1);
    files[fd].log = 0;
    files[fd].covered = 0;
}

static void slow(void) {
    uint32_t micros = control->slow_us;
    if (!micros) return;
    struct timespec time = {micros / 1000000, (long)(micros % 1000000) * 1000};
    syscall(SYS_nanosleep, &time, NULL);
}

static int is_full(void) {
    if (!control->full) return 0;
    errno = ENOSPC;
    return 1;
}

static int undo_log(ino_t inode) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/undo/%llu", state, (unsigned long long)inode);
    return raw_open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
}

/* Notes what a change of `length` bytes at `offset` replaces. Called with the lock held. */
static void note_change(int fd, const struct stat *before, uint64_t offset, uint64_t length) {
    if (!files[fd].log) {
        int log = undo_log(before->st_ino);
        if (log < 0) return;
        files[fd].log = log + 1;
    }
    uint64_t size = (uint64_t)before->st_size;
    uint64_t replaced = offset >= size ? 0 : size - offset < length ? size - offset : length;
    char *record = malloc(sizeof(struct undo) + replaced);
    if (!record) abort();
    uint64_t read = 0;
    /* A file that is open for writing alone is read through a descriptor of its own. */
    int source = fd, opened = -1;
    while (read < replaced) {
        ssize_t n = syscall(SYS_pread64, source, record + sizeof(struct undo) + read, replaced - read,
                            offset + read);
        if (n < 0 && errno == EBADF && opened < 0) {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
            source = opened = raw_open(link, O_RDONLY, 0);
            if (opened >= 0) continue;
        }
        if (n <= 0) break;
        read += (uint64_t)n;
    }
    if (opened >= 0) syscall(SYS_close, opened);
    struct undo head = {MAGIC, 0, size, offset, read};
    memcpy(record, &head, sizeof head);
    if (syscall(SYS_write, files[fd].log - 1, record, sizeof head + read) < 0) abort();
    free(record);
}

static void note_name(const char *line) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/names", state);
    int fd = raw_open(path, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (fd < 0) return;
    if (syscall(SYS_write, fd, line, strlen(line)) < 0) abort();
    syscall(SYS_close, fd);
}

static unsigned long long inode_of(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 ? (unsigned long long)found.st_ino : 0;
}

static unsigned long long directory_of(const char *path) {
    char parent[PATH_MAX];
    strcpy(parent, path);
    char *slash = strrchr(parent, '/');
    if (slash && slash != parent) *slash = 0;
    return inode_of(parent);
}

/* Keeps a hard link to a file that is about to lose its name; 0 if there is none. */
static unsigned long long keep(const char *path) {
    struct stat found;
    if (lstat(path, &found) != 0 || !S_ISREG(found.st_mode)) return 0;
    unsigned long long n = ++control->kept;
    char to[PATH_MAX + 64];
    snprintf(to, sizeof to, "%s/kept/%llu", state, n);
    return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, to, 0) == 0 ? n : 0;
}

static void note_created(char kind, const char *path) {
    char line[PATH_MAX + 128];
    snprintf(line, sizeof line, "%c\t%llu\t%llu\t%s\n", kind, directory_of(path), inode_of(path), path);
    note_name(line);
}

/* --- files --------------------------------------------------------------------------------------- */

static int do_open(int at, const char *given, int flags, mode_t mode) {
    char path[PATH_MAX];
    int covered = absolute(at, given, path);
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    if (!covered || !(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE)
        return (int)syscall(SYS_openat, at, given, flags, mode);
    struct stat before;
    int existed = fstatat(at, given, &before, 0) == 0;
    if ((!existed && is_full())) return -1;
    if (!control->tracking) return (int)syscall(SYS_openat, at, given, flags, mode);
    lock();
    if (existed && writes && (flags & O_TRUNC) && S_ISREG(before.st_mode) && before.st_size > 0) {
        int fd = raw_open(path, O_RDWR, 0);
        if (fd >= 0 && fd < FILES) {
            forget(fd);
            note_change(fd, &before, 0, (uint64_t)before.st_size);
            forget(fd);
        }
        if (fd >= 0) syscall(SYS_close, fd);
    }
    int fd = (int)syscall(SYS_openat, at, given, flags, mode);
    int error = errno;
    if (fd >= 0 && !existed) note_created('C', path);
    unlock();
    errno = error;
    return fd;
}

#define MODE(flags, mode)                                  \
    mode_t mode = 0;                                       \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {               \
        va_list rest;                                      \
        va_start(rest, flags);                             \
        mode = va_arg(rest, mode_t);                       \
        va_end(rest);                                      \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return do_open(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    return do_open(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
    MODE(flags, mode)
    return do_open(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    MODE(flags, mode)
    return do_open(at, path, flags, mode);
}

int close(int fd) {
    forget(fd);
    return (int)syscall(SYS_close, fd);
}

/* Calls `call` as a change of `length` bytes at `offset`, or at the position of the file if it is
 * negative. */
#define CHANGE(fd, offset, length, call)                                            \
    do {                                                                            \
        struct stat before;                                                         \
        if (!is_covered(fd, &before)) return call;                                  \
        slow();                                                                     \
        if (is_full()) return -1;                                                   \
        if (!control->tracking) return call;                                        \
        lock();                                                                     \
        if (fstat(fd, &before) == 0) {                                              \
            int64_t place = (offset);                                               \
            if (place < 0) {                                                        \
                int flags = (int)syscall(SYS_fcntl, fd, F_GETFL);                   \
                place = flags & O_APPEND ? before.st_size                           \
                                         : syscall(SYS_lseek, fd, 0, SEEK_CUR);     \
            }                                                                       \
            note_change(fd, &before, (uint64_t)place, (uint64_t)(length));          \
        }                                                                           \
        long done = call;                                                           \
        int error = errno;                                                          \
        unlock();                                                                   \
        errno = error;                                                              \
        return done;                                                                \
    } while (0)

static size_t total(const struct iovec *parts, int count) {
    size_t sum = 0;
    for (int i = 0; i < count; i++) sum += parts[i].iov_len;
    return sum;
}

ssize_t write(int fd, const void *bytes, size_t n) {
    CHANGE(fd, -1, n, syscall(SYS_write, fd, bytes, n));
}
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    CHANGE(fd, at, n, syscall(SYS_pwrite64, fd, bytes, n, at));
}
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
    CHANGE(fd, at, n, syscall(SYS_pwrite64, fd, bytes, n, at));
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    CHANGE(fd, -1, total(parts, count), syscall(SYS_writev, fd, parts, count));
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    CHANGE(fd, at, total(parts, count), syscall(SYS_pwritev, fd, parts, count, at, 0));
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
    CHANGE(fd, at, total(parts, count), syscall(SYS_pwritev, fd, parts, count, at, 0));
}
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags) {
    CHANGE(fd, at, total(parts, count), syscall(SYS_pwritev2, fd, parts, count, at, 0, flags));
}
ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off64_t at, int flags) {
    CHANGE(fd, at, total(parts, count), syscall(SYS_pwritev2, fd, parts, count, at, 0, flags));
}

static int do_ftruncate(int fd, off64_t length) {
    struct stat now;
    if (is_covered(fd, &now) && length <= now.st_size && !control->tracking)
        return (int)syscall(SYS_ftruncate, fd, length);
    CHANGE(fd, length < now.st_size ? length : now.st_size, INT64_MAX,
           syscall(SYS_ftruncate, fd, length));
}
int ftruncate(int fd, off_t length) { return do_ftruncate(fd, length); }
int ftruncate64(int fd, off64_t length) { return do_ftruncate(fd, length); }

static int do_fallocate(int fd, int mode, off64_t at, off64_t length) {
    CHANGE(fd, at, length, syscall(SYS_fallocate, fd, mode, at, length));
}
int fallocate(int fd, int mode, off_t at, off_t length) { return do_fallocate(fd, mode, at, length); }
int fallocate64(int fd, int mode, off64_t at, off64_t length) {
    return do_fallocate(fd, mode, at, length);
}
int posix_fallocate(int fd, off_t at, off_t length) {
    return do_fallocate(fd, 0, at, length) == 0 ? 0 : errno;
}
int posix_fallocate64(int fd, off64_t at, off64_t length) {
    return do_fallocate(fd, 0, at, length) == 0 ? 0 : errno;
}

/* Programs fall back to read and write. */
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags) {
    struct stat found;
    if (is_covered(to, &found)) {
        errno = ENOSYS;
        return -1;
    }
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, n, flags);
}

static int do_sync(int fd, long call) {
    struct stat found;
    char line[64], path[PATH_MAX];
    if (!control || fstat(fd, &found) != 0) return (int)syscall(call, fd);
    int covered = S_ISDIR(found.st_mode) ? path_of(fd, path) && is_covered_path(path)
                                         : is_covered(fd, &found);
    if (!covered) return (int)syscall(call, fd);
    slow();
    if (!control->tracking) return (int)syscall(call, fd);
    if (control->lying) return 0;
    lock();
    if (S_ISREG(found.st_mode)) {
        int log = undo_log(found.st_ino);
        if (log < 0 || syscall(SYS_ftruncate, log, 0) != 0) abort();
        syscall(SYS_close, log);
        snprintf(line, sizeof line, "F\t%llu\n", (unsigned long long)found.st_ino);
    } else {
        snprintf(line, sizeof line, "S\t%llu\n", (unsigned long long)found.st_ino);
    }
    note_name(line);
    unlock();
    return 0;
}
int fsync(int fd) { return do_sync(fd, SYS_fsync); }
int fdatasync(int fd) { return do_sync(fd, SYS_fdatasync); }

/* --- names --------------------------------------------------------------------------------------- */

static int do_rename(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    char old[PATH_MAX], new[PATH_MAX], line[2 * PATH_MAX + 128];
    int covered = absolute(from_at, from, old) + absolute(to_at, to, new);
    if (covered != 2 || !control->tracking)
        return (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    lock();
    unsigned long long inode = inode_of(old), replaced = keep(new);
    int done = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags), error = errno;
    if (done == 0) {
        snprintf(line, sizeof line, "R\t%llu\t%llu\t%s\t%s\t%llu\n", directory_of(new), inode, old, new,
                 replaced);
        note_name(line);
    }
    unlock();
    errno = error;
    return done;
}
int rename(const char *from, const char *to) { return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return do_rename(a, from, b, to, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    return do_rename(a, from, b, to, flags);
}

static int do_link(int from_at, const char *from, int to_at, const char *to, int flags) {
    char path[PATH_MAX];
    int covered = absolute(to_at, to, path) && control->tracking;
    if (covered) lock();
    int done = (int)syscall(SYS_linkat, from_at, from, to_at, to, flags), error = errno;
    /* A second name of a file that is synced already: only its directory makes it durable. */
    if (covered && done == 0) note_created('L', path);
    if (covered) unlock();
    errno = error;
    return done;
}
int link(const char *from, const char *to) { return do_link(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int a, const char *from, int b, const char *to, int flags) {
    return do_link(a, from, b, to, flags);
}

static int do_unlink(int at, const char *given, int flags) {
    char path[PATH_MAX], line[PATH_MAX + 128];
    if (!absolute(at, given, path) || !control->tracking)
        return (int)syscall(SYS_unlinkat, at, given, flags);
    lock();
    unsigned long long kept = flags & AT_REMOVEDIR ? 0 : keep(path);
    unsigned long long inode = inode_of(path);
    int done = (int)syscall(SYS_unlinkat, at, given, flags), error = errno;
    if (done == 0) {
        snprintf(line, sizeof line, "%c\t%llu\t%llu\t%s\t%llu\n", flags & AT_REMOVEDIR ? 'D' : 'U',
                 directory_of(path), inode, path, kept);
        note_name(line);
    }
    unlock();
    errno = error;
    return done;
}
int unlink(const char *path) { return do_unlink(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return do_unlink(at, path, flags); }
int rmdir(const char *path) { return do_unlink(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
    int done = unlink(path);
    return done != 0 && (errno == EISDIR || errno == EPERM) ? rmdir(path) : done;
}

static int do_mkdir(int at, const char *given, mode_t mode) {
    char path[PATH_MAX];
    int covered = absolute(at, given, path);
    if (covered && is_full()) return -1;
    covered = covered && control->tracking;
    if (covered) lock();
    int done = (int)syscall(SYS_mkdirat, at, given, mode), error = errno;
    if (covered && done == 0) note_created('M', path);
    if (covered) unlock();
    errno = error;
    return done;
}
int mkdir(const char *path, mode_t mode) { return do_mkdir(AT_FDCWD, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { return do_mkdir(at, path, mode); }

/* --- the wall clock ------------------------------------------------------------------------------- */

int clock_gettime(clockid_t clock, struct timespec *time) {
    int done = (int)syscall(SYS_clock_gettime, clock, time);
    if (done != 0 || !control || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return done;
    int64_t ms = control->clock_ms;
    int64_t nanos = time->tv_nsec + ms % 1000 * 1000000;
    time->tv_sec += ms / 1000;
    if (nanos < 0) {
        nanos += 1000000000;
        time->tv_sec -= 1;
    } else if (nanos >= 1000000000) {
        nanos -= 1000000000;
        time->tv_sec += 1;
    }
    time->tv_nsec = nanos;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
