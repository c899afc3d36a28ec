// SPDX-License-Identifier: MIT
// Which programs the commands of a script start.
#include "cli/script.h"

#include "base/names.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 8 }; // texts within texts

// ---- programs

static const char programs_known[] =
    "llama-server llama-server-* llama-cli llama-run llama-completion llama-simple-chat llama-mtmd-cli "
    "llama-llava-cli llamafile "
    "*.llamafile koboldcpp koboldcpp.py koboldcpp-* koboldcpp_* vllm vllm.entrypoints.* sglang.launch_server "
    "mlx_lm.server mlx_lm.generate mlx_lm.chat",
                  programs_old[] = "main server"; // llama.cpp's of 2023 and 2024, with a folder or .exe

void script_program(const char *word, char *name, size_t room)
{
    const char *last = word;
    for (const char *at = word; *at; at++)
        last = *at == '/' || *at == '\\' ? at + 1 : last;
    *name = '\0';
    if (strlen(last) >= room)
        return;
    strcpy(name, last);
    const size_t len = strlen(name);
    const bool windows = len > 4 && name_find(".exe", NAME_ANY_CASE, name + len - 4, 4) >= 0;
    if (windows)
        name[len - 4] = '\0';
    const bool old = (last > word || windows) && name_find(programs_old, NAME_EXACT, name, strlen(name)) >= 0;
    if (name_find(programs_known, NAME_PATTERN, name, strlen(name)) < 0 && !old)
        *name = '\0';
}

// Programs that run the command that follows; and those of them whose options have values, or that run a text.
static const char runners[] =
    "! time exec nohup sudo doas numactl nice ionice chrt env taskset stdbuf setsid timeout command builtin start call "
    "cmd cmd.exe unbuffer srun mpirun python python3 python.exe py uv uvx poetry pipenv conda micromamba prime-run "
    "gamemoderun systemd-run systemd-inhibit firejail valgrind gdb perf strace caffeinate winpty flatpak-spawn "
    "distrobox toolbox runuser trickle xvfb-run with-contenv tini gosu su-exec dumb-init",
                  shells[] = "sh bash zsh dash ash ksh eval tmux screen ssh su script watch wsl wsl.exe powershell "
                             "xterm gnome-terminal konsole kitty alacritty parallel",
                  containers[] = "docker podman nerdctl",
                  container_flags[] = "-d -i -t -it -ti -dit -itd -di -id -dt -td --rm --privileged --init --detach "
                                      "--interactive --tty -P --publish-all --read-only -q --quiet --replace";

static bool is_named(const char *names, const cJSON *word)
{
    const char *const text = word_text(word);
    const char *last = strrchr(text, '/');
    last = last ? last + 1 : text;
    return *last && name_find(names, NAME_EXACT, last, strlen(last)) >= 0;
}

// Adds NAME=VALUE, a part of a word, to an object of words. False: it is none.
static bool add_variable(struct script *s, cJSON *env, const cJSON *word, size_t from)
{
    const char *const text = word_text(word), *const equals = strchr(text + from, '=');
    if (!equals || strspn(text + from, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789abcdefghijklmnopqrstuvwxyz") !=
                       (size_t)(equals - text) - from)
        return false;
    struct marked_text value = {0};
    char *const name = strndup(text + from, (size_t)(equals - text) - from);
    script_check(s, name);
    text_add(s, &value, equals + 1, strlen(equals + 1), MARK(word_doubt(word)));
    cJSON *const item = script_new_word(s, &value, 0, value.bytes.len);
    if (item && name)
        script_give(s, env, name, item);
    else
        cJSON_Delete(item);
    free(name);
    text_free(&value);
    return true;
}

// Adds a variable that the script has to those of a command.
static void add_exported(struct script *s, cJSON *env, const char *name)
{
    const cJSON *const value = script_variable(s, name, strlen(name));
    if (value && value->child && !s->failed)
        script_give(s, env, name, cJSON_Duplicate(value->child, true));
}

// Adds a word that is not known to the variables of a command: a file of such.
static void add_unknown(struct script *s, cJSON *env, const char *name)
{
    struct marked_text t = {0};
    text_add(s, &t, name, strlen(name), MARK(DOUBT_UNKNOWN));
    cJSON *const word = script_new_word(s, &t, 0, t.bytes.len);
    if (word)
        script_give(s, env, name, word);
    text_free(&t);
}

// Finds the image among the words behind `docker`, and the variables and the entry point in its options. NULL: the
// command runs no container.
static const cJSON *find_image(struct script *s, const cJSON *word, cJSON *env, const char **entry)
{
    while (word && *word_text(word) == '-')
        word = word->next;
    if (!word || !is_named("run create exec container", word))
        return NULL;
    if (is_named("container", word))
        word = word->next;
    for (word = word ? word->next : NULL; word && *word_text(word) == '-'; word = word->next) {
        const char *const text = word_text(word), *const equals = strchr(text, '=');
        const bool variable = !strcmp(text, "-e") || !strncmp(text, "--env", equals ? (size_t)(equals - text) : 6);
        const bool entrance = !strncmp(text, "--entrypoint", strlen("--entrypoint"));
        const cJSON *const value = equals ? word : word->next;
        if (!equals && is_named(container_flags, word))
            continue;
        if (!value)
            return NULL;
        if (!strncmp(text, "--env-file", strlen("--env-file")))
            add_unknown(s, env, "--env-file");
        else if (variable && !add_variable(s, env, value, equals ? (size_t)(equals - text) + 1 : 0))
            add_exported(s, env, word_text(value));
        if (entrance)
            *entry = equals ? equals + 1 : word_text(value);
        word = value;
    }
    return word;
}

// ---- starts

// The word as a start has it: a text if it is certain.
static cJSON *start_word(const cJSON *word)
{
    static const char *const names[] = {"", "default", "condition", "unknown"};
    const enum doubt doubt = word_doubt(word);
    cJSON *const item = doubt ? cJSON_CreateObject() : cJSON_CreateString(word_text(word));
    if (item && doubt &&
        (!cJSON_AddStringToObject(item, "word", word_text(word)) ||
         !cJSON_AddStringToObject(item, "doubt", names[doubt]))) {
        cJSON_Delete(item);
        return NULL;
    }
    return item;
}

static void add_start(struct script *s, const char *name, const cJSON *words, const cJSON *env, bool condition,
                      bool guessed, bool contained)
{
    cJSON *const start = cJSON_CreateObject(), *const command = cJSON_AddArrayToObject(start, "command"),
                 *const own = cJSON_AddObjectToObject(start, "env");
    const cJSON *item;
    script_check(s, command);
    script_check(s, own);
    if (!s->failed)
        script_give(s, command, NULL, cJSON_CreateString(name));
    for (item = words; item && !s->failed; item = item->next)
        script_give(s, command, NULL, start_word(item));
    for (item = contained ? NULL : s->exported->child; item; item = item->next) {
        const cJSON *const value = script_variable(s, item->string, strlen(item->string));
        if (value && value->child && !s->failed)
            script_give(s, own, item->string, start_word(value->child));
    }
    cJSON_ArrayForEach(item, env)
    {
        if (!s->failed)
            script_give(s, own, item->string, start_word(item));
    }
    if (condition && !s->failed && !cJSON_AddTrueToObject(start, "condition"))
        s->failed = true;
    if (guessed && !s->failed && !cJSON_AddTrueToObject(start, "guessed"))
        s->failed = true;
    if (s->failed)
        cJSON_Delete(start);
    else
        script_give(s, s->starts, NULL, start);
}

// Returns true if words that follow a program may set something: one is an option, or is not known. A program that is
// asked for its version does not run.
static bool has_options(const cJSON *word)
{
    if (word && is_named("--version --help -h --list-devices", word))
        return false;
    while (word && *word_text(word) != '-' && word_doubt(word) != DOUBT_UNKNOWN)
        word = word->next;
    return word;
}

// Returns true if the words look like those of llama.cpp: they name a model.
static bool names_model(const cJSON *word)
{
    while (word && !is_named("-m --model -hf --hf-repo -hfr -mu --model-url", word))
        word = word->next;
    return word;
}

// What a command comes to.
struct started {
    char name[80];     // of the program; "": none
    const cJSON *rest; // the words behind it
    const char *shell; // a text that a shell runs; NULL: none
    bool contained;    // it does not get the variables of the script
    enum doubt least;  // of that text
};

static void find_program(struct script *s, const cJSON *first, cJSON *env, struct started *to);

// Finds the program that `docker run` starts: the image's, or that of the words behind the image.
static void find_in_container(struct script *s, const cJSON *word, cJSON *env, struct started *to)
{
    const char *entry = "";
    const cJSON *const image = find_image(s, word, env, &entry);
    if (!image)
        return;
    to->contained = true;
    const char *const text = word_text(image);
    const bool full = strstr(text, ":full"), llama = strstr(text, "llama.cpp") || strstr(text, "llama-server");
    to->rest = image->next;
    script_program(entry, to->name, sizeof to->name);
    if (!*to->name && image->next)
        find_program(s, image->next, env, to);
    if (*to->name || to->shell)
        return;
    to->rest = image->next;
    if (llama || strstr(text, "vllm"))
        strcpy(to->name, !llama ? "vllm" : strstr(text, ":light") ? "llama-cli" : "llama-server");
    if (llama && full && to->rest && is_named("--run -r --server -s", to->rest)) {
        strcpy(to->name, is_named("--run -r", to->rest) ? "llama-cli" : "llama-server");
        to->rest = to->rest->next;
    }
}

// Finds the text that a shell runs among the words behind it.
static void find_text(const cJSON *word, struct started *to)
{
    while (word && !strpbrk(word_text(word), " \n"))
        word = word->next;
    if (!word)
        return;
    to->shell = word_text(word);
    to->least = word_doubt(word) == DOUBT_UNKNOWN ? DOUBT_NONE : word_doubt(word);
}

// Returns true if a word may stand between a program that runs another one and the name of that.
static bool may_precede(const cJSON *word)
{
    const char *const text = word_text(word), *const before = word->prev->next ? word_text(word->prev) : "";
    return strchr("-0123456789", *text) || (*text == '/' && strlen(text) <= 5) || !strcmp(text, "run") ||
           *before == '-' || (*before == '/' && strlen(before) <= 5) || word_doubt(word) == DOUBT_UNKNOWN ||
           is_named("start", word->prev);
}

static void find_program(struct script *s, const cJSON *first, cJSON *env, struct started *to)
{
    bool unknown = false;
    for (const cJSON *word = first; word && !s->failed; word = word->next) {
        script_program(word_text(word), to->name, sizeof to->name);
        to->rest = word->next;
        if (!*to->name && word->next && is_named("llama", word) && is_named("serve server cli client", word->next)) {
            strcpy(to->name, *word_text(word->next) == 's' ? "llama-server" : "llama-cli");
            to->rest = word->next->next;
        }
        const bool module = word != first && !strcmp(word_text(word->prev), "-m") && strchr(to->name, '.');
        if (*to->name && (!unknown || *word_text(word->prev) != '-' || module))
            return;
        *to->name = '\0';
        if (is_named(containers, word)) {
            find_in_container(s, word->next, env, to);
            return;
        }
        if (is_named(shells, word)) {
            find_text(word->next, to);
            return;
        }
        if (add_variable(s, env, word, 0) || is_named(runners, word))
            continue;
        if (!strcmp(word_text(word), "--env-file"))
            add_unknown(s, env, "--env-file");
        if (word == first && word_doubt(word) == DOUBT_UNKNOWN)
            unknown = true;
        else if (word == first || !may_precede(word))
            return;
    }
}

char *script_command(struct script *s, const cJSON *env, bool condition, enum doubt *least)
{
    const cJSON *const first = s->words->child;
    cJSON *const own = env ? cJSON_Duplicate(env, true) : cJSON_CreateObject();
    struct started found = {.name = ""};
    char *text = NULL;
    script_check(s, own);
    if (own && first)
        find_program(s, first, own, &found);
    if (found.shell && s->depth < DEPTH_MOST) {
        text = strdup(found.shell);
        script_check(s, text);
        *least = found.least;
    } else if (*found.name && (has_options(found.rest) || cJSON_GetArraySize(own))) {
        add_start(s, found.name, found.rest, own, condition, false, found.contained);
    } else if (first && word_doubt(first) == DOUBT_UNKNOWN && names_model(first->next) &&
               !strstr(word_text(first), "PY") && !strstr(word_text(first), "py")) {
        add_start(s, "llama-server", first->next, own, condition, true, false);
    }
    cJSON_Delete(own);
    return text;
}
