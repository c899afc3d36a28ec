// SPDX-License-Identifier: MIT
// POSIX functions for Windows, see windows/posix.h, and the main() that gives the program UTF-8 arguments.

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
// windows.h first
#include <errno.h>
#include <shellapi.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

// ---- paths and errors

// Sets errno from the last error of Windows. Returns -1.
static int fail(void)
{
    static const struct {
        DWORD error;
        int number;
    } meanings[] = {{ERROR_FILE_NOT_FOUND, ENOENT},    {ERROR_PATH_NOT_FOUND, ENOENT},
                    {ERROR_INVALID_NAME, ENOENT},      {ERROR_INVALID_DRIVE, ENOENT},
                    {ERROR_BAD_NETPATH, ENOENT},       {ERROR_BAD_PATHNAME, ENOENT},
                    {ERROR_DIRECTORY, ENOTDIR},        {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
                    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM}, {ERROR_OUTOFMEMORY, ENOMEM},
                    {ERROR_COMMITMENT_LIMIT, ENOMEM},  {ERROR_INVALID_HANDLE, EBADF},
                    {ERROR_DISK_FULL, ENOSPC},         {ERROR_HANDLE_DISK_FULL, ENOSPC},
                    {ERROR_FILE_EXISTS, EEXIST},       {ERROR_ACCESS_DENIED, EACCES},
                    {ERROR_SHARING_VIOLATION, EACCES}, {ERROR_LOCK_VIOLATION, EACCES}};
    const DWORD error = GetLastError();
    errno = EIO;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].error == error)
            errno = meanings[i].number;
    return -1;
}

bool windows_path(const char *path, wchar_t wide[PATH_MAX])
{
    enum { SHORT = 248 }; // from here on Windows wants a whole path with a prefix, for folders
    static const wchar_t prefix[] = L"\\\\?\\";
    const size_t room = PATH_MAX - wcslen(prefix);
    if (!*path) {
        errno = ENOENT;
        return false;
    }
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, strcmp(path, "/dev/null") ? path : "NUL", -1, wide,
                             PATH_MAX)) {
        errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : ENOENT;
        return false;
    }
    wchar_t whole[PATH_MAX];
    const size_t len = GetFullPathNameW(wide, (DWORD)room, whole, NULL);
    if (len < SHORT || !wcsncmp(whole, L"\\\\", 2)) // a server's path begins so, and one with the prefix
        return true;
    if (len >= room) {
        errno = ENAMETOOLONG;
        return false;
    }
    wcscpy(wide, prefix);
    wcscat(wide, whole);
    return true;
}

// Returns the descriptor that /dev/stdin or the like names; -1: none.
static int standard_stream(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    for (int fd = 0; fd <= 2; fd++)
        if (!strcmp(path, names[fd]))
            return fd;
    return -1;
}

// ---- files

static int status_of(HANDLE file, struct windows_stat *st)
{
    BY_HANDLE_FILE_INFORMATION info;
    *st = (struct windows_stat){0};
    switch (GetFileType(file)) {
    case FILE_TYPE_CHAR:
        st->st_mode = _S_IFCHR;
        return 0;
    case FILE_TYPE_PIPE:
        st->st_mode = _S_IFIFO;
        return 0;
    case FILE_TYPE_DISK:
        break;
    default:
        errno = EBADF;
        return -1;
    }
    if (!GetFileInformationByHandle(file, &info)) { // so for standard streams under Wine, which are no folders
        LARGE_INTEGER size;
        st->st_mode = _S_IFREG;
        st->st_size = GetFileSizeEx(file, &size) ? size.QuadPart : -1;
        return st->st_size < 0 ? fail() : 0;
    }
    st->st_mode = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? _S_IFDIR : _S_IFREG;
    st->st_size = (int64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
    return 0;
}

// Opens a file or a folder: OPEN_EXISTING, or CREATE_NEW. INVALID_HANDLE_VALUE and errno if that fails. The file may be
// deleted while it is open, so that the handler of Ctrl-C can delete it.
static HANDLE open_handle(const char *path, DWORD rights, DWORD way)
{
    wchar_t wide[PATH_MAX];
    if (!windows_path(path, wide))
        return INVALID_HANDLE_VALUE;
    const HANDLE file = CreateFileW(wide, rights, SHARE_ALL, NULL, way, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (file == INVALID_HANDLE_VALUE)
        fail();
    return file;
}

int windows_stat(const char *path, struct windows_stat *st)
{
    if (standard_stream(path) >= 0)
        return windows_fstat(standard_stream(path), st);
    const HANDLE file = open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING);
    if (file == INVALID_HANDLE_VALUE)
        return -1;
    const int result = status_of(file, st);
    CloseHandle(file);
    return result;
}

int windows_fstat(int fd, struct windows_stat *st)
{
    const HANDLE file = (HANDLE)_get_osfhandle(fd);
    return file == INVALID_HANDLE_VALUE ? -1 : status_of(file, st);
}

int windows_open(const char *path, int flags, ...)
{
    if (standard_stream(path) >= 0)
        return _dup(standard_stream(path));
    const int way = flags & (_O_RDONLY | _O_WRONLY | _O_RDWR);
    const HANDLE file = open_handle(path, (way == _O_WRONLY ? 0 : GENERIC_READ) | (way ? GENERIC_WRITE : 0),
                                    flags & _O_CREAT ? CREATE_NEW : OPEN_EXISTING);
    if (file == INVALID_HANDLE_VALUE)
        return -1;
    const int fd = _open_osfhandle((intptr_t)file, flags | _O_BINARY);
    if (fd < 0)
        CloseHandle(file);
    return fd;
}

FILE *windows_fopen(const char *path, const char *mode)
{
    wchar_t wide[PATH_MAX], how[8] = {0};
    if (standard_stream(path) >= 0) {
        const int fd = _dup(standard_stream(path));
        return fd < 0 ? NULL : _fdopen(fd, mode);
    }
    if (!windows_path(path, wide))
        return NULL;
    for (size_t i = 0; mode[i] && i + 1 < sizeof how / sizeof *how; i++)
        how[i] = (wchar_t)mode[i];
    return _wfopen(wide, how);
}

ssize_t windows_read(int fd, void *to, size_t n)
{
    enum { READ_MOST = 1 << 30 };
    return _read(fd, to, n < READ_MOST ? (unsigned)n : READ_MOST);
}

int windows_access(const char *path, int mode)
{
    wchar_t wide[PATH_MAX];
    return windows_path(path, wide) ? _waccess(wide, mode) : -1;
}

int windows_unlink(const char *path)
{
    wchar_t wide[PATH_MAX];
    if (!windows_path(path, wide))
        return -1;
    return DeleteFileW(wide) ? 0 : fail();
}

int windows_rename(const char *from, const char *to)
{
    wchar_t wide[PATH_MAX], new_name[PATH_MAX];
    if (!windows_path(from, wide) || !windows_path(to, new_name))
        return -1;
    return MoveFileExW(wide, new_name, MOVEFILE_REPLACE_EXISTING) ? 0 : fail();
}

int windows_isatty(int fd)
{
    DWORD mode;
    const HANDLE file = (HANDLE)_get_osfhandle(fd);
    return file != INVALID_HANDLE_VALUE && GetConsoleMode(file, &mode);
}

int windows_fcntl(int fd, int what, ...)
{
    const intptr_t file = _get_osfhandle(fd);
    if (file != -1 && file != -2) // -2: a standard stream of a program without a console
        return 0;
    errno = EBADF;
    return -1;
}

ssize_t readlink(const char *path, char *to, size_t n)
{
    errno = EINVAL;
    return -1;
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, int64_t offset)
{
    const HANDLE file = (HANDLE)_get_osfhandle(fd);
    const HANDLE map = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    void *const bytes = map ? MapViewOfFile(map, FILE_MAP_READ, 0, 0, n) : NULL;
    if (!bytes)
        fail();
    if (map)
        CloseHandle(map); // the view keeps the map
    return bytes ? bytes : MAP_FAILED;
}

int munmap(void *map, size_t n) { return UnmapViewOfFile(map) ? 0 : fail(); }

// ---- folders

int alphasort(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

// Appends a wanted entry to an array of n. False if memory is short. Names that do not fit are left out.
static bool add_entry(struct dirent ***entries, int *n, const wchar_t *name, int (*want)(const struct dirent *))
{
    struct dirent entry = {0};
    if (!WideCharToMultiByte(CP_UTF8, 0, name, -1, entry.d_name, sizeof entry.d_name, NULL, NULL) ||
        (want && !want(&entry)))
        return true;
    struct dirent **const more = realloc(*entries, ((size_t)*n + 1) * sizeof *more);
    if (!more)
        return false;
    *entries = more;
    more[*n] = malloc(sizeof entry);
    if (!more[*n])
        return false;
    *more[(*n)++] = entry;
    return true;
}

int scandir(const char *folder, struct dirent ***entries, int (*want)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **))
{
    char all[PATH_MAX];
    wchar_t wide[PATH_MAX];
    WIN32_FIND_DATAW found;
    int n = 0;
    if ((size_t)snprintf(all, sizeof all, "%s/*", folder) >= sizeof all) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (!windows_path(all, wide))
        return -1;
    const HANDLE search = FindFirstFileW(wide, &found);
    if (search == INVALID_HANDLE_VALUE)
        return fail();
    *entries = NULL;
    bool ok = true;
    do
        ok = add_entry(entries, &n, found.cFileName, want);
    while (ok && FindNextFileW(search, &found));
    FindClose(search);
    if (n)
        qsort(*entries, (size_t)n, sizeof **entries, (int (*)(const void *, const void *))(void (*)(void))order);
    if (ok)
        return n;
    while (n)
        free((*entries)[--n]);
    free(*entries);
    errno = ENOMEM;
    return -1;
}

// ---- text

char *strndup(const char *s, size_t n)
{
    const size_t len = strnlen(s, n);
    char *const copy = malloc(len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *stpcpy(char *to, const char *from)
{
    const size_t len = strlen(from);
    memcpy(to, from, len + 1);
    return to + len;
}

// ---- the program

// The C library calls this function for arguments such as a closed descriptor, and would end the program without it.
static void ignore_argument(const wchar_t *expression, const wchar_t *function, const wchar_t *file, unsigned line,
                            uintptr_t reserved)
{
}

static UINT code_page; // of the console, before the program began; 0: there is none

static void restore_console(void) { SetConsoleOutputCP(code_page); }

static void begin_console(void)
{
    DWORD mode;
    for (int fd = 1; fd <= 2; fd++) {
        const HANDLE screen = (HANDLE)_get_osfhandle(fd);
        if (screen == INVALID_HANDLE_VALUE || !GetConsoleMode(screen, &mode))
            continue;
        SetConsoleMode(screen, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        if (code_page)
            continue;
        code_page = GetConsoleOutputCP();
        if (SetConsoleOutputCP(CP_UTF8))
            atexit(restore_console);
    }
}

// Returns an argument in UTF-8. NULL if memory is short.
static char *utf8_of(const wchar_t *wide)
{
    const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *const text = size ? malloc((size_t)size) : NULL;
    if (text)
        WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
    return text;
}

int windows_main(int argc, char **argv);

#undef main
int main(void)
{
    _set_invalid_parameter_handler(ignore_argument);
    for (int fd = 0; fd <= 2; fd++)
        _setmode(fd, _O_BINARY);
    begin_console();
    int argc;
    wchar_t **const wide = CommandLineToArgvW(GetCommandLineW(), &argc);
    char **const argv = wide ? calloc((size_t)argc + 1, sizeof *argv) : NULL;
    bool ok = argv;
    for (int i = 0; ok && i < argc; i++)
        ok = (argv[i] = utf8_of(wide[i])) != NULL;
    LocalFree(wide);
    if (!ok)
        fputs("sampl: out of memory\n", stderr);
    const int status = ok ? windows_main(argc, argv) : 2;
    for (int i = 0; argv && argv[i]; i++)
        free(argv[i]);
    free(argv);
    return status;
}

#endif
