// SPDX-License-Identifier: MIT
// Replies that come in parts: which stream a part belongs to, what it repeats, and whether another follows.
#ifndef SAMPL_IN_REPLY_STREAM_H
#define SAMPL_IN_REPLY_STREAM_H

#include "in/reply_position.h"

// A part of a message in a stream of OpenAI's responses, and how many of its positions the stream has sent.
struct response_part {
    double output, content; // its indexes
    size_t n;
};

// Returns true if a reply without "data:" names itself a part of a stream. Chat completions do so in "object". An older
// completion is a part if it has no "finish_reason" yet, or the id of the stream before it. So is a reply of Gemini.
bool reply_is_chunk(const struct json_reply *reply, const cJSON *root);

// Notes the stream that a reply belongs to, if it is a chunk. If that is not the stream of the last reply, ends that
// one. Returns false if memory is short.
bool reply_note_stream(struct json_reply *reply, const cJSON *root, bool chunk);

// Returns true if the next reply continues the sequence of this one.
bool reply_goes_on(const struct reply_shape *kind, const cJSON *root, bool part);

// Fails with STATUS_DATA if a part of a stream belongs to a second choice or prompt, since such parts come in any
// order; or if it repeats what earlier parts sent, as SGLang's do.
bool reply_check_part(const struct json_reply *reply, const struct reply_shape *kind, const cJSON *root, struct err *e);

// Returns whether the value is an event of a stream of OpenAI's responses, or transcriptions.
bool reply_is_event(const cJSON *root);

// Adds the positions of such an event that no earlier event has sent. Events of types without positions give none.
bool reply_add_event(struct json_reply *reply, const cJSON *root, struct reply_position *p, struct err *e);

#endif
