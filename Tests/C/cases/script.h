/* script.h: reads case files: lines of words, nested by indentation. Tests/Cases/README.md describes the format.
 * Results live until `script_free`. */
#ifndef INVIVO_TESTS_SCRIPT_H
#define INVIVO_TESTS_SCRIPT_H

#include "../check.h"

#include <ctype.h>

typedef struct part part;
/* A word: text, "quoted text", or call(items, ...); optionally with a label: label=word. */
struct part {
    const char *label, *text;
    bool quoted, call;
    part *items;
    size_t count;
};

typedef struct line line;
struct line {
    int number;
    const char *result; /* of "result = statement"; NULL if there is none */
    part *words;
    size_t count;
    const char *raw;    /* of "| text": the text; else NULL */
    line **below;
    size_t below_count;
};

typedef struct script {
    const char *path;
    line top; /* only `below` */
} script;

/* ---- memory -------------------------------------------------------------------------------------------- */

typedef struct script_piece { struct script_piece *next; } script_piece;
static script_piece *script_pieces;

static inline void *script_memory(size_t size) {
    script_piece *made = calloc(1, sizeof(script_piece) + size);
    if (!made) abort();
    made->next = script_pieces;
    script_pieces = made;
    return made + 1;
}
static inline void script_free(void) {
    while (script_pieces) {
        script_piece *next = script_pieces->next;
        free(script_pieces);
        script_pieces = next;
    }
}
static inline char *script_text(const char *data, size_t length) {
    char *made = script_memory(length + 1);
    memcpy(made, data, length);
    return made;
}
/* Adds an element to a table of `count`: a copy with one more. */
static inline void *script_more(const void *table, size_t count, size_t size) {
    void *made = script_memory((count + 1) * size);
    if (count) memcpy(made, table, count * size);
    return made;
}

/* ---- words --------------------------------------------------------------------------------------------- */

static const char *script_path;
static int script_number;

static inline void script_wrong(const char *what, const char *at) {
    fprintf(stderr, "%s:%d: %s: %s\n", script_path, script_number, what, at);
    exit(2);
}

static inline bool script_ends(char letter) { return !letter || strchr(" \t(),\"=", letter) != NULL; }

static inline const char *script_part(const char *at, part *out) {
    const char *start = at;
    memset(out, 0, sizeof *out);
    if (*at != '"') {
        while (!script_ends(*at)) at++;
        if (at == start) script_wrong("a word is wanted", start);
        if (*at == '=' && at[1] && at[1] != ' ') {
            const char *label = script_text(start, (size_t)(at - start));
            at = script_part(at + 1, out);
            out->label = label;
            return at;
        }
        out->text = script_text(start, (size_t)(at - start));
        if (*at != '(') return at;
        out->call = true;
        for (at++; *at == ' '; at++) {}
        while (*at != ')') {
            part item;
            at = script_part(at, &item);
            out->items = script_more(out->items, out->count, sizeof item);
            out->items[out->count++] = item;
            while (*at == ' ') at++;
            if (*at == ',') for (at++; *at == ' '; at++) {}
            else if (*at != ')') script_wrong("',' or ')' is wanted", at);
        }
        return at + 1;
    }
    size_t length = 0;
    char *text = script_memory(strlen(at));
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1]) at++, text[length++] = *at == 'n' ? '\n' : *at;
        else text[length++] = *at;
    }
    if (*at != '"') script_wrong("a quoted text ends on its line", start);
    out->text = text, out->quoted = true;
    return at + 1;
}

static inline line *script_line(const char *at) {
    line *made = script_memory(sizeof *made);
    made->number = script_number;
    if (*at == '|') {
        made->raw = script_text(at + (at[1] == ' ' ? 2 : 1), strlen(at + (at[1] == ' ' ? 2 : 1)));
        return made;
    }
    while (*at && *at != '#') {
        part word;
        if (*at == '=' && made->count == 1 && !made->result) {
            made->result = made->words[0].text, made->count = 0, at++;
        } else {
            at = script_part(at, &word);
            made->words = script_more(made->words, made->count, sizeof word);
            made->words[made->count++] = word;
        }
        if (*at && *at != ' ') script_wrong("a space is wanted", at);
        while (*at == ' ') at++;
    }
    return made;
}

/* ---- files --------------------------------------------------------------------------------------------- */

enum { SCRIPT_DEPTH = 16 };

static inline script script_read(const char *path) {
    script made = {.path = path};
    line *above[SCRIPT_DEPTH] = {NULL};
    char text[4096];
    FILE *file = fopen(path, "r");
    script_path = path, script_number = 0;
    if (!file) script_wrong("cannot be read", strerror(errno));
    above[0] = &made.top;
    while (fgets(text, sizeof text, file)) {
        size_t length = strcspn(text, "\r\n"), indent = strspn(text, " ");
        text[length] = 0, script_number++;
        if (indent == length || text[indent] == '#') continue;
        if (indent % 4 || indent / 4 >= SCRIPT_DEPTH - 1 || !above[indent / 4]) script_wrong("lines are indented by four spaces", text);
        line *holder = above[indent / 4], *next = script_line(text + indent);
        holder->below = script_more(holder->below, holder->below_count, sizeof next);
        holder->below[holder->below_count++] = next;
        above[indent / 4 + 1] = next;
        if (indent / 4 + 2 < SCRIPT_DEPTH) above[indent / 4 + 2] = NULL;
    }
    fclose(file);
    return made;
}

/* The lines "| text" below a line, joined. */
static inline const char *script_raw(const line *line) {
    size_t length = 1;
    for (size_t i = 0; i < line->below_count; i++) if (line->below[i]->raw) length += strlen(line->below[i]->raw) + 1;
    char *text = script_memory(length);
    for (size_t i = 0; i < line->below_count; i++) if (line->below[i]->raw) strcat(strcat(text, line->below[i]->raw), "\n");
    return text;
}

static inline bool script_is(const line *line, const char *verb) {
    return line->count > 0 && !line->words[0].quoted && !strcmp(line->words[0].text, verb);
}
/* The word with a label, or NULL. */
static inline const part *script_labelled(const line *line, const char *label) {
    for (size_t i = 0; i < line->count; i++) if (line->words[i].label && !strcmp(line->words[i].label, label)) return &line->words[i];
    return NULL;
}
static inline bool script_says(const line *line, size_t from, const char *word) {
    for (size_t i = from; i < line->count; i++) if (!line->words[i].label && !strcmp(line->words[i].text, word)) return true;
    return false;
}

#endif
