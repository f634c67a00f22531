/* Runs a command in namespaces of its own: no network, no other process, no file but
 * those that the options name. Takes the options of bubblewrap (bwrap) that the grader
 * uses, for machines without it, and means the same by them:
 *
 *     contain --unshare-all --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin
 *         --bind FILE DEST --dev-bind /dev/null /dev/null --size BYTES --tmpfs /tmp
 *         --proc /proc --remount-ro / --chdir /tmp -- COMMAND ARGUMENT...
 *
 * The exit code is the command's, or 128 and the signal that ended it; 125 if there can
 * be no such place here. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 125 };

/* mount_setattr, for systems whose headers are older than it (Linux 5.12). */
enum { SET_ATTRIBUTES = 442, READ_ONLY = 1, NO_SUID = 2, RECURSIVE = 0x8000 };
struct attributes {
    uint64_t set, clear, propagation, user_namespace;
};

static void stop(const char *what)
{
    fprintf(stderr, "contain: %s: %s\n", what, strerror(errno));
    exit(CANNOT);
}

/* The caller frees. */
static char *path(const char *root, const char *rest)
{
    char *all = NULL;
    if (asprintf(&all, "%s%s", root, rest) < 0)
        stop("memory");
    return all;
}

static void write_file(const char *name, const char *text)
{
    const int file = open(name, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, text, strlen(text)) < 0 || close(file))
        stop(name);
}

/* In there, too, the user has the number that is the user's here. */
static void map_number(const char *file, unsigned number)
{
    char text[40];
    snprintf(text, sizeof text, "%u %u 1\n", number, number);
    write_file(file, text);
}

/* All folders above a path; the path too, as a folder or as an empty file. */
static void make_place(char *place, bool folder)
{
    for (char *slash = strchr(place + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(place, 0755);
        *slash = '/';
    }
    if (folder)
        mkdir(place, 0755);
    else
        close(open(place, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static void read_only(const char *place, int how)
{
    const struct attributes attributes = {.set = READ_ONLY | NO_SUID};
    if (syscall(SET_ATTRIBUTES, AT_FDCWD, place, how, &attributes, sizeof attributes))
        stop(place);
}

static void bind(const char *from, const char *to, bool writable)
{
    char *source = path("/old", from), *place = path("/new", to);
    struct stat what;
    if (stat(source, &what))
        stop(from);
    make_place(place, S_ISDIR(what.st_mode));
    if (mount(source, place, NULL, MS_BIND | MS_REC, NULL))
        stop(to);
    if (!writable)
        read_only(place, RECURSIVE);
    free(source);
    free(place);
}

static void mount_new(const char *type, const char *to, const char *options)
{
    char *place = path("/new", to);
    make_place(place, true);
    if (mount(type, place, type, MS_NOSUID | MS_NODEV, options))
        stop(to);
    free(place);
}

/* The root that everything is put into: a small tmpfs. The old root stays beside it, at
 * /old, until all is done. */
static void begin(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k") ||
        mkdir("/tmp/old", 0755) || mkdir("/tmp/new", 0755) ||
        syscall(SYS_pivot_root, "/tmp", "/tmp/old") || chdir("/") ||
        mount("tmpfs", "/new", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=64k"))
        stop("a new root");
}

static void end(void)
{
    if (chdir("/new") || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) ||
        chdir("/"))
        stop("the new root");
}

/* Reads the options up to "--" and does what they say; returns where the command begins.
 */
static char **furnish(char **word)
{
    const char *folder = "/", *size = "1048576";
    bool closed = false;
    for (; *word && strcmp(*word, "--") != 0; word++) {
        const char *option = *word;
        if (strcmp(option, "--unshare-all") == 0 ||
            strcmp(option, "--die-with-parent") == 0)
            continue; /* always so */
        if (!word[1]) {
            errno = EINVAL;
            stop(option);
        }
        const char *first = *++word;
        if (strcmp(option, "--size") == 0) {
            size = first;
        } else if (strcmp(option, "--tmpfs") == 0) {
            char *options = path("mode=0755,size=", size);
            mount_new("tmpfs", first, options);
            free(options);
        } else if (strcmp(option, "--proc") == 0) {
            mount_new("proc", first, NULL);
        } else if (strcmp(option, "--remount-ro") == 0) {
            closed = true;
        } else if (strcmp(option, "--chdir") == 0) {
            folder = first;
        } else if (strcmp(option, "--ro-bind") == 0 && word[1]) {
            bind(first, *++word, false);
        } else if ((strcmp(option, "--bind") == 0 || strcmp(option, "--dev-bind") == 0) &&
                   word[1]) {
            bind(first, *++word, true);
        } else if (strcmp(option, "--symlink") == 0 && word[1]) {
            char *place = path("/new", *++word);
            if (symlink(first, place))
                stop(*word);
            free(place);
        } else {
            errno = EINVAL;
            stop(option);
        }
    }
    end();
    if (closed)
        read_only("/", 0);
    if (chdir(folder))
        stop(folder);
    return *word ? word + 1 : word;
}

static void give_up_rights(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capset, &header, none))
        stop("rights");
}

/* The first process of the new place. When it ends, the kernel ends all others there. */
static int first_process(char **options)
{
    begin();
    char **command = furnish(options);
    give_up_rights();
    const pid_t child = fork();
    if (child == 0) {
        execvp(command[0], command);
        stop(command[0] ? command[0] : "no command");
    }
    for (int status;;) {
        const pid_t ended = wait(&status);
        if (ended < 0)
            return CANNOT;
        if (ended == child)
            return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

int main(int argc, char **argv)
{
    const unsigned user = getuid(), group = getgid();
    const pid_t above = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc < 2 || getppid() != above)
        return CANNOT;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                CLONE_NEWUTS))
        stop("no namespaces");
    write_file("/proc/self/setgroups", "deny");
    map_number("/proc/self/uid_map", user);
    map_number("/proc/self/gid_map", group);
    const pid_t child = fork();
    if (child < 0)
        stop("fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == 1)
            return CANNOT;
        _exit(first_process(argv + 1));
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return CANNOT;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
