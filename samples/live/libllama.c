// SPDX-License-Identifier: MIT
// Generates a text with llama.cpp's model and sampl's samplers: llama.cpp computes a row of logits, sampl chooses the
// token, and so on. With the options of llama-cli the text is that of llama.cpp's own samplers; but sampl has samplers
// that llama.cpp lacks, too.
//
//     cc -o libllama libllama.c -lllama -lggml -lggml-base
//     libllama model.gguf '1519,13,981' 32 --temp 0.7 --top-h 0.4
//
// Arguments: the model, the ids of the prompt, the number of tokens, and sampl's options. Prints an id a line.
#include <ggml-backend.h>
#include <llama.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONTEXT = 2048, OPTIONS = 64 };

static void fail(const char *what)
{
    fprintf(stderr, "libllama: %s\n", what);
    exit(1);
}

// Starts sampl. Rows of n logits are written to *rows, and ids read from *ids.
static void start_sampl(int n, const char *prompt, char **options, FILE **rows, FILE **ids)
{
    char width[16];
    char *words[OPTIONS + 8] = {"sampl", "-f", "f32", "-n", width, "--prompt-tokens", (char *)prompt};
    int in[2], out[2];
    snprintf(width, sizeof width, "%d", n);
    for (int i = 0; options[i] && i < OPTIONS; i++)
        words[7 + i] = options[i];
    if (pipe(in) || pipe(out))
        fail("cannot make a pipe");
    const pid_t child = fork();
    if (child < 0)
        fail("cannot start a process");
    if (!child) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        close(in[1]);
        close(out[0]);
        const char *const program = getenv("SAMPL"); // another sampl than that of the path
        execvp(program ? program : words[0], words);
        perror("libllama: sampl");
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    *rows = fdopen(in[1], "wb");
    *ids = fdopen(out[0], "r");
}

// Reads ids separated by commas. Returns how many.
static int read_ids(const char *text, llama_token *id)
{
    int n = 0;
    for (char *end; *text && n < CONTEXT; text = *end == ',' ? end + 1 : end, n++) {
        id[n] = (llama_token)strtol(text, &end, 10);
        if (end == text)
            fail("the prompt is not a list of ids");
    }
    return n;
}

int main(int argc, char **argv)
{
    llama_token prompt[CONTEXT], token;
    FILE *rows, *ids;
    if (argc < 4)
        fail("usage: libllama MODEL IDS NUMBER [OPTION...]");
    signal(SIGPIPE, SIG_IGN);
    const char *const libraries = getenv("GGML_BACKENDS"); // the folder of ggml's CPU backends, if they are files
    if (libraries)
        ggml_backend_load_all_from_path(libraries);
    struct llama_model *const model = llama_model_load_from_file(argv[1], llama_model_default_params());
    struct llama_context_params parameters = llama_context_default_params();
    parameters.n_ctx = CONTEXT;
    struct llama_context *const context = model ? llama_init_from_model(model, parameters) : NULL;
    if (!context)
        fail("cannot load the model");
    const struct llama_vocab *const vocab = llama_model_get_vocab(model);
    const int n = llama_vocab_n_tokens(vocab);
    start_sampl(n, argv[2], argv + 4, &rows, &ids);
    struct llama_batch batch = llama_batch_get_one(prompt, read_ids(argv[2], prompt));
    for (int i = 0; i < atoi(argv[3]); i++) {
        if (llama_decode(context, batch))
            fail("llama.cpp cannot decode");
        fwrite(llama_get_logits_ith(context, -1), sizeof(float), (size_t)n, rows);
        if (fflush(rows) || fscanf(ids, "%d", &token) != 1)
            fail("sampl has ended");
        printf("%d\n", (int)token);
        if (llama_vocab_is_eog(vocab, token))
            break;
        batch = llama_batch_get_one(&token, 1);
    }
    int status;
    fclose(rows);
    wait(&status);
    llama_free(context);
    llama_model_free(model);
    return status != 0;
}
